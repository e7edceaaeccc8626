"""Seals of the audit trail: each covers the new records and the previous seal.

With the digest of a seal, anyone can verify later that the records it covers are unchanged.
"""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from persistence.books import Books
from persistence.engine.pipeline import execute_pipeline
from persistence.engine.pool import Pool
from persistence.engine.sessions import COMMIT
from persistence.engine.sql import Answers, Fetch, Query
from persistence.engine.topology import BEGIN
from persistence.integrity.checks import Check

KEPT_SEAL = "kept_seal"
"""The name of the check of a seal whose digest a client has stored."""

_NO_HURRY = Query("SELECT set_config('statement_timeout', '0', true)", {})
_SEAL = "SELECT seal_audit_trail(%(business_id)s) AS sealed"
_NEWEST = """
SELECT number, created_at, cardinality(record_ids) AS record_count, digest
FROM audit_seal WHERE business_id = %(business_id)s ORDER BY number DESC LIMIT 1
"""
_KNOWN = """
SELECT EXISTS (
  SELECT FROM audit_seal WHERE business_id = %(business_id)s AND digest = %(digest)s
) AS is_known
"""


@dataclass(frozen=True, slots=True)
class Seal:
    """A seal; its `digest` covers its records and all previous seals."""

    number: int
    created_at: datetime
    record_count: int
    digest: bytes


async def seal(pool: Pool, business_id: UUID) -> int:
    """Seal the new records in the trail of a business; return their number."""
    sealing = Query(_SEAL, {"business_id": business_id})
    async with pool.connection() as connection:
        confined = connection.machines.set_tenant(business_id)
        try:
            results = await execute_pipeline(
                connection, [BEGIN, _NO_HURRY, confined, sealing, COMMIT]
            )
        except BaseException:
            await connection.rollback()
            raise
    sealed: int = results[3].rows[0]["sealed"]
    return sealed


def newest_seal(books: Books) -> Fetch[Seal | None]:
    """Find the newest seal; None if there is none."""
    query = Query(_NEWEST, {"business_id": books.business_id})
    return Fetch(
        books.session,
        (query,),
        lambda answers: Seal(**answers[0][0]) if answers[0] else None,
    )


def kept_seal(books: Books, digest: str) -> Fetch[Check]:
    """Check that the business has a seal with this digest, in hexadecimal."""
    query = Query(_KNOWN, {"business_id": books.business_id, "digest": bytes.fromhex(digest)})

    def read(answers: Answers) -> Check:
        return Check(KEPT_SEAL, 1, None if answers[0][0]["is_known"] else f"seal {digest}")

    return Fetch(books.session, (query,), read)
