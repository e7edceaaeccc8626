"""From where a request comes, also when a proxy stands in between."""

from collections.abc import Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

Network = IPv4Network | IPv6Network


def caller_address(scope: Scope, proxies: Sequence[Network]) -> str:
    """Return the address of the caller: the last one that none of our proxies has.

    `X-Forwarded-For: 203.0.113.9, 198.51.100.7` from a believed proxy means 198.51.100.7: what
    stands further left was written by the caller itself. Empty when the socket has no address.
    """
    address = address_of(scope.get("client"))
    if address is None:
        return ""
    said = b",".join(value for name, value in scope["headers"] if name == b"x-forwarded-for")
    hops = said.decode("latin-1").split(",")
    while hops and any(address in network for network in proxies):
        # What no proxy of ours would write ends the chain, and the proxy itself stays the caller.
        named = address_of((hops.pop().strip(), None))
        if named is None:
            break
        address = named
    return str(address)


def network_of(address: str) -> str:
    """Return what one caller is likely to own: an IPv4 address, or a whole /64 of IPv6."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv6Address):
        return str(IPv6Network((parsed, 64), strict=False))
    return str(parsed)


def address_of(end: tuple[str, int | None] | None) -> IPv4Address | IPv6Address | None:
    """Read the address of one end of a connection; None for a name or a unix socket."""
    return None if end is None else _read(end[0])


@lru_cache(maxsize=1024)  # The same few are read with every request.
def _read(text: str) -> IPv4Address | IPv6Address | None:
    try:
        address = ip_address(text)
    except ValueError:
        return None
    # A listener on both families shows IPv4 peers as ::ffff:10.0.0.7.
    return getattr(address, "ipv4_mapped", None) or address


def is_loopback(end: tuple[str, int | None] | None) -> bool:
    """Tell whether one end of a connection is this very machine."""
    address = address_of(end)
    if address is None:
        return end is not None and end[0] == "localhost"
    return address.is_loopback
