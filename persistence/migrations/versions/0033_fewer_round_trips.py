"""Fewer round trips for a posting on a cluster."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0033"
down_revision = "0032"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0033_fewer_round_trips.sql")
    # A replaced function loses the setting that allows it to read on the node of its row. Servers
    # post meanwhile, so the same transaction restores it.
    spread_new_tables()
