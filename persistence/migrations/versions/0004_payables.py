"""Accounts payable: vendors, bills, bill payments and vendor credits."""

from persistence.migrations.texts import run_texts

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    run_texts(__file__, "0004_tables.sql", "0004_guards.sql")
