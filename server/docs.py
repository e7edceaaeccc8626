"""The pages that tell what the API is: the contract itself as YAML and JSON, and the reference."""

import asyncio
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from server.contract import parse, read_source
from server.edge import Page
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


Pages = dict[str, StoredPage]


class Documentation:
    """Serve the contract in three forms and a front page, all written once, in a thread."""

    def __init__(self, document: Mapping[str, Any], source: bytes) -> None:
        self.document = document
        self.source = source
        self.writing: asyncio.Future[Pages] | None = None

    def begin(self) -> asyncio.Future[Pages]:
        """Have the pages written, unless they are; the first reader begins it at the latest."""
        if self.writing is None:
            written = asyncio.to_thread(write_pages, self.document, self.source)
            self.writing = asyncio.ensure_future(written)
        return self.writing

    def pages(self) -> dict[str, Page]:
        """Give the addresses and what answers them, for `server/edge.py`."""
        addresses = ("/", "/openapi.yaml", "/openapi.json", "/docs/")
        return {address: partial(self.answer, address) for address in addresses}

    async def answer(self, address: str, asked: Headers) -> Answer:
        """Answer one page; readers that come while it is written wait together."""
        written = await asyncio.shield(self.begin())  # One that hangs up must not stop it.
        return written[address].answer(asked)


def write_pages(document: Mapping[str, Any], source: bytes) -> Pages:
    """Write every page; that takes half a second, for 1.7 MB of reference."""
    from server.reference.page import policy, render  # Loads what no other request needs.

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

    source = read_source()
    document = parse(source)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.html").write_text(render(document, contract="openapi"), encoding="utf-8")
    (folder / "openapi.yaml").write_bytes(source)
    (folder / "openapi.json").write_bytes(json_of(document))


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
