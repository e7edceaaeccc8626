"""Integrity checks: whether all records of the books agree."""

from collections.abc import Mapping, Sequence
from typing import Any

from handlers.results import Reply
from persistence.books import Books
from persistence.integrity.checks import Check, prove_in_request
from persistence.integrity.seals import KEPT_SEAL, Seal, kept_seal, newest_seal


async def get_integrity(books: Books, query: Mapping[str, Any]) -> Reply:
    """Run the integrity checks on the books now, and check that a given seal still exists."""
    checks = await prove_in_request(books)
    newest = await newest_seal(books)
    if KEPT_SEAL in query:
        kept = await kept_seal(books, query[KEPT_SEAL])
        checks = [*checks, kept] if kept.ok else [kept, *checks]
    return {**serialize(checks), "newest_seal": newest and serialize_seal(newest)}


def serialize(checks: Sequence[Check]) -> dict[str, Any]:
    """Serialize the checks and their overall status."""
    return {
        "status": "green" if all(check.ok for check in checks) else "red",
        "checks": [
            {
                "name": check.name,
                "ok": check.ok,
                "checked": check.checked,
                "first_offender": check.first_offender,
            }
            for check in checks
        ],
    }


def serialize_seal(seal: Seal) -> dict[str, Any]:
    """Serialize a seal, which clients can keep to check the books later."""
    return {
        "number": seal.number,
        "created_at": seal.created_at,
        "record_count": seal.record_count,
        "digest": seal.digest.hex(),
    }
