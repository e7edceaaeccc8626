"""Monthly balances, so that the chart of accounts need not sum every line."""

from persistence.migrations.texts import run_texts

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    run_texts(__file__, "0007_balances.sql")
