"""Limits on the connections of a single client, applied before any request is read."""

import asyncio
import socket
import struct
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

import uvloop

from server.config.client_addresses import Network, address_of, network_of

READER_SECONDS: Final = 30
HANDSHAKE_SECONDS: Final = 5.0
UNSENT_BYTES: Final = 64 * 1024

End = tuple[str, int | None]


def bound_readers(listener: socket.socket, seconds: float = READER_SECONDS) -> None:
    """Make the kernel close a connection whose client reads nothing for `seconds`.

    This covers every reader, even after the answer is complete or we have closed the connection. It
    also limits unsent data in the kernel to 64 KiB, so that a slow reader costs no copy of an
    answer. Both apply to connections that the listener accepts; only Linux has the time limit.
    """
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(seconds * 1000))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT_BYTES)


def reset(transport: asyncio.Transport) -> None:
    """Close a connection immediately, and drop the data that waits to be sent.

    Without the option, the kernel would continue to send its part of the data.
    """
    connected = transport.get_extra_info("socket")
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class ServingLoop(uvloop.Loop):
    """A uvloop that closes a TLS connection whose handshake takes too long."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        """Create a server, with the limit to handshakes where it has TLS."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HANDSHAKE_SECONDS)
        return await super().create_server(*arguments, **options)


class ConnectionsPerAddress:
    """The open connections of one worker, by address. With `most` 0 there is no limit.

    Proxies have no limit, since each forwards many clients.
    """

    def __init__(self, most: int = 0, proxies: Sequence[Network] = ()) -> None:
        self._most = most
        self._proxies = proxies
        self._open: Counter[str] = Counter()

    def opened(self, end: End | None) -> bool:
        """Count a new connection; return False, without counting, if its address has too many."""
        address = self._counted(end)
        if not address:
            return True
        if self._open[address] == self._most:
            return False
        self._open[address] += 1
        return True

    def closed(self, end: End | None) -> None:
        """Remove a connection from the count."""
        address = self._counted(end)
        if address:
            self._open[address] -= 1
            if not self._open[address]:
                del self._open[address]

    def _counted(self, end: End | None) -> str:
        """Return the network under which a connection is counted; empty if it is not counted."""
        address = address_of(end)
        if not self._most or address is None or any(address in proxy for proxy in self._proxies):
            return ""
        return network_of(str(address))
