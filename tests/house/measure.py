"""Measurement of a tree: files, lines, functions and words.

`python -m tests.house.measure [ROOT ...]` prints a table with a column for each tree.
"""

import ast
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Sequence
from pathlib import Path
from statistics import quantiles
from typing import Final, NamedTuple

from tests import words

GENERATED: Final = ("handlers/bodies.py", "fonts/")
PROSE: Final = ("README.md", "CONTRIBUTING.md", "docs/ARCHITECTURE.md")
# Product packages by their last folder, which two trees have in common.
PRODUCT: Final = (
    "access", "accounting", "bank_files", "cli", "embedded", "handlers", "jobs", "pdf_files",
    "persistence", "rate_files", "server", "verify",
)  # fmt: skip
BESIDE: Final = ("bench", "clients")
Function = ast.FunctionDef | ast.AsyncFunctionDef


class Module(NamedTuple):
    """A tracked module of a tree."""

    name: str
    room: str
    path: Path
    tree: ast.Module
    lines: int


def read(root: Path) -> list[Module]:
    """Return the tracked Python modules of a tree."""
    listed = subprocess.check_output(["git", "ls-files", "*.py"], cwd=root, text=True)
    found = []
    for line in listed.splitlines():
        path = root / line
        if line in GENERATED or path.is_symlink() or not path.exists():
            continue
        text = path.read_text(encoding="utf-8")
        name = line.removesuffix(".py").replace("/", ".").removesuffix(".__init__")
        count = len(text.splitlines())
        found.append(Module(name, room_of(line), path, ast.parse(text), count))
    return found


def room_of(path: str) -> str:
    """Return the package of a module: `libraries/pdf_files/sheet.py` is in `pdf_files`."""
    folders = path.split("/")[:-1]
    if "tests" in folders:
        return "tests"
    return next((each for each in folders if each in (*PRODUCT, *BESIDE)), "tests")


def importers(modules: Sequence[Module]) -> dict[str, set[str]]:
    """Return, by module, the product modules that import it."""
    names = {module.name for module in modules}
    found: dict[str, set[str]] = defaultdict(set)
    for module in modules:
        for node in ast.walk(module.tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    target = f"{node.module}.{each.name}"
                    found[target if target in names else node.module].add(module.name)
    return found


def figures(root: Path) -> dict[str, str]:
    """Return the figures of a tree by their names."""
    modules = read(root)
    product = [each for each in modules if each.room in PRODUCT]
    found: dict[str, str] = {}
    files = Counter(each.room for each in modules)
    lines: Counter[str] = Counter()
    for each in modules:
        lines[each.room] += each.lines
    for room in (*PRODUCT, *BESIDE, "tests"):
        found[f"{room}: files / lines"] = f"{files[room]} / {lines[room]:,}"
    found["product: files / lines"] = f"{len(product)} / {sum(each.lines for each in product):,}"
    found |= _sizes(product)
    by = importers(product)
    single = [each for each in product if len(by[each.name]) == 1 and "migrations" not in each.name]
    found["modules with one user"] = str(len(single))
    for name in PROSE:
        path = root / name
        found[f"words of {name}"] = f"{len(path.read_text().split()):,}" if path.exists() else "-"
    found["breaches of docs/writing.md"] = str(
        sum(1 for each in modules if each.room != "tests" for _ in words.complaints(each.path))
    )
    return found


def _sizes(modules: Sequence[Module]) -> dict[str, str]:
    functions = [
        node.end_lineno - node.lineno + 1
        for each in modules
        for node in ast.walk(each.tree)
        if isinstance(node, Function) and node.end_lineno
    ]
    sizes = [each.lines for each in modules if "migrations" not in each.name]
    return {
        "function lines: p50 / p90 / max": _spread(functions),
        "functions": f"{len(functions):,}",
        "module lines: p50 / p90 / max": _spread(sizes),
        "modules of at most 40 lines": str(sum(size <= 40 for size in sizes)),
    }


def _spread(values: Sequence[int]) -> str:
    tenths = quantiles(values, n=10)
    return f"{tenths[4]:.0f} / {tenths[8]:.0f} / {max(values)}"


def main(roots: Sequence[str]) -> None:
    """Print the figures of trees side by side."""
    columns = [figures(Path(root).resolve()) for root in roots or ["."]]
    for name in columns[-1]:
        cells = "".join(f"{column.get(name, '-'):>22}" for column in columns)
        sys.stdout.write(f"{name:<44}{cells}\n")


if __name__ == "__main__":
    main(sys.argv[1:])
