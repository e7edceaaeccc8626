"""Tax returns, and marks of posted lines that are whole."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_texts(__file__, "0020_tax_returns.sql")
    spread_new_tables()
    run_texts(__file__, "0020_returns_within.sql")
