"""The choice of a business to create or refuse the parties of unknown external ids."""

from persistence.migrations.texts import run_texts

revision = "0046"
down_revision = "0045"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0046_unknown_parties.sql")
