"""Entries written by hand: drafts, and what becomes of them."""

from persistence.migrations.texts import run_texts

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_texts(__file__, "0006_manual_entries.sql")
