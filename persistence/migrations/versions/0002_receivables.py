"""What a business gives up and gives back: write-offs, customer credits and invoice refunds."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0002_tables.sql", "0002_guards.sql")
