"""Lines in parts, transfers, bank rules, and statements that are reconciled."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_texts(__file__, "0021_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0021_bank.sql")
    spread_new_tables()  # Functions of triggers need a setting where tables are spread.
