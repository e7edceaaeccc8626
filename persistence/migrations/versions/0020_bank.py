"""Lines in parts, transfers, bank rules, and statements that are reconciled."""

from persistence.migrations.texts import run_texts

revision = "0020"
down_revision = "0017"


def upgrade() -> None:
    run_texts(__file__, "0020_bank.sql")
