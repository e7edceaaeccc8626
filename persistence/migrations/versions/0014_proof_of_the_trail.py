"""The audit trail proves itself: digests of named columns, of each record, and seals."""

from persistence.migrations.texts import run_texts

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_texts(__file__, "0014_digests.sql", "0014_seals.sql", "0014_first_records.sql")
