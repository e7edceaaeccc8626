"""Monthly sums by tax code, in addition to those by account.

Servers of the previous release keep them as well, since they call the same function.
"""

from persistence.migrations.texts import run_for_each_business, run_texts, spread_new_tables

revision = "0031"
down_revision = "0030"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0031_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0031_tax_months.sql")
    run_for_each_business(__file__, "0031_months_of_before.sql")
