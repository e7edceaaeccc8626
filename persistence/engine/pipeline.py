"""Round trips: all statements are sent in one write, and all results are read up to one sync.

The pipeline of psycopg uses the socket once per statement, and drops all prepared statements after
a rollback; this one costs a third of it (docs/decisions/0008). It uses the low level of psycopg:
`pq` (libpq), `Transformer`, which converts values to bytes and back, and `Connection.wait`.
"""

import asyncio
import re
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from time import monotonic, perf_counter
from typing import Any, TypeVar

from psycopg import AsyncConnection, OperationalError
from psycopg.abc import Buffer, PQGen
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus, Format
from psycopg.pq.abc import PGconn, PGresult
from psycopg.rows import DictRow
from psycopg.waiting import Ready, Wait

from persistence.engine.liveness import Liveness, NoAnswer
from persistence.engine.observer import observer
from persistence.engine.sql import Query, Row
from persistence.engine.topology import SingleNode, Topology

# The wait of a connection for its socket, and the end of a wait that is cancelled.


T = TypeVar("T")


class SocketWatch:
    """The socket of one connection in the loop of its process."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        self._loop: asyncio.AbstractEventLoop | None = None  # The loop that watches the socket now.
        self._socket = -1
        self._waiter: asyncio.Future[Ready] | None = None
        self.liveness: Liveness | None = None  # The pool sets it.

    @property
    def waits(self) -> bool:
        """Return whether an exchange waits for the socket."""
        return self._waiter is not None and not self._waiter.done()

    def end_wait(self) -> None:
        """End the current exchange with NoAnswer, which closes the connection."""
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_exception(NoAnswer())

    async def drive(self, exchange: PQGen[T]) -> T:
        """Continue an exchange whenever the socket is ready for it; return its result."""
        try:
            wanted = next(exchange)
            while True:
                wanted = exchange.send(await self._ready(wanted))
        except StopIteration as end:
            found: T = end.value
            return found
        except (asyncio.CancelledError, NoAnswer):
            self.stop()
            self._pgconn.finish()
            raise
        finally:
            # libpq closes a socket that has failed, and another socket may get its number.
            if self._pgconn.status == ConnStatus.BAD:
                self.stop()

    def stop(self) -> None:
        """Stop watching the socket; the next wait starts again."""
        loop, self._loop = self._loop, None
        if loop is not None and not loop.is_closed():
            loop.remove_reader(self._socket)

    async def _ready(self, wanted: Wait) -> Ready:
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[Ready] = loop.create_future()
        self._waiter = waiter
        if self._loop is None:
            self._loop, self._socket = loop, self._pgconn.socket
            loop.add_reader(self._socket, self._readable)
        if not wanted & Wait.W:
            return await waiter
        loop.add_writer(self._socket, _wake, waiter, Ready.W)
        try:
            return await waiter
        finally:
            loop.remove_writer(self._socket)

    def _readable(self) -> None:
        """Continue the current wait; without one, stop watching the socket.

        Then the input is the end of the connection or a message of the server. It stays unread
        until the next wait, so watching it would keep the loop busy.
        """
        if self._waiter is None or self._waiter.done():
            self.stop()
            return
        if self.liveness is not None:
            self.liveness.answered = True
        _wake(self._waiter, Ready.R)


def _wake(waiter: asyncio.Future[Ready], ready: Ready) -> None:
    if not waiter.done():
        waiter.set_result(ready)


# How many statements a connection keeps prepared. A list has one for each set of filters, so their
# number has no limit. A new statement replaces the least recently used one.
MOST_PREPARED = 200

_T = TypeVar("_T")

_PLACE = re.compile(r"%\((\w+)\)s|%%")


@dataclass(frozen=True, slots=True)
class Result:
    """The result of one statement: its rows, or how many rows it changed."""

    rows: list[Row]
    affected: int


@dataclass(slots=True)
class PreparedStatement:
    """A statement that is prepared under a name; its columns are known after its first result."""

    name: bytes
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Message:
    """A statement with its values as they are sent."""

    text: bytes
    values: Sequence[Buffer | None]
    types: tuple[int, ...]
    formats: Sequence[Format] | None
    once: bool


class Connection(AsyncConnection[DictRow]):
    """A connection with its own pipeline and its own wait for the socket.

    A cancelled wait for an answer closes the connection; psycopg would wait for the server.
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.pipe = Pipeline(self)
        self.machines: Topology = SingleNode()  # The pool sets it for a cluster.
        self.made_at = monotonic()
        self.watch = SocketWatch(self.pgconn)

    async def wait(self, gen: PQGen[_T], *_: float | None, **_options: float | None) -> _T:
        """Run an exchange to its end; the interval and the timeout of psycopg are ignored."""
        return await self.watch.drive(gen)

    async def close(self) -> None:
        """Close the connection immediately."""
        self.watch.stop()
        await super().close()


async def execute_pipeline(connection: Connection, queries: Sequence[Query]) -> list[Result]:
    """Send statements in one round trip; return their results in order or raise the first error."""
    if not queries:
        return []
    began = perf_counter()
    try:
        return await connection.wait(connection.pipe.exchange(queries))
    finally:
        observer.get().asked(queries, perf_counter() - began)


class Pipeline:
    """The prepared statements of one connection, and its round trips."""

    def __init__(self, connection: Connection) -> None:
        self._pgconn = connection.pgconn
        self._transformer = Transformer(connection)
        self._prepared: OrderedDict[tuple[bytes, tuple[int, ...]], PreparedStatement] = (
            OrderedDict()
        )
        self._surplus: list[bytes] = []
        self._named = 0

    def exchange(self, queries: Sequence[Query]) -> PQGen[list[Result]]:
        """Make one round trip; raise for a value that cannot be sent before anything is sent."""
        messages = [self._message(query) for query in queries]
        self._pgconn.enter_pipeline_mode()
        closed = self._close_surplus()
        sent = [self._send(message) for message in messages]
        self._pgconn.pipeline_sync()
        results = yield from self._receive()
        self._pgconn.exit_pipeline_mode()
        return self._read(messages, sent, results[closed:])

    def _message(self, query: Query) -> Message:
        text, names = numbered(query.text)
        if not names:
            return Message(text, (), (), None, query.once)
        values = [query.parameters[name] for name in names]
        dumped = self._transformer.dump_sequence(values, [PyFormat.AUTO] * len(values))
        types = self._transformer.types or ()
        return Message(text, dumped, types, self._transformer.formats, query.once)

    def _send(self, message: Message) -> tuple[PreparedStatement, bool]:
        """Send a statement by its name; return it and whether it was prepared just now."""
        key = message.text, message.types
        if message.once:
            self._pgconn.send_query_params(
                message.text, message.values, message.types, message.formats
            )
            return PreparedStatement(b""), False
        known = self._prepared.get(key)
        if known is not None:
            self._prepared.move_to_end(key)
        statement = known or self._prepare(key)
        self._pgconn.send_query_prepared(statement.name, message.values, message.formats)
        return statement, known is None

    def _prepare(self, key: tuple[bytes, tuple[int, ...]]) -> PreparedStatement:
        self._named += 1
        made = self._prepared[key] = PreparedStatement(b"s%d" % self._named)
        self._pgconn.send_prepare(made.name, *key)
        if len(self._prepared) > MOST_PREPARED:
            self._surplus.append(self._prepared.popitem(last=False)[1].name)
        return made

    def _close_surplus(self) -> int:
        """Close the prepared statements that were replaced; return how many results that adds."""
        surplus, self._surplus = self._surplus, []
        for name in surplus:
            self._pgconn.send_close_prepared(name)
        return len(surplus)

    def _receive(self) -> PQGen[list[PGresult]]:
        """Write all that is queued, and return every result up to the sync."""
        pgconn, results = self._pgconn, list[PGresult]()
        try:
            while pgconn.flush():
                if (yield Wait.RW) & Ready.R:
                    pgconn.consume_input()
            while True:
                while pgconn.is_busy():
                    yield Wait.R
                    pgconn.consume_input()
                result = pgconn.get_result()
                if result is None:  # The end of one statement, or of the connection.
                    if pgconn.status == ConnStatus.BAD:
                        raise OperationalError("the connection to the database was lost")
                elif result.status == ExecStatus.PIPELINE_SYNC:
                    return results
                else:
                    results.append(result)
        except OperationalError:
            refuse_error(results)  # The server may have sent the reason.
            raise

    def _read(
        self,
        messages: Sequence[Message],
        sent: Sequence[tuple[PreparedStatement, bool]],
        results: Sequence[PGresult],
    ) -> list[Result]:
        """Separate the results of statements from those of preparing them, and read the rows."""
        left = iter(results)
        found = []
        for message, (statement, is_new) in zip(messages, sent, strict=True):
            if is_new and next(left).status != ExecStatus.COMMAND_OK:
                self._prepared.pop((message.text, message.types), None)
            found.append((statement, next(left)))
        refuse_error(results)
        return [self._result(statement, result) for statement, result in found]

    def _result(self, statement: PreparedStatement, result: PGresult) -> Result:
        if result.status != ExecStatus.TUPLES_OK:
            return Result([], result.command_tuples or 0)
        columns = statement.columns
        if not columns:
            names = (result.fname(place) or b"" for place in range(result.nfields))
            columns = statement.columns = tuple(name.decode() for name in names)
        self._transformer.set_pgresult(result)
        count = result.ntuples
        rows = self._transformer.load_rows(
            0, count, lambda values: dict(zip(columns, values, strict=True))
        )
        return Result(rows, count)


def refuse_error(results: Sequence[PGresult]) -> None:
    """Raise the first error among results."""
    for result in results:
        if result.status == ExecStatus.FATAL_ERROR:
            raise error_from_result(result)


@lru_cache(maxsize=4096)
def numbered(text: str) -> tuple[bytes, tuple[str, ...]]:
    """Convert a statement to numbered parameters; return it with the names in their order.

    `a = %(x)s OR b = %(y)s OR c = %(x)s` becomes `a = $1 OR b = $2 OR c = $1` with (x, y).
    """
    places: dict[str, int] = {}

    def place(found: re.Match[str]) -> str:
        name = found[1]
        return "%" if name is None else f"${places.setdefault(name, len(places) + 1)}"

    return _PLACE.sub(place, text).encode(), tuple(places)
