"""Amounts in foreign currencies: what records are worth in base, and the currency of lines."""

from persistence.migrations.texts import run_beside_writers, run_texts

revision = "0050"
down_revision = "0049"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0050_foreign_amounts.sql")
    run_beside_writers(__file__, "0050_foreign_indexes.sql")
