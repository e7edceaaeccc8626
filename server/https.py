"""Which requests count as https, and which plain ones may be served nevertheless."""

from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from starlette.types import Scope


@dataclass(frozen=True, slots=True)
class HttpsRule:
    """Trust in a TLS socket, in the word of a named proxy, and in loopback while developing.

    The server in front of this rule must not rewrite scheme and client on its own: uvicorn runs
    with `proxy_headers=False`, because it would believe the last of several values.
    """

    proxies: tuple[IPv4Network | IPv6Network, ...] = ()
    development: bool = False

    def is_https(self, scope: Scope) -> bool:
        """Tell whether the caller spoke https, to us or to a proxy we trust."""
        if scope.get("scheme") == "https":
            return True
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-proto"]
        if len(said) != 1 or said[0].strip().lower() != b"https":
            return False
        peer = address_of(scope.get("client"))
        return peer is not None and any(peer in proxy for proxy in self.proxies)

    def permits_plain(self, scope: Scope) -> bool:
        """Tell whether plain HTTP is served here: in development, from loopback to loopback."""
        return (
            self.development
            and is_loopback(scope.get("client"))
            and is_loopback(scope.get("server"))
        )


def address_of(end: tuple[str, int | None] | None) -> IPv4Address | IPv6Address | None:
    """Read the address of one end of a connection; None for a name or a unix socket."""
    if end is None:
        return None
    try:
        address = ip_address(end[0])
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
