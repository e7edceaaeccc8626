"""The common headers of every answer: the request id and the security headers."""

import re
from collections.abc import Iterable
from typing import Final
from uuid import uuid4

from server.responses.errors import Headers

REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
STANDING: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
# HTML pages have their own; everything else may be neither cached nor framed.
UNLESS_GIVEN: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
HTTPS_ONLY: Final = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
NEVER_SENT: Final = frozenset({b"server"})


def request_id_of(request_headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the `X-Request-ID` of the client if it is valid and given once, else a new id."""
    sent = [value for name, value in request_headers if name == b"x-request-id"]
    if len(sent) == 1 and REQUEST_ID.fullmatch(sent[0]):
        return sent[0].decode("ascii")
    return uuid4().hex


def sealed(headers: Iterable[tuple[bytes, bytes]], request_id: str, *, secure: bool) -> Headers:
    """Return the headers of an answer together with the common headers."""
    lines = [(name, value) for name, value in headers if name.lower() not in NEVER_SENT]
    given = {name.lower() for name, _ in lines}
    lines += [line for line in UNLESS_GIVEN if line[0] not in given]
    lines += STANDING
    lines.append((b"x-request-id", request_id.encode("ascii")))
    if secure:
        lines.append(HTTPS_ONLY)
    return lines
