"""The imports of undocumented names of Connexion, uvicorn and Starlette.

Only adapter modules may import them. import-linter sees only the names of libraries, so this is a
test.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.test_packaging import PACKAGES, ROOT

ADAPTERS = {
    "connexion": ROOT / "server" / "http" / "connexion_adapter.py",
    "uvicorn": ROOT / "server" / "process" / "uvicorn_adapter.py",
}
DOCUMENTED = {
    "connexion.ConnexionMiddleware",
    "connexion.resolver.Resolver",
    "connexion.security.AbstractSecurityHandler",
    "uvicorn.Config",
}


def promised_by_nobody(source: str, file: Path) -> Iterator[str]:
    """Yield the undocumented names that a module imports of these libraries."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom):
            names = [f"{node.module}.{each.name}" for each in node.names]
        elif isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] in ADAPTERS and file != ADAPTERS[parts[0]] and name not in DOCUMENTED:
                yield name
            if parts[0] == "starlette" and any(part.startswith("_") for part in parts):
                yield name


class TestImports:
    @pytest.mark.parametrize("package", PACKAGES)
    def test_a_package_imports_only_documented_names(self, package: str) -> None:
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
    def test_an_import_of_an_undocumented_name_is_found(self, line: str) -> None:
        late = f"def later():\n    {line}\n"
        assert list(promised_by_nobody(late, ROOT / "server" / "app.py"))
