"""Columns and indexes of lists: derived statuses, and an index for each sort order."""

from persistence.migrations.texts import run_texts

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    run_texts(__file__, "0012_lists.sql")
