"""Verification of the audit trail: digests of rows and of records, and seals."""

from persistence.migrations.texts import run_texts

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    run_texts(__file__, "0014_digests.sql", "0014_seals.sql", "0014_first_records.sql")
