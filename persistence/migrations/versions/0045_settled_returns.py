"""Settlements of filed tax returns, which are no amounts without a tax code.

The account for VAT due is created when a business needs it first. Servers of the previous release
post no settlements, and call the same function.
"""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0045"
down_revision = "0044"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0045_settled_returns.sql")
    # As in 0033: replaced functions lose their settings for clusters.
    spread_new_tables()
