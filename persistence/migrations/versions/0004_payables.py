"""What a business owes: vendors, bills, bill payments and vendor credits."""

from alembic import op

from persistence.migrations.texts import run_texts

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    run_texts(__file__, "0004_tables.sql", "0004_guards.sql")
