"""The answer for an address of the reference that has no page: a page with the search.

The search is filled with the words of the address, and the script of the page shows its results.
"""

import re
from typing import Final

from markupsafe import escape
from starlette.types import Scope
from werkzeug.http import parse_accept_header

from server.docs.page_file import Pages
from server.docs.reference import ROOT
from server.docs.stored_pages import HTML
from server.http.errors import Answer

ADDRESS: Final = f"{ROOT}404.html"  # The name that hosts of static files give such a page.
FIELD: Final = '<input id="query"'
WORD: Final = re.compile(r"[^\W_]+")
FOLDERS: Final = frozenset({"docs", "guides", "operations", "errors", "objects", "index", "html"})
READ_CHARACTERS: Final = 100


def is_wanted(scope: Scope) -> bool:
    """Return whether a request is that of a browser, which names HTML; others get an error."""
    lines = [value for name, value in scope["headers"] if name == b"accept"]
    accepted = parse_accept_header(b", ".join(lines).decode("latin-1"))
    names_it = any(name == "text/html" and quality > 0 for name, quality in accepted)
    return scope["method"] == "GET" and names_it


def missing_page(pages: Pages, path: str) -> Answer:
    """Return 404 with a page whose search has the words of the address."""
    stored = pages[ADDRESS]
    words = escape(" ".join(words_of(path)))
    html = bytes(stored.plain).decode().replace(FIELD, f'{FIELD} value="{words}"', 1)
    content = html.encode()
    length = (b"content-length", b"%d" % len(content))
    return Answer(
        404, [*stored.headers, (b"content-type", HTML), length], content, "route_not_found"
    )


def words_of(path: str) -> list[str]:
    """Return the words of an address; `/docs/guides/web-hooks` has "web" and "hooks"."""
    words = WORD.findall(path.removeprefix(ROOT)[:READ_CHARACTERS].lower())
    return [word for word in words if word not in FOLDERS] or words
