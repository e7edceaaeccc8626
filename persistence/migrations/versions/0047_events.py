"""The feed of events of each business."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0047"
down_revision = "0046"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0047_events.sql")
    spread_new_tables()
