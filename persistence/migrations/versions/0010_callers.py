"""One setting says who writes, row security without sub-selects, no trigger asks for its table."""

from persistence.migrations.texts import run_texts

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    run_texts(__file__, "0010_callers.sql")
