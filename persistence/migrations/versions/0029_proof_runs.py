"""Stored results of `accounting check-books`, for monitoring."""

from persistence.migrations.texts import run_texts

revision = "0029"
down_revision = "0028"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0029_proof_runs.sql")
