"""Triggers that keep entries balanced and complete, on a single node and on a cluster."""

from persistence.migrations.texts import run_texts

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    run_texts(__file__, "0011_entries.sql")
