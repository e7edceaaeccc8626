"""Rules for https: the requests that count as https, and plain requests that are still served."""

from dataclasses import dataclass

from starlette.types import Scope

from server.requests.addresses import Network, address_of, is_loopback


@dataclass(frozen=True, slots=True)
class HttpsRule:
    """Trust in a TLS socket, in the header of a named proxy, and in loopback during development.

    The server in front of this rule must not rewrite scheme and client on its own: uvicorn runs
    with `proxy_headers=False`, because it would trust the last of several values.
    """

    proxies: tuple[Network, ...] = ()
    development: bool = False

    def is_https(self, scope: Scope) -> bool:
        """Return whether the client used https, to us or to a trusted proxy."""
        if scope.get("scheme") == "https":
            return True
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-proto"]
        if len(said) != 1 or said[0].strip().lower() != b"https":
            return False
        peer = address_of(scope.get("client"))
        return peer is not None and any(peer in proxy for proxy in self.proxies)

    def permits_plain(self, scope: Scope) -> bool:
        """Return whether plain HTTP is served: in development, from loopback to loopback."""
        return (
            self.development
            and is_loopback(scope.get("client"))
            and is_loopback(scope.get("server"))
        )
