"""Documents of payments, bank transactions and journal entries, and tags of their lines."""

from persistence.migrations.texts import run_texts

revision = "0042"
down_revision = "0041"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0042_receipts.sql")
