"""The documentation pages, each rendered when it is first requested.

A server needs them only until they are on disk (`page_file.py`).
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from pathlib import PurePath
from typing import Any, Final

import orjson

from server.contract.document import parse
from server.contract.published import published, without_notes
from server.docs import app_page
from server.docs.reference import ROOT
from server.docs.reference.built_files import ADDRESS as DOWNLOADS
from server.docs.reference.built_files import BuiltFile, built_files
from server.docs.stored_pages import HTML, StoredPage, store

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
MEDIA_TYPES: Final = {
    ".css": b"text/css; charset=utf-8",
    ".js": b"text/javascript; charset=utf-8",
    ".mjs": b"text/javascript; charset=utf-8",
    ".cjs": b"text/javascript; charset=utf-8",
    ".yaml": b"application/yaml",
    ".json": b"application/json",
    ".svg": b"image/svg+xml",
}
JSON: Final = b"application/json"


class RenderedPages(Mapping[str, StoredPage]):
    """The pages of a contract by address. A page that was rendered is kept.

    The groups load what they need: the web application and the front page need no contract, and no
    form of the contract needs the reference. `contract` returns the parsed source.
    """

    def __init__(self, source: bytes, contract: Callable[[], dict[str, Any]] | None = None) -> None:
        self._source = source
        self._contract = contract or partial(parse, source)
        self._kept: dict[str, StoredPage] = {}

    def __getitem__(self, address: str) -> StoredPage:
        page = self._kept.get(address)
        if page is None:
            page = self._kept[address] = self._render(address)
        return page

    def __iter__(self) -> Iterator[str]:
        yield "/"
        yield from self.forms
        yield from self._built
        yield from self._reference
        yield from self._application

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def _render(self, address: str) -> StoredPage:
        """Render a page; raises KeyError where there is none."""
        if address.startswith(app_page.ROOT):
            return policed(address, self._application[address], app_page.POLICY)
        if address == "/":
            return store(HTML, FRONT)
        if address.startswith(DOWNLOADS) and address in self._built:
            return self._built[address].page()
        if address.startswith(ROOT):
            from server.docs.reference.site import POLICY

            return policed(address, self._reference[address](), POLICY)
        return self.forms[address]()

    @cached_property
    def forms(self) -> dict[str, Callable[[], StoredPage]]:
        """The forms of the contract, each with the function that renders it."""
        # This module loads code that no other request needs; so do those of the next properties.
        from server.docs.profiles import PROFILES

        return {
            "/openapi.yaml": lambda: store(b"application/yaml", published(self._source)),
            "/openapi.json": lambda: store(JSON, json_of(self._with_examples)),
            **{
                f"/openapi.{name}.json": partial(self._profile, derive)
                for name, derive in PROFILES.items()
            },
        }

    def _profile(self, derive: Callable[[dict[str, Any]], Mapping[str, Any]]) -> StoredPage:
        return store(JSON, json_of(derive(self._with_examples)))

    @cached_property
    def _application(self) -> dict[str, str]:
        return app_page.page_files()

    @cached_property
    def _reference(self) -> dict[str, Callable[[], str]]:
        from server.docs.reference.site import Site

        return dict(Site(self._document, list(self._built.values())).files())

    @cached_property
    def _built(self) -> dict[str, BuiltFile]:
        return {each.address: each for each in built_files(self._source)}

    @cached_property
    def _with_examples(self) -> dict[str, Any]:
        from server.docs.own_examples import with_own_examples

        return with_own_examples(self._document)

    @cached_property
    def _document(self) -> dict[str, Any]:
        document: dict[str, Any] = without_notes(self._contract())
        return document


def needs_contract(path: str) -> bool:
    """Return whether the page at an address, or none, is known only from the contract."""
    return path != "" and not f"{path}/".startswith(app_page.ROOT)


def policed(address: str, content: str, policy: str) -> StoredPage:
    """Store a page or an asset of pages with a Content-Security-Policy header."""
    line = (b"content-security-policy", f"{policy}; frame-ancestors 'none'".encode())
    return store(MEDIA_TYPES.get(PurePath(address).suffix, HTML), content.encode(), line)


def json_of(document: Mapping[str, Any]) -> bytes:
    """Encode the contract as JSON."""
    return orjson.dumps(document, default=str, option=orjson.OPT_NON_STR_KEYS)
