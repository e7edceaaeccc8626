"""Administration of partners, API keys and tokens by an operator."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from access.tokens import valid_from_after
from accounting.errors import Conflict, NotFound, ValidationError
from persistence.engine.ids import new_id
from persistence.engine.pipeline import Connection
from persistence.engine.pool import Pool
from persistence.engine.sql import Row

MOST_ACTIVE_KEYS = 2


_ANNOUNCE = "SELECT set_config('app.caller', jsonb_build_object('action', %s::text)::text, true)"
# Triggers write the audit records on a single node. On a cluster, where the tables are copied to
# each node, this call does.
_AUDIT = "SELECT audit_partner(%s)"
_LINES = """
SELECT p.id, p.name, p.created_at, p.disabled_at, p.tokens_valid_from,
       array_remove(array_agg(k.key_id ORDER BY k.created_at, k.id), NULL) AS active_keys
FROM partner p LEFT JOIN api_key k ON k.partner_id = p.id AND k.revoked_at IS NULL
WHERE p.id = coalesce(%s, p.id)
GROUP BY p.id ORDER BY p.created_at, p.id
"""


_BUSINESS = "SELECT id, name, tokens_valid_from FROM business WHERE id = %s"
_REVOKE_BUSINESS = """
UPDATE business SET tokens_valid_from = %s, version = version + 1 WHERE id = %s
"""


@dataclass(frozen=True, slots=True)
class BusinessLine:
    """A business as shown to an operator."""

    id: UUID
    name: str
    tokens_valid_from: datetime


@dataclass(frozen=True, slots=True)
class PartnerLine:
    """A partner in the operator's list, with its active keys, oldest first."""

    id: UUID
    name: str
    created_at: datetime
    disabled_at: datetime | None
    tokens_valid_from: datetime
    active_keys: tuple[str, ...]


async def create_partner(pool: Pool, name: str, key_id: str, digest: bytes, now: datetime) -> UUID:
    """Create a partner with its first API key and return its id.

    Raises ValidationError `partner_name_unreadable` if the name is blank or not printable.
    """
    if not name.strip() or not name.isprintable():
        raise ValidationError(
            "partner_name_unreadable", "The name of a partner is one line of text, and not blank."
        )
    partner_id = new_id()
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_ANNOUNCE, ("create_partner",))
        await connection.execute(
            "INSERT INTO partner (id, name, created_at, tokens_valid_from) VALUES (%s, %s, %s, %s)",
            (partner_id, name.strip(), now, now.replace(microsecond=0)),
        )
        await _insert_key(connection, partner_id, key_id, digest, now)
        await connection.execute(_AUDIT, (partner_id,))
    return partner_id


async def list_partners(pool: Pool) -> list[PartnerLine]:
    """Return every partner, oldest first."""
    async with pool.connection() as connection:
        return await _lines(connection, None)


async def find_partner(pool: Pool, partner_id: UUID) -> PartnerLine:
    """Return one partner; raises NotFound."""
    async with pool.connection() as connection:
        return await _line(connection, partner_id)


async def knows_partner(pool: Pool, partner_id: UUID) -> bool:
    """Return whether a partner exists, at any revision of the schema."""
    return await _finds(pool, "SELECT FROM partner WHERE id = %s", partner_id)


async def knows_key(pool: Pool, partner_id: UUID | None, key_id: str) -> bool:
    """Return whether a partner has or had an API key, at any revision of the schema."""
    text = "SELECT FROM api_key WHERE partner_id = %s AND key_id = %s"
    return await _finds(pool, text, partner_id, key_id)


async def knows_business(pool: Pool, business_id: UUID) -> bool:
    """Return whether a business exists, at any revision of the schema."""
    return await _finds(pool, "SELECT FROM business WHERE id = %s", business_id)


async def _finds(pool: Pool, text: str, *values: UUID | str | None) -> bool:
    async with pool.connection() as connection:
        return await (await connection.execute(text, values)).fetchone() is not None


async def add_key(
    pool: Pool, partner_id: UUID, key_id: str, digest: bytes, now: datetime
) -> list[str]:
    """Add a key to a partner and return the ids of all its active keys, oldest first.

    Raises Conflict `too_many_api_keys` if two keys are active already.
    """
    async with _changing(pool, partner_id, "add_key") as connection:
        active = await _active_keys(connection, partner_id)
        if len(active) >= MOST_ACTIVE_KEYS:
            raise Conflict(
                "too_many_api_keys",
                f"Two keys are active already ({', '.join(active)}). Revoke one first.",
            )
        await _insert_key(connection, partner_id, key_id, digest, now)
    return [*active, key_id]


async def revoke_key(pool: Pool, partner_id: UUID, key_id: str, now: datetime) -> PartnerLine:
    """Revoke one key, and every token issued to the partner so far; raises NotFound."""
    async with _changing(pool, partner_id, "revoke_key") as connection:
        cursor = await connection.execute(
            "UPDATE api_key SET revoked_at = coalesce(revoked_at, %s)"
            " WHERE partner_id = %s AND key_id = %s",
            (now, partner_id, key_id),
        )
        if not cursor.rowcount:
            raise NotFound("api_key_not_found", "This partner has no such key.")
        await _refuse_older_tokens(connection, partner_id, now)
        return await _line(connection, partner_id)


async def revoke_tokens(pool: Pool, partner_id: UUID, now: datetime) -> PartnerLine:
    """Revoke every token issued to the partner so far; raises NotFound."""
    async with _changing(pool, partner_id, "revoke_tokens") as connection:
        await _refuse_older_tokens(connection, partner_id, now)
        return await _line(connection, partner_id)


async def revoke_business_tokens(pool: Pool, business_id: UUID, now: datetime) -> BusinessLine:
    """Revoke every token issued for one business so far; raises NotFound."""
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_ANNOUNCE, ("revoke_business_tokens",))
        found = await _business(connection, f"{_BUSINESS} FOR NO KEY UPDATE", business_id)
        valid_from = valid_from_after(now, found.tokens_valid_from)
        await connection.execute(_REVOKE_BUSINESS, (valid_from, business_id))
        await connection.execute("SELECT audit_business(%s)", (business_id,))
        return replace(found, tokens_valid_from=valid_from)


async def find_business(pool: Pool, business_id: UUID) -> BusinessLine:
    """Return one business; raises NotFound."""
    async with pool.connection() as connection:
        return await _business(connection, _BUSINESS, business_id)


async def disable_partner(pool: Pool, partner_id: UUID, now: datetime) -> PartnerLine:
    """Disable the partner's keys and tokens; raises NotFound."""
    async with _changing(pool, partner_id, "disable_partner") as connection:
        await connection.execute(
            "UPDATE partner SET disabled_at = coalesce(disabled_at, %s) WHERE id = %s",
            (now, partner_id),
        )
        return await _line(connection, partner_id)


async def enable_partner(pool: Pool, partner_id: UUID, now: datetime) -> PartnerLine:
    """Enable the partner's keys again; tokens issued so far stay revoked. Raises NotFound."""
    async with _changing(pool, partner_id, "enable_partner") as connection:
        await connection.execute(
            "UPDATE partner SET disabled_at = NULL WHERE id = %s", (partner_id,)
        )
        await _refuse_older_tokens(connection, partner_id, now)
        return await _line(connection, partner_id)


@asynccontextmanager
async def _changing(pool: Pool, partner_id: UUID, action: str) -> AsyncIterator[Connection]:
    """Open a transaction that locks the partner and audits the change; raises NotFound.

    `action` is its name in the audit trail.
    """
    async with pool.connection() as connection, connection.transaction():
        await connection.execute(_ANNOUNCE, (action,))
        await _lock_partner(connection, partner_id)
        yield connection
        await connection.execute(_AUDIT, (partner_id,))


async def _lines(connection: Connection, partner_id: UUID | None) -> list[PartnerLine]:
    rows = await (await connection.execute(_LINES, (partner_id,))).fetchall()
    return [PartnerLine(**{**row, "active_keys": tuple(row["active_keys"])}) for row in rows]


async def _line(connection: Connection, partner_id: UUID) -> PartnerLine:
    found = await _lines(connection, partner_id)
    if not found:
        raise _no_such_partner()
    return found[0]


async def _lock_partner(connection: Connection, partner_id: UUID) -> None:
    cursor = await connection.execute(
        "SELECT id FROM partner WHERE id = %s FOR NO KEY UPDATE", (partner_id,)
    )
    if await cursor.fetchone() is None:
        raise _no_such_partner()


async def _business(connection: Connection, text: str, business_id: UUID) -> BusinessLine:
    cursor = await connection.execute(text, (business_id,))
    found = await cursor.fetchone()
    if found is None:
        raise NotFound("business_not_found", "There is no such business.")
    return BusinessLine(**found)


def _no_such_partner() -> NotFound:
    return NotFound("partner_not_found", "There is no such partner.")


async def _active_keys(connection: Connection, partner_id: UUID) -> list[str]:
    cursor = await connection.execute(
        "SELECT key_id FROM api_key WHERE partner_id = %s AND revoked_at IS NULL"
        " ORDER BY created_at, id",
        (partner_id,),
    )
    rows: list[Row] = await cursor.fetchall()
    return [row["key_id"] for row in rows]


async def _insert_key(
    connection: Connection, partner_id: UUID, key_id: str, digest: bytes, now: datetime
) -> None:
    await connection.execute(
        "INSERT INTO api_key (id, partner_id, key_id, digest, created_at)"
        " VALUES (%s, %s, %s, %s, %s)",
        (new_id(), partner_id, key_id, digest, now),
    )


async def _refuse_older_tokens(connection: Connection, partner_id: UUID, now: datetime) -> None:
    found = await _line(connection, partner_id)
    valid_from = valid_from_after(now, found.tokens_valid_from)
    await connection.execute(
        "UPDATE partner SET tokens_valid_from = %s WHERE id = %s", (valid_from, partner_id)
    )
