"""Digests of the lines of entries by hand, and of stored answers."""

from persistence.migrations.texts import run_texts

revision = "0043"
down_revision = "0042"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0043_digests_of_texts.sql")
