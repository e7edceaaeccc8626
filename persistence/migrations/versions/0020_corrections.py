"""Bill write-offs, paid-out credits, other items of payouts, and a matching tolerance."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0020"
down_revision = "0019"


def upgrade() -> None:
    run_texts(__file__, "0020_bill_write_offs.sql")
    spread_new_tables()
    run_texts(__file__, "0020_corrections.sql", "0020_accounts.sql")
