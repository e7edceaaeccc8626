"""Integrity checks within a request: one run at a time in each process, with a time limit.

A run holds a connection of a small pool and loads PostgreSQL. A second request is refused
immediately, since it would hold a connection while it waits.
"""

import asyncio

from psycopg.errors import QueryCanceled

from accounting.errors import Unavailable
from persistence.books import Books
from persistence.proof.integrity import Check, prove_books

LIMIT_SECONDS = 10.0  # As long as any statement of a request may take.
PORTION = 50  # Records with postings. Other requests are served between portions.

_turn = asyncio.Lock()


async def prove_in_request(books: Books) -> list[Check]:
    """Run all integrity checks of the books of a request; return them, failed ones first.

    Raises Unavailable `proof_busy` during another run in this process, and `proof_too_long` after
    10 seconds.
    """
    if _turn.locked():
        raise Unavailable(
            "proof_busy",
            "Other books are being proven at this moment. Ask again in a moment.",
            retry_after_seconds=1,
        )
    async with _turn:
        try:
            async with asyncio.timeout(LIMIT_SECONDS):
                return await prove_books(books, PORTION, lambda _: None)
        except (TimeoutError, QueryCanceled):
            raise Unavailable(
                "proof_too_long",
                "The books are too large to be proven within a request."
                " `accounting check-books --business` of the operator takes the time it needs.",
                retry_after_seconds=60,
            ) from None
