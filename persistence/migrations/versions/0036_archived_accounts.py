"""An index of archived accounts."""

from persistence.migrations.texts import run_texts

revision = "0036"
down_revision = "0035"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0036_archived_accounts.sql")
