"""Administration of sandboxes: their template, and the removal of old ones."""

from datetime import datetime
from uuid import UUID

import orjson
import psycopg
from psycopg.sql import SQL, Identifier

from persistence.database.rights import SEE_EVERY_BUSINESS
from persistence.engine.pool import Pool
from persistence.engine.tenants import WRITES_EVENTS
from persistence.engine.topology import CLOSE_GATE
from persistence.tables import audit_record, audit_seal, metadata

_ANNOUNCE = (
    "SELECT set_config('app.caller', jsonb_build_object('action', 'prepare_sandboxes')::text, true)"
)
_MAKE_TEMPLATE = """
UPDATE business SET sandbox = 'template', version = version + 1
WHERE id = %s AND sandbox IS NULL
"""
_KNOWN_AS = "SELECT id FROM business WHERE partner_id = %s AND external_id = %s"
# Businesses that are no longer needed: sandboxes that were reset, those older than the operator's
# limit, and all templates but the newest.
_THROWN_AWAY = """
SELECT id FROM business WHERE sandbox = 'given_up' OR sandbox = 'open' AND created_at < %s
UNION ALL
(SELECT id FROM business WHERE sandbox = 'template' ORDER BY created_at DESC OFFSET 1)
"""
_HOLD = "SELECT partner_id FROM business WHERE id = %s AND sandbox IS NOT NULL FOR UPDATE"
# The newest placement of a partner stays, whatever its business: the next one counts on from it.
_DELETE_PLACEMENTS = """
DELETE FROM event_placement WHERE partner_id = %(partner_id)s AND business_id = %(business_id)s
  AND position < (SELECT max(position) FROM event_placement WHERE partner_id = %(partner_id)s)
"""
# The feed is deleted with the business, so triggers write no events of the deletions.
_WRITE_NO_EVENTS = "SELECT set_config('app.caller', %s, true)"
_OF_BUSINESS = tuple(
    table
    for table in reversed(metadata.sorted_tables)
    if table.info.get("tenant") and table not in (audit_record, audit_seal)
)


async def make_template(pool: Pool, business_id: UUID) -> None:
    """Make a business the template from which new sandboxes are copied."""
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_ANNOUNCE)
        await connection.execute(_MAKE_TEMPLATE, (business_id,))
        await connection.execute("SELECT audit_business(%s)", (business_id,))


async def known_as(pool: Pool, partner_id: UUID, external_id: str) -> UUID | None:
    """Find a business by its external id, which a sandbox keeps when it is reset; None if none."""
    async with pool.connection() as connection:
        found = await connection.execute(_KNOWN_AS, (partner_id, external_id))
        row = await found.fetchone()
        return row["id"] if row else None


def thrown_away(owner: psycopg.Connection, made_before: datetime) -> list[UUID]:
    """List given-up sandboxes, open ones made before a time, and all templates but the newest."""
    return [id_ for (id_,) in owner.execute(_THROWN_AWAY, (made_before,)).fetchall()]


def take_away(owner: psycopg.Connection, business_id: UUID) -> None:
    """Delete a sandbox with all its rows, in one transaction.

    It needs the owner of the schema, since the server may not delete posted lines. It waits for a
    copy of a template to end. The audit trail is deleted last, because the other deletions write
    records to it.
    """
    with owner.transaction():
        owner.execute(SEE_EVERY_BUSINESS)
        owner.execute(_WRITE_NO_EVENTS, (orjson.dumps(WRITES_EVENTS).decode(),))
        owner.execute(CLOSE_GATE, {"business_id": business_id})  # Waits for open writes.
        held = owner.execute(_HOLD, (business_id,)).fetchone()
        if held is None:
            return
        for table in _OF_BUSINESS:
            _delete(owner, table.name, "business_id", business_id)
        owner.execute(_DELETE_PLACEMENTS, {"partner_id": held[0], "business_id": business_id})
        _delete(owner, "business", "id", business_id)
        for table in (audit_seal, audit_record):
            _delete(owner, table.name, "business_id", business_id)


def _delete(owner: psycopg.Connection, table: str, column: str, business_id: UUID) -> None:
    owner.execute(
        SQL("DELETE FROM {} WHERE {} = %s").format(Identifier(table), Identifier(column)),
        (business_id,),
    )
