"""Books are opened on a day with what stood and what was open then."""

from persistence.migrations.texts import run_texts

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_texts(__file__, "0021_opening_balances.sql")
