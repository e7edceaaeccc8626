"""What one caller may cost by its connections alone, before any request is read."""

import socket
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import uvloop

from server.requests.addresses import Network, address_of, network_of

READER_SECONDS: Final = 30
HANDSHAKE_SECONDS: Final = 5.0
UNSENT_BYTES: Final = 64 * 1024

End = tuple[str, int | None]


def bound_readers(listener: socket.socket, seconds: float = READER_SECONDS) -> None:
    """Let the system close each connection whose other end takes nothing for so long.

    It sees every reader, also of an answer that is complete, and of a connection that we have
    closed. Before that it holds little of an answer: what a reader does not take costs no copy.
    Both are for connections that the listener accepts; systems other than Linux lack the first.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


class ServingLoop(uvloop.Loop):
    """A uvloop that closes a TLS connection whose handshake takes too long."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        """Create a server, with the limit to handshakes where it has TLS."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HANDSHAKE_SECONDS)
        return await super().create_server(*arguments, **options)


class ConnectionsPerAddress:
    """The open connections of one worker, by address. At `most` 0 nobody is refused.

    Proxies have as many as they need: each stands for many callers.
    """

    def __init__(self, most: int = 0, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._proxies = proxies
        self._open: Counter[str] = Counter()

    def opened(self, end: End | None) -> bool:
        """Count a connection; False, and not counted, where its address has too many."""
        address = self._counted(end)
        if not address:
            return True
        if self._open[address] == self._most:
            return False
        self._open[address] += 1
        return True

    def closed(self, end: End | None) -> None:
        """Count one no longer that was counted."""
        address = self._counted(end)
        if address:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    def _counted(self, end: End | None) -> str:
        """Return the name it is counted under; empty where it is not."""
        address = address_of(end)
        if not self._most or address is None or any(address in proxy for proxy in self._proxies):
            return ""
        return network_of(str(address))
