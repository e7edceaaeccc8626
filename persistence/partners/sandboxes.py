"""Sandboxes as an operator looks after them: their template, and those that are thrown away."""

from datetime import datetime
from uuid import UUID

import psycopg
from psycopg.sql import SQL, Identifier

from persistence.database.row_security import SEE_EVERY_BUSINESS
from persistence.engine.machines import CLOSE_GATE
from persistence.engine.pool import Pool
from persistence.tables import audit_record, audit_seal, metadata

_ANNOUNCE = (
    "SELECT set_config('app.caller', jsonb_build_object('action', 'prepare_sandboxes')::text, true)"
)
_MAKE_TEMPLATE = """
UPDATE business SET sandbox = 'template', version = version + 1
WHERE id = %s AND sandbox IS NULL
"""
_KNOWN_AS = "SELECT id FROM business WHERE partner_id = %s AND external_id = %s"
# What nobody will ask for again: sandboxes in whose place another one stands, those that are older
# than an operator keeps them, and the templates before the newest one.
_THROWN_AWAY = """
SELECT id FROM business WHERE sandbox = 'given_up' OR sandbox = 'open' AND created_at < %s
UNION ALL
(SELECT id FROM business WHERE sandbox = 'template' ORDER BY created_at DESC OFFSET 1)
"""
_HOLD = "SELECT id FROM business WHERE id = %s AND sandbox IS NOT NULL FOR UPDATE"
_OF_BUSINESS = tuple(
    table
    for table in reversed(metadata.sorted_tables)
    if table.info.get("tenant") and table not in (audit_record, audit_seal)
)


async def make_template(pool: Pool, business_id: UUID) -> None:
    """Let sandboxes be copied from the books of a business from now on."""
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_ANNOUNCE)
        await connection.execute(_MAKE_TEMPLATE, (business_id,))
        await connection.execute("SELECT audit_business(%s)", (business_id,))


async def known_as(pool: Pool, partner_id: UUID, external_id: str) -> UUID | None:
    """Find a sandbox, or any business, by the name that it hands on when it is reset."""
    async with pool.connection() as connection:
        found = await connection.execute(_KNOWN_AS, (partner_id, external_id))
        row = await found.fetchone()
        return row["id"] if row else None


def thrown_away(owner: psycopg.Connection, made_before: datetime) -> list[UUID]:
    """List the sandboxes that nobody asks for, and those that were made before a moment."""
    return [id_ for (id_,) in owner.execute(_THROWN_AWAY, (made_before,)).fetchall()]


def take_away(owner: psycopg.Connection, business_id: UUID) -> None:
    """Delete a sandbox with all that is in its books, in one transaction.

    The server cannot: posted lines stay where they are. Whoever copies it has done so before, and
    the last of it is what the trail has of it.
    """
    with owner.transaction():
        owner.execute(SEE_EVERY_BUSINESS)
        owner.execute(CLOSE_GATE, {"business_id": business_id})  # Somebody may write to it still.
        if owner.execute(_HOLD, (business_id,)).fetchone() is None:
            return
        for table in _OF_BUSINESS:
            _delete(owner, table.name, "business_id", business_id)
        _delete(owner, "business", "id", business_id)
        for table in (audit_seal, audit_record):
            _delete(owner, table.name, "business_id", business_id)


def _delete(owner: psycopg.Connection, table: str, column: str, business_id: UUID) -> None:
    owner.execute(
        SQL("DELETE FROM {} WHERE {} = %s").format(Identifier(table), Identifier(column)),
        (business_id,),
    )
