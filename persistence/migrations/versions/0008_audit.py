"""The audit trail."""

from persistence.migrations.texts import run_texts

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    run_texts(__file__, "0008_audit.sql")
