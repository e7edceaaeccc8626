"""Matches of bank transactions with the return of money."""

from persistence.migrations.texts import run_beside_writers, run_texts

revision = "0038"
down_revision = "0037"
serves_from = "0026"


def upgrade() -> None:
    run_beside_writers(__file__, "0038_returned_indexes.sql")
    run_texts(__file__, "0038_returned_money.sql")
    run_beside_writers(__file__, "0038_returned_checks.sql")
