"""Sandboxes, which may have their own clock."""

from persistence.migrations.texts import run_texts

revision = "0017"
down_revision = "0016"


def upgrade() -> None:
    run_texts(__file__, "0017_sandboxes.sql")
