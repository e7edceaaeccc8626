"""The pages beside the API: the contract in its forms, the reference and the web application."""

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from starlette.types import Scope

from server.contract.document import read_source
from server.docs import app_page
from server.docs.missing_page import is_wanted, missing_page
from server.docs.page_file import Pages
from server.docs.reference import ROOT
from server.docs.rendered_pages import RenderedPages, needs_contract
from server.docs.stored_pages import StoredPage
from server.http.edge import Page
from server.http.errors import Answer

# The prefixes of all page addresses but the front page.
AHEAD: Final = (ROOT, app_page.ROOT, "/openapi.")

Result = TypeVar("Result")


class Documentation:
    """The contract in its forms, the reference, the web application and a front page.

    `written` returns the pages once another process has written them to the disk, if there is one.
    A page that is requested before is rendered alone, in a thread, which takes up to a second.
    `contract` returns the contract without parsing its source.
    """

    def __init__(
        self,
        source: bytes,
        written: Callable[[], Pages | None] | None = None,
        contract: Callable[[], dict[str, Any]] | None = None,
    ) -> None:
        self.source = source
        self.contract = contract
        self.written = written
        self.stored: Pages | None = None
        self.rendered: Pages | None = None
        # One thread: requests that arrive while it loads the contract share it.
        self.renderer = ThreadPoolExecutor(1, "pages")

    async def find(self, path: str, scope: Scope) -> Page | None:
        """Return the page at an address (without trailing slash), or None.

        A browser gets a page for an unknown address of the reference, too.
        """
        if path and not f"{path}/".startswith(AHEAD):
            return None
        page = await self.at(path, at, scope)
        if page is not None:
            return partial(answered, page)
        if not (path.startswith(ROOT) and is_wanted(scope)):
            return None
        return partial(constant, await self.at(path, missing_page, scope))

    async def at(self, path: str, read: Callable[[Pages, str], Result], scope: Scope) -> Result:
        """Return what `read` finds for an address in the stored pages, or in pages rendered now."""
        if self.stored is None and self.written is not None:
            self.stored = self.written()
        if self.stored is not None:
            self.rendered = None  # It holds the contract.
            return read(self.stored, path)
        if "deadline" in scope:
            scope["deadline"].reschedule(None)
        if self.rendered is None:
            self.rendered = RenderedPages(self.source, self.contract)
        thread = self.renderer if needs_contract(path) else None  # Others need not wait for it.
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(thread, read, self.rendered, path)


async def constant(answer: Answer, _scope: Scope) -> Answer:
    """Return an answer that is complete."""
    return answer


def at(pages: Pages, path: str) -> StoredPage | None:
    """Return the page or file at an address without its trailing slash."""
    return pages.get(f"{path}/") or pages.get(path)


async def answered(page: StoredPage, scope: Scope) -> Answer:
    """Return the answer with a page, in the form that the edge expects."""
    return page.answer(scope["headers"])


def publish(folder: Path) -> None:
    """Write the pages that describe the API to a folder, to be served as the root of a host."""
    for address, page in RenderedPages(read_source()).items():
        if address.startswith(app_page.ROOT):
            continue
        file = folder / address.removeprefix("/")
        if address.endswith("/"):
            file /= "index.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(page.plain)


if __name__ == "__main__":
    publish(Path(sys.argv[1]))
