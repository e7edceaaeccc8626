"""The bank account that a payment, a refund, a refund payment or a payout names."""

from persistence.migrations.texts import run_texts

revision = "0044"
down_revision = "0043"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0044_bank_accounts_of_money.sql")
