"""Bank accounts and the lines of their statements."""

from persistence.migrations.texts import run_texts

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    run_texts(__file__, "0005_bank.sql")
