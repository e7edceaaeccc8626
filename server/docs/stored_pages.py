"""Pages that do not change while a server runs: compressed once, with an ETag.

A client that sends the current ETag gets 304 without the page.
"""

import gzip
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from werkzeug.http import parse_accept_header, parse_etags

from server.http.errors import Answer, Headers

HTML: Final = b"text/html; charset=utf-8"
KEPT: Final = (b"cache-control", b"max-age=60")
VARY: Final = (b"vary", b"Accept-Encoding")


@dataclass(frozen=True, slots=True)
class StoredPage:
    """A page, plain and compressed; `tag` is the ETag of the plain form, without quotes.

    Both forms are views, so that no answer has a copy of them. A file that is compressed by itself
    has an empty compressed form, and is always sent plain.
    """

    media_type: bytes
    headers: Headers
    plain: memoryview
    packed: memoryview
    tag: str

    def answer(self, asked: Headers) -> Answer:
        """Answer a request with these headers: 200, or 304 if the client has the page.

        A browser replaces its stored headers with those of a 304, so both answers have them.
        """
        accepted = parse_accept_header(_sent(asked, b"accept-encoding"))
        packed = len(self.packed) > 0 and accepted.quality("gzip") > 0
        tag = f"{self.tag}-gzip" if packed else self.tag
        lines = [KEPT, VARY, (b"etag", f'"{tag}"'.encode()), *self.headers]
        if parse_etags(_sent(asked, b"if-none-match")).contains_weak(tag):
            return Answer(304, lines, b"")
        content = self.packed if packed else self.plain
        lines += [(b"content-type", self.media_type), (b"content-length", b"%d" % len(content))]
        if packed:
            lines.append((b"content-encoding", b"gzip"))
        return Answer(200, lines, content)


def store(media_type: bytes, content: bytes, *headers: tuple[bytes, bytes]) -> StoredPage:
    """Compress and tag a page; the bytes are the same in every worker."""
    return _stored(media_type, content, gzip.compress(content, mtime=0), headers)


def store_file(media_type: bytes, content: bytes, *headers: tuple[bytes, bytes]) -> StoredPage:
    """Tag a file that is sent as it is."""
    return _stored(media_type, content, b"", headers)


def _stored(
    media_type: bytes, content: bytes, packed: bytes, headers: Iterable[tuple[bytes, bytes]]
) -> StoredPage:
    tag = hashlib.sha256(content).hexdigest()[:32]
    return StoredPage(media_type, [*headers], memoryview(content), memoryview(packed), tag)


def _sent(lines: Iterable[tuple[bytes, bytes]], wanted: bytes) -> str:
    return ", ".join(value.decode("latin-1") for name, value in lines if name == wanted)
