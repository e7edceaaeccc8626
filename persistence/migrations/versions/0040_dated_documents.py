"""The delivery date of invoices and bills, and whether the issue date dates an invoice."""

from persistence.migrations.texts import run_texts

revision = "0040"
down_revision = "0039"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0040_dated_documents.sql")
