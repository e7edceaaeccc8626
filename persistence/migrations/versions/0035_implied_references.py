"""Foreign keys to the business are dropped if another reference implies them."""

from persistence.migrations.texts import run_texts

revision = "0035"
down_revision = "0034"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0035_implied_references.sql")
