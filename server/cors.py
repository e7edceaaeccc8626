"""CORS: the origins whose web pages may call the API, and the headers for browsers."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from server.responses.errors import Answer, Headers

LOOPBACK_ORIGIN: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")
METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE"
ALLOWED_HEADERS: Final = b"Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-ID"
EXPOSED_HEADERS: Final = (
    b"ETag, X-Request-ID, Idempotent-Replayed, Location, Retry-After, Deprecation, Sunset,"
    b" X-Data-As-Of, RateLimit, RateLimit-Policy"
)
PREFLIGHT_KEPT_SECONDS: Final = 600
VARY: Final = (b"vary", b"Origin")


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins that may call: an explicit list, and in development every loopback origin."""

    allowed: frozenset[str] = frozenset()
    loopback: bool = False

    def allows(self, origin: str) -> bool:
        """Return whether pages of `origin`, written as `https://app.example`, may call."""
        return origin in self.allowed or (self.loopback and is_loopback(origin))


def is_loopback(origin: str) -> bool:
    """Return whether an origin is this machine, on any port."""
    return LOOPBACK_ORIGIN.fullmatch(origin) is not None


def headers_for(origins: Origins, request_headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the CORS headers of every answer to this request; only Vary if it is not allowed."""
    origin = allowed_origin(origins, request_headers)
    if origin is None:
        return [VARY]
    return [
        VARY,
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", EXPOSED_HEADERS),
    ]


def preflight(origins: Origins, request_headers: Iterable[tuple[bytes, bytes]]) -> Answer | None:
    """Return the answer to a preflight request; None if it is not a preflight that we allow."""
    lines = list(request_headers)
    if not any(name == b"access-control-request-method" for name, _ in lines):
        return None
    if allowed_origin(origins, lines) is None:
        return None
    headers = [
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", ALLOWED_HEADERS),
        (b"access-control-max-age", b"%d" % PREFLIGHT_KEPT_SECONDS),
    ]
    return Answer(204, headers, b"")


def allowed_origin(origins: Origins, lines: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return the Origin of a request if it is given once and allowed."""
    sent = [value for name, value in lines if name == b"origin"]
    if len(sent) == 1 and origins.allows(sent[0].decode("latin-1")):
        return sent[0]
    return None
