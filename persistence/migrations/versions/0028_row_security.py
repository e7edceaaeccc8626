"""Row security between partners, and the progress of upkeep."""

from persistence.migrations.texts import run_texts

revision = "0028"
down_revision = "0027"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0028_upkeep.sql", "0028_row_security.sql")
