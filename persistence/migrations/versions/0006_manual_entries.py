"""Entries written by hand: drafts, and what becomes of them."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0006_manual_entries.sql")
