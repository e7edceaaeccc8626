"""Manual journal entries and their drafts."""

from persistence.migrations.texts import run_texts

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    run_texts(__file__, "0006_manual_entries.sql")
