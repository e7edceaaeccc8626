"""Balances by month, so that a chart need not add up every line."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0007_balances.sql")
