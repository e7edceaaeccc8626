"""Tax returns, and complete tax marks of posted lines."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    run_texts(__file__, "0023_tax_returns.sql")
    spread_new_tables()
    run_texts(__file__, "0023_returns_within.sql")
