"""A connection for the time of a block; each request takes one, so these are no generators.

What one business writes goes one after the other, so a worker has one writing of it under way while
that is quick. PostgreSQL would wait between two of them for this process. So the next one takes the
connection over once COMMIT is sent, and its first statements wait at PostgreSQL behind it
(docs/decisions/0053). They count for nothing where the one before has failed.
"""

import asyncio
from collections.abc import Hashable, Sequence
from contextlib import suppress
from typing import Protocol, Self

from psycopg import Error, OperationalError

from persistence.engine.pipeline import Connection, Result, exchange
from persistence.engine.sql import Query
from persistence.engine.turns import Turn, Turns


class Lender(Protocol):
    """The pool, as those see it who have a connection of it."""

    async def lend(self) -> Connection: ...

    async def take_back(
        self, connection: Connection, failure: type[BaseException] | None
    ) -> None: ...

    def may_keep(self, connection: Connection) -> bool: ...


class TurnLost(Exception):
    """The connection was lost with the writing before, and nothing of this one has begun."""


class Lent:
    """A connection, when it is the turn of a tenant."""

    __slots__ = ("_connection", "_lender", "_place", "_places", "_tenant")

    def __init__(self, lender: Lender, tenant: Hashable, places: Turns) -> None:
        self._lender = lender
        self._tenant = tenant
        self._places = places

    async def __aenter__(self) -> Connection:
        self._place = await self._places.take(self._tenant)
        try:
            self._connection = await self._lender.lend()
        except BaseException:
            self._places.give_back(self._place)
            raise
        return self._connection

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            await self._lender.take_back(self._connection, kind)
        finally:
            self._places.give_back(self._place)


class LentToWrite:
    """A connection for one writing, which may begin behind the COMMIT of the one before.

    `_turn` is its place among those who write, `_place` among all who have a connection.
    """

    __slots__ = (
        "_before",
        "_ended",
        "_lender",
        "_next",
        "_place",
        "_places",
        "_tenant",
        "_turn",
        "_writers",
        "connection",
    )

    connection: Connection

    def __init__(self, lender: Lender, tenant: Hashable, places: Turns, writers: Turns) -> None:
        self._lender = lender
        self._tenant = tenant
        self._places = places
        self._writers = writers
        self._turn: Turn | None = None
        self._place: Turn | None = None
        self._before: LentToWrite | None = None
        self._next: LentToWrite | None = None
        self._ended: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    async def __aenter__(self) -> Self:
        try:
            self._turn = await self._writers.take(self._tenant)
            before, self._turn.before = self._turn.before, None
            if not (isinstance(before, LentToWrite) and self._follow(before)):
                self._place = await self._places.take(self._tenant)
                self.connection = await self._lender.lend()
        except BaseException:
            self._give_back()
            raise
        return self

    def _follow(self, before: "LentToWrite") -> bool:
        """Take over the connection of the one before, where that is still at its COMMIT."""
        if before._ended.done() or before._tenant != self._tenant:
            return False
        self._before, before._next = before, self
        self.connection = before.connection
        self._place, before._place = before._place, None
        return True

    async def begin(self, queries: Sequence[Query]) -> list[Result]:
        """Send the first statements; again where the writing before has failed.

        Raises TurnLost where it took the connection with it.
        """
        before = self._before
        if before is None:
            return await exchange(self.connection, queries)
        failure, results = None, list[Result]()
        try:
            results = await exchange(self.connection, queries)
        except Error as error:
            failure = error
        went_well = await asyncio.shield(before._ended)
        self._before = None
        if self.connection.closed or self.connection.pipe.is_busy:
            raise TurnLost from failure
        if not went_well:
            return await exchange(self.connection, queries)
        if failure is not None:
            raise failure
        return results

    async def commit(self, queries: Sequence[Query]) -> list[Result]:
        """Send what ends with COMMIT, and let the next of the tenant begin behind it."""
        return await exchange(self.connection, queries, sent=self._hand_on)

    def _hand_on(self) -> None:
        """Give the turn back early where PostgreSQL would wait, and nobody else does."""
        turn = self._turn
        if turn is None or self._places.waiting or not self._lender.may_keep(self.connection):
            return
        if self._writers.only_its_own_follow(turn):
            self._turn = None
            self._writers.give_back(turn, before=self)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if self._next is not None and kind is not None:
                with suppress(OperationalError):
                    await self.connection.rollback()  # The next one may leave meanwhile.
        finally:
            self._ended.set_result(kind is None)
            try:
                await self._let_go(kind)
            finally:
                self._give_back()

    async def _let_go(self, kind: type[BaseException] | None) -> None:
        """Leave the connection to the one before or the next, else to the pool."""
        if self._before is not None and not self._before._ended.done():
            self._before._next = None
        elif self._next is None:
            await self._lender.take_back(self.connection, kind)

    def _give_back(self) -> None:
        if self._turn is not None:
            self._writers.give_back(self._turn)
        if self._place is not None:
            self._places.give_back(self._place)
