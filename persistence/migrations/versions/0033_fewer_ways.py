"""On many machines a posting goes fewer ways to where its business lies."""

from persistence.migrations.texts import run_texts

revision = "0033"
down_revision = "0032"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0033_fewer_ways.sql")
