"""Payouts of processors, and links between bank lines and payments."""

from persistence.migrations.texts import run_texts

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    run_texts(__file__, "0009_payouts.sql")
