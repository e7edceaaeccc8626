"""Unused indexes are dropped, and two become narrower."""

from persistence.migrations.texts import run_beside_writers, run_texts

revision = "0030"
down_revision = "0029"
serves_from = "0026"


def upgrade() -> None:
    run_beside_writers(__file__, "0030_narrow_indexes.sql")
    run_texts(__file__, "0030_wide_indexes.sql")
