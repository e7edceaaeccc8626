"""How a connection waits for its socket, and what becomes of it when nobody waits any longer.

psycopg adds a reader to the loop for each wait and takes it away again; this one stays, which saves
20 of 84 us of a round trip. And whoever gives up waiting closes the connection: psycopg would ask
the server to cancel the statement, over a connection more, and a server that stands still lets it
wait ten seconds for that. The server notices by itself that nobody is there any more, within
`client_connection_check_interval`.
"""

import asyncio
from typing import TypeVar

from psycopg.abc import PQGen
from psycopg.pq import ConnStatus
from psycopg.pq.abc import PGconn
from psycopg.waiting import Ready, Wait

T = TypeVar("T")


class SocketWatch:
    """The socket of one connection in the loop of its process."""

    def __init__(self, pgconn: PGconn) -> None:
        self._pgconn = pgconn
        self._loop: asyncio.AbstractEventLoop | None = None  # The one that watches now.
        self._socket = -1
        self._waiter: asyncio.Future[Ready] | None = None

    async def drive(self, exchange: PQGen[T]) -> T:
        """Let an exchange go on whenever the socket is ready for it, and return what it brings."""
        try:
            wanted = next(exchange)
            while True:
                wanted = exchange.send(await self._ready(wanted))
        except StopIteration as end:
            found: T = end.value
            return found
        except asyncio.CancelledError:
            self.stop()
            self._pgconn.finish()
            raise
        finally:
            # libpq closes a socket that has failed, and the next one may get its number.
            if self._pgconn.status == ConnStatus.BAD:
                self.stop()

    def stop(self) -> None:
        """Watch no longer; the next wait begins anew."""
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
        """Wake whoever waits; where nobody does, it is the end of the connection or a word of it.

        It stays until somebody reads it, so that watching on would keep the loop busy.
        """
        if self._waiter is None or self._waiter.done():
            self.stop()
        else:
            _wake(self._waiter, Ready.R)


def _wake(waiter: asyncio.Future[Ready], ready: Ready) -> None:
    if not waiter.done():
        waiter.set_result(ready)
