"""Each stored reply has the operation of its idempotency key."""

from persistence.migrations.texts import run_texts

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    run_texts(__file__, "0016_operations_of_replies.sql")
