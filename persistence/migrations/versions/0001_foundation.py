"""The first release: from partners to invoices and their payments."""

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    for part in ("0001_tables.sql", "0001_guards.sql"):
        # The driver is asked directly: the texts hold percent signs and colons of their own.
        op.get_bind().exec_driver_sql(Path(__file__).with_name(part).read_text().replace("%", "%%"))
