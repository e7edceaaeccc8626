"""Bank lines in parts, transfers, bank rules and reconciled statements."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0021"
down_revision = "0020"


def upgrade() -> None:
    run_texts(__file__, "0021_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0021_bank.sql")
    spread_new_tables()  # Trigger functions need a setting on a cluster.
