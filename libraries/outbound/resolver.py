"""Resolution of host names, each in a thread of its own.

A lookup may hang if the name servers of its host do. It then takes no place from another host, and
the process does not wait for it when it ends.
"""

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from ipaddress import ip_address
from threading import Thread
from typing import Final

from libraries.outbound.addresses import Address

Lookup = Callable[[str], Sequence[str]]
"""A function that resolves a host name to the texts of its addresses.

It raises socket.gaierror, and OSError for a fault of this machine. A name whose servers do not
answer counts as one without an address, but a lack of memory does not.
"""

MOST_LOOKUPS: Final = 512
_OWN_FAULTS: Final = frozenset({socket.EAI_MEMORY, socket.EAI_SYSTEM})


class NoAddress(Exception):
    """A host name that has no address."""


def system_lookup(host: str) -> list[str]:
    """Resolve a host as the system does, to IPv4 and IPv6 addresses in its order."""
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class Resolver:
    """A resolver that keeps no answers: lookups of one host that overlap share one thread."""

    def __init__(self, lookup: Lookup = system_lookup) -> None:
        self._lookup = lookup
        self._running: dict[str, asyncio.Future[list[Address]]] = {}

    async def resolve(self, host: str) -> list[Address]:
        """Return the addresses of a host; raises NoAddress, and OSError if no lookup can be made.

        At most 512 hosts are looked up at the same time.
        """
        return await asyncio.shield(self._running.get(host) or self._begin(host))

    def close(self) -> None:
        """Give up the lookups that still run; their threads end with the process."""
        for each in self._running.values():
            each.cancel()

    def _begin(self, host: str) -> "asyncio.Future[list[Address]]":
        if len(self._running) >= MOST_LOOKUPS:
            raise OSError("too many names are being looked up")
        found: Future[list[Address]] = Future()
        try:
            Thread(target=self._look_up, args=(host, found), daemon=True).start()
        except RuntimeError as error:
            raise OSError(str(error)) from error
        running = asyncio.wrap_future(found)
        self._running[host] = running
        running.add_done_callback(lambda done: self._forget(host, done))
        return running

    def _forget(self, host: str, done: "asyncio.Future[list[Address]]") -> None:
        self._running.pop(host, None)
        if not done.cancelled():
            done.exception()  # All who waited may have given up: then nobody else reads it.

    def _look_up(self, host: str, found: "Future[list[Address]]") -> None:
        if not found.set_running_or_notify_cancel():
            return
        try:
            found.set_result(self._addresses(host))
        except Exception as error:
            found.set_exception(error)

    def _addresses(self, host: str) -> list[Address]:
        try:
            found = [ip_address(each) for each in self._lookup(host)]
        except socket.gaierror as error:
            if error.errno in _OWN_FAULTS:
                raise OSError(str(error)) from error
            raise NoAddress(str(error)) from error
        except ValueError as error:
            raise NoAddress(str(error)) from error
        if not found:
            raise NoAddress("the name has no address")
        return found
