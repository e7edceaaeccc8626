"""How the workers of a server share the connections that come to their one listener.

The system wakes all of them for a new connection, and the first one awake takes it. Callers open
many at once: one worker took up to all of 16, and the server did half of its work.
"""

import ssl
from asyncio import AbstractEventLoop, BaseProtocol, BaseTransport, Task, TimerHandle
from collections.abc import Callable
from socket import socket
from typing import Any, Final

import structlog
import uvloop

HANDSHAKE_SECONDS: Final = 5.0
REST_SECONDS: Final = 0.002
REFUSED_SECONDS: Final = 1.0
TAKEN_ALIKE: Final = 4


class ServingLoop(uvloop.Loop):
    """uvloop, whose servers leave connections to other workers."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        """Take connections from a socket, as uvicorn asks for it: one protocol, three options."""
        [protocol], listener = arguments, options["sock"]
        listener.listen(options["backlog"])
        return Acceptor(self, listener, protocol, options["ssl"])


class Acceptor:
    """Takes one connection from a listener and rests for a moment: others take the next ones.

    Where connections still wait after several rests, the others cannot keep up with them, and it
    takes more at once. Who opens one after the other, and closes each before, waits for no rest.
    """

    rest_seconds = REST_SECONDS
    refused_seconds = REFUSED_SECONDS

    def __init__(
        self,
        loop: AbstractEventLoop,
        listener: socket,
        protocol: Callable[[], BaseProtocol],
        tls: ssl.SSLContext | None = None,
    ) -> None:
        listener.setblocking(False)
        self._loop = loop
        self._listener = listener
        self._protocol = protocol
        self._options: dict[str, Any] = {}
        if tls is not None:
            self._options = {"ssl": tls, "ssl_handshake_timeout": HANDSHAKE_SECONDS}
        self._opening: set[Task[None]] = set()
        self._newest: BaseTransport | None = None
        self._in_a_row = 0
        self._rests_until = loop.time()
        self._resting: TimerHandle | None = None
        self._listen()

    def close(self) -> None:
        """Take no more."""
        self._loop.remove_reader(self._listener)
        if self._resting is not None:
            self._resting.cancel()

    async def wait_closed(self) -> None:
        """Wait for nothing: uvicorn has waited for the connections."""

    def _listen(self) -> None:
        self._loop.add_reader(self._listener, self._wake)

    def _wake(self) -> None:
        """Begin to take what waits; a rest is kept where the newest connection is still open."""
        left = self._rests_until - self._loop.time()
        if left > 0 and (self._newest is None or not self._newest.is_closing()):
            self._rest(left)
            return
        self._in_a_row = 0
        self._take_some()

    def _rest(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._resting = self._loop.call_later(seconds, self._go_on)

    def _go_on(self) -> None:
        """Take what still waits after a rest."""
        self._listen()
        self._take_some()

    def _take_some(self) -> None:
        most, taken = most_at_once(self._in_a_row), 0
        try:
            while taken < most and self._take():
                taken += 1
        except OSError as error:  # As when too many files are open; whoever comes waits meanwhile.
            structlog.get_logger("accounting.connections").error(
                "connections_not_taken", reason=str(error)
            )
            self._rest(self.refused_seconds)
            return
        self._in_a_row += taken
        if taken:
            self._rests_until = self._loop.time() + self.rest_seconds

    def _take(self) -> bool:
        """Take one connection; False where none waits, or the one that did has gone."""
        try:
            connection, _ = self._listener.accept()
        except (BlockingIOError, ConnectionAbortedError):
            return False
        self._newest = None
        opening = self._loop.create_task(self._open(connection))
        self._opening.add(opening)
        opening.add_done_callback(self._opening.discard)
        return True

    async def _open(self, connection: socket) -> None:
        """Hand a connection to its protocol; one whose handshake fails is closed."""
        connection.setblocking(False)
        try:
            self._newest, _ = await self._loop.connect_accepted_socket(
                self._protocol, connection, **self._options
            )
        except OSError:
            connection.close()


def most_at_once(in_a_row: int) -> int:
    """Say how many connections are taken before the next rest: after 3 in a row 1, after 8 3."""
    return 1 + in_a_row // TAKEN_ALIKE
