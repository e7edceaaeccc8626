"""On many machines a posting takes fewer round trips to the one of its business."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0033"
down_revision = "0032"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0033_fewer_round_trips.sql")
    # A function that is replaced has lost what lets it read on the machine of its row, and others
    # post meanwhile: that comes back in the same transaction.
    spread_new_tables()
