"""Opening balances, with the open documents of that day."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    run_texts(__file__, "0022_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0022_opening_balances.sql")
