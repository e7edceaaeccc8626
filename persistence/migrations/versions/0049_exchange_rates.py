"""Exchange rates: a table for each day, of a partner or of one business."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0049"
down_revision = "0048"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0049_exchange_rates.sql")
    spread_new_tables()
