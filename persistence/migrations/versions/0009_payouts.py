"""Payouts of processors, and which bank line is which payment."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0009_payouts.sql")
