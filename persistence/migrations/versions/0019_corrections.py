"""Bills are written off, credits are paid out, payouts have other items, matches a tolerance."""

from persistence.migrations.texts import run_texts

revision = "0019"
down_revision = "0017"


def upgrade() -> None:
    run_texts(__file__, "0019_corrections.sql", "0019_accounts.sql")
