"""Bank transactions that are imported after the statement of their day was closed."""

from persistence.migrations.texts import run_texts

revision = "0041"
down_revision = "0040"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0041_after_closing.sql")
