"""The first release: partners, businesses, the ledger, invoices and payments."""

from persistence.migrations.texts import run_texts

revision = "0001"
down_revision = None


def upgrade() -> None:
    run_texts(__file__, "0001_tables.sql", "0001_guards.sql")
