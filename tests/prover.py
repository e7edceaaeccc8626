"""The proofs of many businesses' books over one connection, as in `check-books`."""

import asyncio
from uuid import UUID

from persistence.engine.pool import make_pool
from persistence.integrity.checks import Advance, BooksToProve, Check, all_books, prove


class Prover:
    """The auditor of all businesses in a database."""

    def __init__(self, database_url: str) -> None:
        self.loop = asyncio.new_event_loop()
        self.pool = make_pool(database_url, size=1)

    def close(self) -> None:
        """Close the connection."""
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()

    def books(self) -> list[BooksToProve]:
        """Return all books."""
        return self.loop.run_until_complete(all_books(self.pool))

    def checks_of(self, business_id: UUID | str, advance: Advance = lambda _: None) -> list[Check]:
        """Return the checks of a business's books."""

        async def proven() -> list[Check]:
            [books] = await all_books(self.pool, business_id=UUID(str(business_id)))
            return await prove(self.pool, books, advance)

        return self.loop.run_until_complete(proven())

    def faults_of(self, business_id: UUID | str) -> list[Check]:
        """Return the failed checks of a business's books."""
        return [check for check in self.checks_of(business_id) if not check.ok]
