"""The time zone of a business, and the days of moments that post, which never move."""

from persistence.migrations.texts import run_texts

revision = "0039"
down_revision = "0038"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0039_time_zones.sql")
