"""Stored documents: the records of files."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0003_stored_documents.sql")
