"""Stored documents: the records of files."""

from persistence.migrations.texts import run_texts

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    run_texts(__file__, "0003_stored_documents.sql")
