"""Only its seam module knows what a library does not promise; the others import what it does.

import-linter sees no deeper than the name of a library, so this is a test.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_packaging import PACKAGES, ROOT

SEAMS = {
    "connexion": ROOT / "server" / "connexion_seam.py",
    "uvicorn": ROOT / "server" / "uvicorn_seam.py",
}
DOCUMENTED = {
    "connexion.ConnexionMiddleware",
    "connexion.resolver.Resolver",
    "connexion.security.AbstractSecurityHandler",
    "uvicorn.Config",
}


def promised_by_nobody(source: str, file: Path) -> Iterator[str]:
    """What a module imports of these libraries, by name, that is neither documented nor its own."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] in SEAMS and file != SEAMS[parts[0]] and name not in DOCUMENTED:
                yield name
            if parts[0] == "starlette" and any(part.startswith("_") for part in parts):
                yield name


class TestImports:
    @pytest.mark.parametrize("package", PACKAGES)
    def test_nothing_is_imported_past_a_seam(self, package: str) -> None:
        found = {
            file.name: names
            for file in ROOT.joinpath(*package.split(".")).glob("*.py")
            if (names := list(promised_by_nobody(file.read_text(), file)))
        }
        assert found == {}

    @pytest.mark.parametrize(
        "line",
        [
            "from connexion.middleware.abstract import RoutedAPI",
            "import connexion",
            "import uvicorn.server as server",
            "from uvicorn._types import ASGI3Application",
            "from starlette._utils import is_async_callable",
        ],
    )
    def test_one_that_is_would_be_found(self, line: str) -> None:
        late = f"def later():\n    {line}\n"
        assert list(promised_by_nobody(late, ROOT / "server" / "app.py"))
