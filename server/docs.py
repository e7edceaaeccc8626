"""The pages that tell what the API is: the contract itself as YAML and JSON, and the reference."""

import asyncio
import os
import pickle
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic, sleep
from typing import Any, Final

import orjson

from server.contract import parse, read_source
from server.edge import Page
from server.published import published
from server.responses.errors import Answer, Headers
from server.stored_pages import StoredPage, store

# A browser goes on to the reference by itself; a person with curl reads where it is.
FRONT: Final = b"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url=docs/">
<title>Accounting API</title>
<p>This is an accounting API. Its reference is at <a href="docs/">/docs/</a>,
its contract at <a href="openapi.yaml">/openapi.yaml</a>.</p>
</html>
"""

LENGTH_BYTES: Final = 8
LONGEST_WAIT_SECONDS: Final = 10.0
LOOK_SECONDS: Final = 0.05

Pages = dict[str, StoredPage]


class Documentation:
    """Serve the contract in three forms and a front page.

    `written` gives the pages as soon as another process has written them, where one does.
    """

    def __init__(self, source: bytes, written: Callable[[], Pages | None] | None = None) -> None:
        self.source = source
        self.written = written
        self.getting: asyncio.Future[Pages] | None = None

    def pages(self) -> dict[str, Page]:
        """Give the addresses and what answers them, for `server/edge.py`."""
        addresses = ("/", "/openapi.yaml", "/openapi.json", "/docs/")
        return {address: partial(self.answer, address) for address in addresses}

    async def answer(self, address: str, asked: Headers) -> Answer:
        """Answer one page; readers that come while the first gets it wait together."""
        if self.getting is None:
            self.getting = asyncio.ensure_future(asyncio.to_thread(self.get))
        pages = await asyncio.shield(self.getting)  # One that hangs up must not stop it.
        return pages[address].answer(asked)

    def get(self) -> Pages:
        """Give the pages; write them if nobody else does, which takes 40 MB."""
        deadline = monotonic() + LONGEST_WAIT_SECONDS
        while self.written is not None and monotonic() < deadline:
            pages = self.written()
            if pages is not None:
                return pages
            sleep(LOOK_SECONDS)
        return write_pages(self.source)


class SharedPages:
    """Pages that one process writes for all that are forked from the one that made this."""

    def __init__(self) -> None:
        with TemporaryFile() as file:  # It has no name, and goes with the last of them.
            self._file = os.dup(file.fileno())

    def write(self, pages: Pages) -> None:
        """Give them to the others."""
        content = pickle.dumps(pages)
        os.pwrite(self._file, content, LENGTH_BYTES)
        os.pwrite(self._file, len(content).to_bytes(LENGTH_BYTES), 0)  # Now it is whole.

    def read(self) -> Pages | None:
        """Return them once they are written."""
        length = int.from_bytes(os.pread(self._file, LENGTH_BYTES, 0))
        if length == 0:
            return None
        pages: Pages = pickle.loads(os.pread(self._file, length, LENGTH_BYTES))
        return pages


def write_pages(source: bytes) -> Pages:
    """Write every page; that takes a second, for 1.7 MB of reference."""
    from server.reference.page import policy, render  # Loads what no other request needs.

    source = published(source)
    document = parse(source)
    policed = (b"content-security-policy", f"{policy()}; frame-ancestors 'none'".encode())
    reference = render(document).encode("utf-8")
    return {
        "/": store(b"text/html; charset=utf-8", FRONT),
        "/openapi.yaml": store(b"application/yaml", source),
        "/openapi.json": store(b"application/json", json_of(document)),
        "/docs/": store(b"text/html; charset=utf-8", reference, policed),
    }


def json_of(document: Mapping[str, Any]) -> bytes:
    """Write the contract as JSON."""
    return orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)


def publish(folder: Path) -> None:
    """Write the reference and the contract into a folder, to be served as they are."""
    from server.reference.page import render

    source = published(read_source())
    document = parse(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(render(document, contract="openapi"), encoding="utf-8")
    (folder / "openapi.yaml").write_bytes(source)
    (folder / "openapi.json").write_bytes(json_of(document))


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
