"""Refunds from vendors name the target of each part that they post."""

from persistence.migrations.texts import run_texts

revision = "0032"
down_revision = "0031"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0032_refunds_by_target.sql")
