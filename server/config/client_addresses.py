"""The address of the client of a request, also behind proxies."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

Network = IPv4Network | IPv6Network


def caller_address(scope: Scope, proxies: Sequence[Network]) -> str:
    """Return the address of the client: the last one that is not a trusted proxy.

    `X-Forwarded-For: 203.0.113.9, 198.51.100.7` from a trusted proxy means 198.51.100.7: addresses
    further left were written by the client itself. Empty if the socket has no address.
    """
    address = address_of(scope.get("client"))
    if address is None:
        return ""
    said = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    hops = said.decode("latin-1").split(",")
    while hops and any(address in network for network in proxies):
        # A value that no trusted proxy would write ends the chain at the proxy itself.
        named = address_of((hops.pop().strip(), None))
        if named is None:
            break
        address = named
    return str(address)


def network_of(address: str) -> str:
    """Return the network that one client is likely to own: an IPv4 address, or a /64 of IPv6."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, 64), strict=False))
    return str(parsed)


def address_of(end: tuple[str, int | None] | None) -> IPv4Address | IPv6Address | None:
    """Parse the address of one end of a connection; None for a name or a unix socket."""
    return None if end is None else _read(end[0])


@lru_cache(maxsize=1024)  # Most requests come from a few addresses.
def _read(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A listener on both families shows IPv4 peers as ::ffff:10.0.0.7.
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(end: tuple[str, int | None] | None) -> bool:
    """Return whether one end of a connection is this machine."""
    address = address_of(end)
    if address is None:
        return end is not None and end[0] == "localhost"
    return address.is_loopback
