"""The first release: from partners to invoices and their payments."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0001_tables.sql", "0001_guards.sql")
