"""Amounts in foreign currencies: what records are worth in base, and the currency of lines."""

from persistence.migrations.texts import (
    run_beside_writers,
    run_for_each_business,
    run_texts,
    spread_new_tables,
)

revision = "0050"
down_revision = "0049"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0050_foreign_amounts.sql", "0050_foreign_money.sql")
    run_texts(__file__, "0050_revaluations.sql")
    spread_new_tables()
    run_beside_writers(__file__, "0050_foreign_indexes.sql")
    run_for_each_business(__file__, "0050_unrealised_exchange.sql")
