"""Posted lines by tag, so that reports can filter by it."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0025"
down_revision = "0024"


def upgrade() -> None:
    run_texts(__file__, "0025_tags.sql")
    spread_new_tables()
    run_texts(__file__, "0025_tags_within.sql")
