"""Functions instead of sub-selects, which distributed tables do not support."""

from persistence.migrations.texts import run_texts

revision = "0013"
down_revision = "0012"


def upgrade() -> None:
    run_texts(__file__, "0013_taken_numbers.sql")
