"""Bank accounts and the lines of their statements."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0005_bank.sql")
