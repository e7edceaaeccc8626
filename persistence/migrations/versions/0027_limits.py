"""Revocation of single tokens, and request counts shared by all workers."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0027"
down_revision = "0026"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0027_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0027_limits.sql")
