"""The names that each test mentions in its texts and keywords, read from the source."""

import ast
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
UNDIRECTED = ("model/", "fuzz/")


@dataclass(frozen=True)
class KnownTest:
    """A test, with its own texts and those of its helpers.

    Its name is relative to `tests/`, or to the root for a test of a library or a tool. Its helpers
    are the fixtures, functions and tables of its module that it uses.
    """

    name: str
    module: str
    group: str
    said: frozenset[str]
    said_by_others: frozenset[str]


def find(places: Sequence[str], name: str) -> list[KnownTest]:
    """Return the tests that mention a name, the best first.

    `places` are modules and single tests; single tests come first. The last part of a dotted name
    must be mentioned. A test is better if it also mentions the other parts, and if it mentions the
    name without a helper.
    """
    *above, leaf = name.split(".")
    scored = []
    for place, each in enumerate(at(places)):
        said = each.said | each.said_by_others
        if leaf in said:
            near = sum(part in said for part in above)
            rank = places.index(each.name) if each.name in places else len(places)
            scored.append((rank, -near, leaf not in each.said, place, each))
    return [each for *_, each in sorted(scored, key=lambda found: found[:-1])]


def of_operation(name: str) -> list[KnownTest]:
    """Return the tests of an operation, by the name of their class.

    The tests of the module that has most of them come first.
    """
    group = "Test" + "".join(part.title() for part in name.split("_"))
    found = [each for each in known_tests().values() if each.group == group]
    many = Counter(each.module for each in found)
    return sorted(found, key=lambda each: -many[each.module])


def at(places: Sequence[str]) -> Iterator[KnownTest]:
    """Return the tests at some places, in their order."""
    for place in places:
        yield from at_one(place)


@cache
def at_one(place: str) -> tuple[KnownTest, ...]:
    return tuple(
        each for each in known_tests().values() if each.name == place or fnmatch(each.module, place)
    )


@cache
def known_tests() -> dict[str, KnownTest]:
    """Return every test in a class, by its name."""
    found: dict[str, KnownTest] = {}
    beside = ROOT.glob("*/*/tests/**/test_*.py")
    for path in sorted([*TESTS.rglob("test_*.py"), *beside]):
        module = path.relative_to(TESTS if TESTS in path.parents else ROOT).as_posix()
        if not module.startswith(UNDIRECTED):
            found |= {each.name: each for each in read_module(module, path.read_text("utf-8"))}
    return found


def read_module(module: str, text: str) -> Iterator[KnownTest]:
    """Yield the tests of a module."""
    tree = ast.parse(text)
    helpers: dict[str, ast.AST] = {name: node for node in tree.body for name in names_of(node)}
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    for group in classes.values():
        if not group.name.startswith("Test"):
            continue
        own = functions_of(group, classes)
        for name, node in own.items():
            if name.startswith("test_"):
                others = called(node, {**helpers, **own}) - {node}
                by_others = frozenset().union(*(said_in(other) for other in others))
                whole = f"{module}::{group.name}::{name}"
                yield KnownTest(whole, module, group.name, said_in(node), by_others)


def functions_of(group: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> dict[str, ast.AST]:
    """Return the functions of a class and of its base classes in the same module."""
    found: dict[str, ast.AST] = {}
    for base in reversed(group.bases):
        if isinstance(base, ast.Name) and base.id in classes:
            found |= functions_of(classes[base.id], classes)
    return found | {node.name: node for node in group.body if isinstance(node, ast.FunctionDef)}


def names_of(node: ast.AST) -> list[str]:
    """Return the names that a statement of a module defines."""
    if isinstance(node, ast.FunctionDef):
        return [node.name]
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def called(node: ast.AST, helpers: dict[str, ast.AST]) -> set[ast.AST]:
    """Return the helpers that a test uses, directly or through other helpers."""
    found: set[ast.AST] = set()
    waiting = [node]
    while waiting:
        for part in ast.walk(waiting.pop()):
            name = getattr(part, "id", None) or getattr(part, "arg", None)
            helper = helpers.get(name) if isinstance(name, str) else None
            if helper is not None and helper not in found:
                found.add(helper)
                waiting.append(helper)
    return found


def said_in(node: ast.AST) -> frozenset[str]:
    """Return the texts in a piece of code, and the names of its keywords."""
    texts = {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }
    keywords = {part.arg for part in ast.walk(node) if isinstance(part, ast.keyword) and part.arg}
    return frozenset(texts | keywords)
