"""The parts of a URL that a request may be sent to, and the reasons to refuse one.

The URL is parsed once, by one strict pattern, and its parts are passed on. No other parser reads it
later, so no two parsers can disagree about its host.
"""

import re
from dataclasses import dataclass
from typing import Final, Literal

Reason = Literal["malformed", "scheme", "credentials", "port", "unresolvable", "address"]

_URL: Final = re.compile(
    r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]*)://(?P<user>[^/?#@]*@)?"
    r"(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)"
    r"(?::(?P<port>[0-9]{1,5}))?"
    r"(?P<path>/[!-\"$-;=?-~]*|\?[!-\"$-;=?-~]*)?"
)
_LONGEST_HOST: Final = 253
_HTTPS_PORT, _FIRST_FREE_PORT, _LAST_PORT = 443, 1024, 65535


class RefusedUrl(Exception):
    """A URL to which no request may be sent; the message says why, without a resolved address."""

    def __init__(self, reason: Reason, message: str, kind: str | None = None) -> None:
        super().__init__(message)
        self.reason = reason
        self.kind = kind


@dataclass(frozen=True, slots=True)
class Target:
    """A URL in parts; `path` includes the query."""

    scheme: Literal["https", "http"]
    host: str
    port: int
    path: str

    @property
    def host_header(self) -> str:
        """The value of the header Host."""
        named = f"[{self.host}]" if ":" in self.host else self.host
        is_usual = self.port == (_HTTPS_PORT if self.scheme == "https" else 80)
        return named if is_usual else f"{named}:{self.port}"


def parse(url: str, *, plain_http: bool = False) -> Target:
    """Parse a URL; raise RefusedUrl for its form, scheme, credentials or port.

    `plain_http` accepts http as well; only a loopback address may be reached that way.
    """
    found = _URL.fullmatch(url)
    if found is None or not _is_host(found["host"]):
        raise RefusedUrl(
            "malformed",
            "The URL must be an absolute https address, in ASCII and without a fragment.",
        )
    scheme = found["scheme"].lower()
    if scheme != "https" and not (scheme == "http" and plain_http):
        raise RefusedUrl("scheme", "The URL must begin with https://.")
    if found["user"] is not None:
        raise RefusedUrl("credentials", "The URL must not contain credentials.")
    port = int(found["port"] or (_HTTPS_PORT if scheme == "https" else 80))
    if port != _HTTPS_PORT and not _FIRST_FREE_PORT <= port <= _LAST_PORT:
        raise RefusedUrl("port", "The port must be 443, or from 1024 to 65535.")
    path = found["path"] or "/"
    return Target(
        "https" if scheme == "https" else "http",
        found["host"].strip("[]").lower(),
        port,
        path if path.startswith("/") else f"/{path}",
    )


def _is_host(host: str) -> bool:
    labels = host.split(".")
    sound = all(each and not each.startswith("-") and not each.endswith("-") for each in labels)
    return len(host) <= _LONGEST_HOST and (sound or host.startswith("["))
