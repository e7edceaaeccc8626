"""The address of an HTTP proxy, as an operator names it. No HTTP library is loaded for it."""

from base64 import b64encode
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit


@dataclass(frozen=True, slots=True)
class Proxy:
    """An HTTP proxy, with its credentials as the value of a header, if it needs any."""

    host: str
    port: int
    authorization: str | None = field(default=None, repr=False)


def parse_proxy(url: str) -> Proxy:
    """Parse http://user:password@host:port; raise ValueError for any other form."""
    parts = urlsplit(url)
    rest = (parts.path.strip("/"), parts.query, parts.fragment)
    if parts.scheme != "http" or not parts.hostname or not parts.port or any(rest):
        raise ValueError("a proxy is written http://host:port")
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = f"Basic {b64encode(pair.encode()).decode()}"
    return Proxy(parts.hostname, parts.port, authorization)
