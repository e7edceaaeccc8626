"""Verification of the audit trail on distributed tables."""

from persistence.migrations.texts import run_texts

revision = "0015"
down_revision = "0014"


def upgrade() -> None:
    run_texts(__file__, "0015_trail_on_many_machines.sql")
