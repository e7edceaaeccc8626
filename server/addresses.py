"""From where a request comes, also when a proxy stands in between."""

from collections.abc import Sequence
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope

from server.https import address_of

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
