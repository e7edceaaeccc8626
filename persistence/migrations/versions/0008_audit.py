"""Who changed what, and when."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0008_audit.sql")
