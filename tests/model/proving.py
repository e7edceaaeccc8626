"""Proves the books of one business after another over one connection, as `check-books` does."""

import asyncio
from types import TracebackType
from typing import Self
from uuid import UUID

from persistence.engine.pool import make_pool
from persistence.proof.integrity import BooksToProve, prove
from tests.partner import Partner


class Prover:
    """The auditor of a partner's businesses."""

    def __init__(self, database_url: str, partner: Partner) -> None:
        self.database_url = database_url
        self.partner = partner
        self.loop = asyncio.new_event_loop()

    def __enter__(self) -> Self:
        async def opened() -> None:
            self.pool = make_pool(self.database_url, size=1)
            await self.pool.open()

        self.loop.run_until_complete(opened())
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.loop.run_until_complete(self.pool.close())
        self.loop.close()

    def faults_of(self, business_id: UUID) -> list[str]:
        """What does not hold in the books of a business."""
        books = BooksToProve(business_id, "modelled", self.partner.partner_id, "modeller")
        checks = self.loop.run_until_complete(prove(self.pool, books, lambda _: None))
        return [f"{each.name}: {each.first_offender}" for each in checks if not each.ok]
