"""${message}

Forward only. It must not hold a lock for long, and the release before it must still work while it
runs: expand first, contract in a later release.
"""

from alembic import op
import sqlalchemy as sa

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("SET LOCAL lock_timeout = '3s'")
    ${upgrades if upgrades else ""}
