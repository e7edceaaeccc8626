"""A proof within a request: one at a time in each process, and no longer than a request may take.

A proof holds a connection of a small pool and keeps PostgreSQL busy. Whoever comes while one is at
work is refused at once, since waiting would hold a connection too.
"""

import asyncio

from psycopg.errors import QueryCanceled

from accounting.errors import Unavailable
from persistence.books import Books
from persistence.proof.integrity import Check, prove_books

LIMIT_SECONDS = 10.0  # As long as any statement of a request may take.
PORTION = 50  # Things that post. Others are served between two portions, not within one.

_turn = asyncio.Lock()


async def prove_in_request(books: Books) -> list[Check]:
    """Prove the books that a request has opened; return every check, the faulty ones first.

    Raises Unavailable `proof_busy` while another proof is at work here, and `proof_too_long` where
    the books are too large for a request.
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
