"""The pages beside the API: the contract in its forms, the reference and the web application."""

import asyncio
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path, PurePath
from time import monotonic, sleep
from typing import Any, Final

import orjson
from starlette.types import Scope

from server.contract.document import parse, read_source
from server.contract.published import published
from server.docs import app_page
from server.docs.page_file import Pages
from server.docs.reference import ROOT
from server.docs.stored_pages import StoredPage, store
from server.http.edge import Page
from server.http.errors import Answer

# A browser is redirected to the reference; a user of curl reads its address.
FRONT: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/">
<title>Accounting API</title>
<p>This is an accounting API. Its reference is at <a href="docs/">/docs/</a>,
its contract at <a href="openapi.yaml">/openapi.yaml</a>.</p>
</html>
"""

LONGEST_WAIT_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 0.05

# The prefixes of all page addresses but the front page.
AHEAD: Final = (ROOT, app_page.ROOT, "/openapi.")
MEDIA_TYPES: Final = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".mjs": b"text/javascript; charset=utf-8",
    ".json": b"application/json",
    ".svg": b"image/svg+xml",
}
HTML: Final = b"text/html; charset=utf-8"


class Documentation:
    """The contract in its forms, the reference, the web application and a front page.

    `written` returns the pages once another process has written them, if there is one.
    """

    def __init__(self, source: bytes, written: Callable[[], Pages | None] | None = None) -> None:
        self.source = source
        self.written = written
        self.given_up_at: float | None = None  # Set by the first request for a page.
        self.getting: asyncio.Future[Pages] | None = None

    async def find(self, path: str) -> Page | None:
        """Return the page at an address (without trailing slash), or None."""
        if path and not f"{path}/".startswith(AHEAD):
            return None
        if self.given_up_at is None:
            self.given_up_at = monotonic() + LONGEST_WAIT_SECONDS
        pages = await self.pages()
        stored = pages.get(f"{path}/") or pages.get(path)
        return None if stored is None else partial(answered, stored)

    async def pages(self) -> Pages:
        """Return the pages; readers that arrive during the first load share its result."""
        if self.getting is None:
            self.getting = asyncio.ensure_future(asyncio.to_thread(self.get))
        return await asyncio.shield(self.getting)  # A disconnect must not cancel it.

    def get(self) -> Pages:
        """Return the pages; write them if no other process has done so, which takes 40 MB.

        Workers whose parent died and was replaced have no such process. They wait no longer than
        LONGEST_WAIT_SECONDS after the first request for a page.
        """
        while self.written is not None:
            pages = self.written()
            if pages is not None:
                return pages
            if self.given_up_at is not None and monotonic() >= self.given_up_at:
                break
            sleep(LOOK_SECONDS)
        return write_pages(self.source)


async def answered(page: StoredPage, scope: Scope) -> Answer:
    """Return the answer with a page, in the form that the edge expects."""
    return page.answer(scope["headers"])


def write_pages(source: bytes) -> Pages:
    """Render every page; that takes a second, for five hundred pages of reference."""
    return written_reference(source) | policed(app_page.page_files(), app_page.POLICY)


def written_reference(source: bytes) -> dict[str, StoredPage]:
    """Render the pages that describe the API."""
    # These modules load code that no other request needs.
    from server.docs.own_examples import with_own_examples
    from server.docs.profiles import PROFILES
    from server.docs.reference.site import POLICY, site

    source = published(source)
    document = parse(source)
    own = with_own_examples(document)
    pages = {
        "/": store(HTML, FRONT),
        "/openapi.yaml": store(b"application/yaml", source),
        "/openapi.json": store(b"application/json", json_of(own)),
    }
    for name, derive in PROFILES.items():
        pages[f"/openapi.{name}.json"] = store(b"application/json", json_of(derive(own)))
    return pages | policed(site(document), POLICY)


def policed(contents: Mapping[str, str], policy: str) -> dict[str, StoredPage]:
    """Store pages and their assets with a Content-Security-Policy header."""
    line = (b"content-security-policy", f"{policy}; frame-ancestors 'none'".encode())
    return {
        address: store(MEDIA_TYPES.get(PurePath(address).suffix, HTML), content.encode(), line)
        for address, content in contents.items()
    }


def json_of(document: Mapping[str, Any]) -> bytes:
    """Encode the contract as JSON."""
    return orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)


def publish(folder: Path) -> None:
    """Write the pages that describe the API to a folder, to be served as the root of a host."""
    for address, page in written_reference(read_source()).items():
        file = folder / address.removeprefix("/")
        if address.endswith("/"):
            file /= "index.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page.plain)


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
