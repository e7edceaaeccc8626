"""Webhook endpoints of partners, their secrets and deliveries, and the order of their events."""

from persistence.migrations.texts import run_texts

revision = "0048"
down_revision = "0047"
serves_from = "0026"


def upgrade() -> None:
    run_texts(__file__, "0048_tables.sql", "0048_webhooks.sql")
