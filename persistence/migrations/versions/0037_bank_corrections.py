"""The right to delete bank transactions, which a correction of the bank removes."""

from persistence.migrations.texts import run_texts

revision = "0037"
down_revision = "0036"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0037_bank_corrections.sql")
