"""A single setting for the caller; row security and triggers that also work on a cluster."""

from persistence.migrations.texts import run_texts

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run_texts(__file__, "0010_callers.sql")
