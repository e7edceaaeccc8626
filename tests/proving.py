"""Proves the books of one business after another over one connection, as `check-books` does."""

import asyncio
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar
from uuid import UUID

from persistence.engine.pool import Pool, make_pool
from persistence.proof.integrity import Advance, BooksToProve, Check, all_books, prove

T = TypeVar("T")


class Prover:
    """The auditor of all businesses in a database."""

    def __init__(self, database_url: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.pool = self.loop.run_until_complete(opened(database_url))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Hang up."""
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()

    def books(self) -> list[BooksToProve]:
        """All there are."""
        return self._with_pool(all_books)

    def checks_of(self, business_id: UUID | str, advance: Advance = lambda _: None) -> list[Check]:
        """What was looked at in the books of a business."""

        async def proven(pool: Pool) -> list[Check]:
            [books] = await all_books(pool, business_id=UUID(str(business_id)))
            return await prove(pool, books, advance)

        return self._with_pool(proven)

    def faults_of(self, business_id: UUID | str) -> list[Check]:
        """What does not hold of it."""
        return [check for check in self.checks_of(business_id) if not check.ok]

    def _with_pool(self, work: Callable[[Pool], Awaitable[T]]) -> T:
        async def done() -> T:
            return await work(self.pool)

        return self.loop.run_until_complete(done())


async def opened(database_url: str) -> Pool:
    pool = make_pool(database_url, size=1)
    await pool.open()
    return pool
