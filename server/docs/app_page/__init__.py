"""The web application: static files for browsers, which read the API of the same server."""

from collections.abc import Iterator
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

ROOT: Final = "/app/"
SUFFIXES: Final = (".html", ".css", ".js", ".mjs", ".json", ".svg")
# It runs only its own files, calls only its own server, and text never becomes script.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src 'self'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)


def page_files() -> dict[str, str]:
    """Return every file with its address; the page itself is at the root."""
    found = {f"{ROOT}{name}": file.read_text(encoding="utf-8") for name, file in walk(HERE)}
    return {ROOT: found.pop(f"{ROOT}index.html"), **found}


def walk(folder: Traversable, above: str = "") -> Iterator[tuple[str, Traversable]]:
    """Yield the files to serve in a folder, with their paths."""
    for each in sorted(folder.iterdir(), key=lambda found: found.name):
        if each.is_dir():
            yield from walk(each, f"{above}{each.name}/")
        elif each.name.endswith(SUFFIXES):
            yield f"{above}{each.name}", each


HERE: Final = files("server.docs.app_page")
