"""Write-offs, customer credits and invoice refunds."""

from persistence.migrations.texts import run_texts

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    run_texts(__file__, "0002_tables.sql", "0002_guards.sql")
