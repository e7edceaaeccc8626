"""Integrity: whether everything in the books agrees."""

from collections.abc import Sequence
from typing import Any

from handlers.results import Reply
from persistence.books import Books
from persistence.proof.in_request import prove_in_request
from persistence.proof.integrity import Check


async def get_integrity(books: Books) -> Reply:
    """Prove the books as they are at this moment."""
    return shape(await prove_in_request(books))


def shape(checks: Sequence[Check]) -> dict[str, Any]:
    """Show what was proven, the checks that do not hold first."""
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
