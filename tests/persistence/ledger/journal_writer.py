"""A writer of entries that bypasses the handlers, with a roll-up after few entries."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from itertools import chain
from typing import Any, TypeVar
from uuid import UUID

import psycopg

from accounting.books.ledger import Entry, Line
from accounting.books.periods import Period
from persistence.books import Books
from persistence.engine.caches import Caches
from persistence.engine.ids import new_id
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sessions import ReadSession, WriteSession
from persistence.engine.tenants import BusinessTenant
from persistence.engine.transaction import reading, writing
from persistence.integrity.definitions import verdict
from persistence.integrity.ledger_checks import ROLL_UPS
from persistence.ledger.accounts import AccountState
from persistence.ledger.balances import ADVANCE
from tests.api_server import ApiServer
from tests.partner import Business
from tests.persistence.engine.test_transaction import Writer
from tests.persistence.server_role import as_server

T = TypeVar("T")
NOW = datetime(2026, 7, 10, 12, tzinfo=UTC)
STEP = 3
# The sums of each account in a period, from the lines alone.
BY_LINES = """
SELECT account_id, sum(debit)::bigint, sum(credit)::bigint,
       count(*) FILTER (WHERE debit > 0), count(*) FILTER (WHERE credit > 0)
FROM journal_line WHERE business_id = %s AND entry_date BETWEEN %s AND %s GROUP BY 1
"""

Sums = dict[UUID, tuple[int, int, int, int]]


@dataclass(frozen=True)
class Posting:
    """An entry to post: amounts by the place of their account, with a sum of zero."""

    on: date
    amounts: tuple[tuple[int, int], ...]


class JournalWriter:
    """The journal of a new business, and its writer."""

    def __init__(self, api_server: ApiServer, business: Business) -> None:
        self.api_server, self.business, self.step = api_server, business, STEP
        self.writer = Writer(api_server, business)
        self.now = NOW
        self.memory = Caches()
        self.advances = 0
        self.accounts: list[UUID] = [
            id_
            for (id_,) in api_server.query(
                "SELECT id FROM account WHERE business_id = %s ORDER BY code LIMIT 6", business.id
            )
        ]

    def post(self, *batches: Sequence[Posting], preview: bool = False) -> None:
        """Post batches one after the other, each in one transaction."""

        async def go(pool: Pool) -> None:
            for batch in batches:
                await self.posting(pool, batch, preview=preview)

        self.run(go)

    async def posting(self, pool: Pool, batch: Iterable[Posting], *, preview: bool = False) -> None:
        await self.adding(pool, [self.entry(each) for each in batch], preview=preview)

    async def adding(self, pool: Pool, entries: list[Entry], *, preview: bool = False) -> None:
        async def handle(session: WriteSession) -> None:
            books = self.books(session)
            books.post(entries)
            books.balances.advance(self.step)
            following = chain.from_iterable(session.staging.afterwards)
            self.advances += ADVANCE in (query.text for query in following)

        await writing(pool, self.writer.work(handle, preview=preview))

    def books(self, session: ReadSession | WriteSession) -> Books:
        assert isinstance(session.tenant, BusinessTenant)
        return Books(session, session.tenant, self.now, self.memory)

    def read(self, question: Callable[[Books], Awaitable[T]]) -> T:
        return self.run(lambda pool: self.reading(pool, question))

    async def reading(self, pool: Pool, question: Callable[[Books], Awaitable[T]]) -> T:
        async def nothing(_: WriteSession) -> None:
            raise AssertionError("nothing is written")

        tenant = self.writer.work(nothing).tenant()
        async with reading(pool, tenant) as session:
            return await question(self.books(session))

    def run(self, work: Callable[[Pool], Awaitable[T]], *, size: int = 1) -> T:
        async def go() -> T:
            async with make_pool(self.api_server.database_url, size=size) as pool:
                return await work(pool)

        return asyncio.run(go())

    def chart(self, period: Period) -> list[AccountState]:
        return self.read(lambda books: books.accounts.chart(period))

    def entry(self, posting: Posting, **facts: Any) -> Entry:
        lines = tuple(Line(self.accounts[place], amount) for place, amount in posting.amounts)
        return Entry(
            entry_date=posting.on,
            stream="test",
            lines=lines,
            description="An entry",
            source_type="manual",
            source_id=new_id(),
            **facts,
        )

    def reversals(self) -> list[Entry]:
        """Return reversals of all entries that are not reversed yet."""
        rows = self.api_server.query(
            "SELECT e.id, e.entry_date, array_agg(l.account_id ORDER BY l.line_number),"
            " array_agg(l.credit - l.debit ORDER BY l.line_number)"
            " FROM journal_entry e JOIN journal_line l ON l.entry_id = e.id"
            " WHERE e.business_id = %s GROUP BY e.business_id, e.id",
            self.business.id,
        )
        return [
            Entry(
                entry_date=on,
                stream="test",
                lines=tuple(map(Line, accounts, amounts)),
                description="Taken back",
                source_type="manual",
                source_id=new_id(),
                reversal_of_id=id_,
            )
            for id_, on, accounts, amounts in rows
        ]

    def by_lines(self, period: Period) -> Sums:
        rows = self.api_server.query(BY_LINES, self.business.id, period.first, period.last)
        return {account: tuple(sums) for account, *sums in rows}

    def roll_ups_hold(self) -> bool:
        """Return whether the roll-up passes its check."""
        with psycopg.connect(self.api_server.database_url) as connection:
            mine = {"business_id": self.business.id}
            found = connection.execute(verdict(ROLL_UPS), mine).fetchone()
        return found is not None and found[1] is None

    def check_plan(self, text: str, parameters: Mapping[str, Any], *settings: str) -> None:
        """Check that a query finds the entries that are not rolled up by an index."""
        given = {**parameters, "business_id": self.business.id}
        with as_server(self.api_server, self.business.id) as connection:
            for setting in settings:
                connection.execute(setting)
            lines = connection.execute(f"EXPLAIN {text}", given).fetchall()
        found = [line for (line,) in lines if "rolled_up" in line]
        assert found
        assert all("Index Cond" in line for line in found), found

    def rolled_up(self) -> dict[str, tuple[int, int]]:
        """Return how many entries of each year are rolled up, and how many it has."""
        rows = self.api_server.query(
            "SELECT series, coalesce(rolled_up, 0), last FROM number_series"
            " WHERE business_id = %s AND series LIKE 'JE-%%'",
            self.business.id,
        )
        return {series: (rolled, last) for series, rolled, last in rows}
