"""Tax codes in documents, credits, refunds and write-offs."""

from persistence.migrations.texts import run_texts

revision = "0019"
down_revision = "0018"


def upgrade() -> None:
    run_texts(__file__, "0019_coded_documents.sql")
