"""Admission of callers, by one indexed read that is cached for a moment.

The cache decides only the order of answers (403 before 400). Each session makes the same check in
the statement of its first read, so every process refuses a revoked token or a disabled partner
immediately.
"""

from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Any
from uuid import UUID

from psycopg import InterfaceError, OperationalError

from access.principal import Caller, CallerKind
from accounting.errors import NotAllowed, NotAuthenticated
from persistence.engine.database_errors import unavailable
from persistence.engine.ids import known_id
from persistence.engine.pool import Pool
from persistence.engine.sql import Row

KEPT_SECONDS = 5.0
MOST_KEPT = 10_000
_NOBODY: Row = {"key_id": None, "digest": bytes(64), "partner_disabled_at": None}

# The newest ones only: a session refuses a revoked token that is not among them.
_REVOKED = """ARRAY(
         SELECT id FROM revoked_token WHERE partner_id = %(partner_id)s
         ORDER BY expires_at DESC LIMIT 1000
       ) AS revoked_tokens"""
_PARTNER = f"""
SELECT disabled_at AS partner_disabled_at, tokens_valid_from AS partner_tokens_valid_from,
       {_REVOKED}
FROM partner WHERE id = %(partner_id)s
"""
_BUSINESS = f"""
SELECT p.disabled_at AS partner_disabled_at, p.tokens_valid_from AS partner_tokens_valid_from,
       b.tokens_valid_from,
       {_REVOKED}
FROM business b JOIN partner p ON p.id = b.partner_id
WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s
"""
_KEY = """
SELECT k.key_id, k.digest, p.disabled_at AS partner_disabled_at
FROM api_key k JOIN partner p ON p.id = k.partner_id
WHERE k.partner_id = %(partner_id)s AND k.revoked_at IS NULL
"""


def refuse_unadmitted(row: Row | None, caller: Caller) -> None:
    """Check a caller against the row of its partner (and business).

    Raises NotAllowed where there is no such row, NotAuthenticated for a disabled partner, for a
    token older than its partner's or business's `tokens_valid_from`, and for a revoked token.
    """
    if row is None:
        raise not_yours()
    if row["partner_disabled_at"] is not None:
        raise NotAuthenticated("invalid_credentials", "These credentials are not valid.")
    if caller.issued_at is None:
        return
    limits = [row["partner_tokens_valid_from"]]
    of_business = row.get("tokens_valid_from")  # Null where the business is gone.
    if caller.business_id is not None and of_business is not None:
        limits.append(of_business)
    revoked = row.get("revoked_token") or caller.token_id in row.get("revoked_tokens", ())
    if caller.issued_at < max(limits) or revoked:
        raise NotAuthenticated("invalid_token", "This token was revoked. Get a new one.")


def not_yours() -> NotAllowed:
    """Return one error for every business that is not open to the caller, unknown ids included."""
    return NotAllowed("permission_denied", "These credentials do not open this business.")


@dataclass(slots=True)
class _KnownToken:
    row: Row | None
    until: float


class Admission:
    """The check of callers, with a cache that belongs to one process."""

    def __init__(self, pool: Pool, matches: Callable[[str, bytes], bool]) -> None:
        self._pool = pool
        self._matches = matches
        self._remembered: dict[tuple[UUID, UUID | None], _KnownToken] = {}

    async def check_key(self, partner_id: UUID, key: str) -> Caller:
        """Return the caller of a valid key; raise the same NotAuthenticated for everything else."""
        rows = await self._fetch(partner_id, _KEY, {"partner_id": partner_id})
        found = None
        # Every candidate is compared, or a dummy where there is none: the time reveals nothing.
        for row in rows or [_NOBODY]:
            same = self._matches(key, bytes(row["digest"]))
            if same and row["partner_disabled_at"] is None:
                found = row["key_id"]
        if found is None:
            raise NotAuthenticated("invalid_credentials", "The partner id or API key is wrong.")
        return Caller(CallerKind.PARTNER_KEY, partner_id, key_id=found)

    async def admit_partner(self, caller: Caller) -> None:
        """Check a caller above businesses; raise NotAuthenticated where it is not admitted."""
        await self._admit(caller, None)

    async def admit_to_business(self, caller: Caller, business_id: str) -> None:
        """Check a caller of a business; raise NotAllowed where the business is not the caller's."""
        await self._admit(caller, known_id(business_id))

    async def _admit(self, caller: Caller, business_id: UUID | None) -> None:
        name = (caller.partner_id, business_id)
        kept = self._remembered.get(name)
        if kept is None:
            kept = await self._ask(name)
        elif kept.until < monotonic():
            kept.until = monotonic() + KEPT_SECONDS  # One reads again; the others do not wait.
            kept = await self._ask(name)
        refuse_unadmitted(kept.row, caller)
        self._pool.refuse_crowd(business_id or caller.partner_id)

    async def _ask(self, name: tuple[UUID, UUID | None]) -> _KnownToken:
        partner_id, business_id = name
        text = _PARTNER if business_id is None else _BUSINESS
        asked = {"partner_id": partner_id, "business_id": business_id}
        found = await self._fetch(partner_id, text, asked)
        if len(self._remembered) >= MOST_KEPT:
            self._remembered.clear()
        kept = _KnownToken(found[0] if found else None, monotonic() + KEPT_SECONDS)
        if found:  # An unknown business is not cached: it may be created in the next moment.
            self._remembered[name] = kept
        return kept

    def forget(self) -> None:
        """Clear the cache after a change of partners or businesses."""
        self._remembered.clear()

    async def _fetch(self, tenant: UUID, text: str, parameters: dict[str, Any]) -> list[Row]:
        try:
            async with self._pool.connection(tenant) as connection:
                return await (await connection.execute(text, parameters)).fetchall()
        except (OperationalError, InterfaceError) as error:
            raise unavailable() from error
