"""Indexes that no plan uses go, and two become narrower."""

from persistence.migrations.texts import run_beside_writers, run_texts

revision = "0033"
down_revision = "0032"
serves_from = "0026"


def upgrade() -> None:
    run_beside_writers(__file__, "0033_narrow_indexes.sql")
    run_texts(__file__, "0033_wide_indexes.sql")
