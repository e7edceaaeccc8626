"""Cash flow categories of accounts, and an index of open documents."""

from persistence.migrations.texts import run_texts

revision = "0026"
down_revision = "0025"


def upgrade() -> None:
    run_texts(__file__, "0026_cash_flow.sql", "0026_open_documents.sql")
