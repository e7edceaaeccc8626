"""A mutation test: it changes the product in one place at a time, and counts undetected changes.

`python -m tests.house.mutants --of accounting --by tests/accounting --count 600 --seed 1` selects
mutants by a hash of their names, so a later run selects the same ones after a move. It runs only
the tests that execute the changed line, and prints the surviving mutants.
"""

import argparse
import ast
import hashlib
import json
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Final, NamedTuple

from coverage import CoverageData

ROOT: Final = Path(__file__).parents[2]
PLUGIN: Final = "tests.house.contexts"
MOST_TESTS: Final = 40
PURE: Final = ("tests/accounting", "tests/access")
TIMEOUT_SECONDS: Final = 120
COMPARED: Final[Mapping[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In,
}  # fmt: skip
COMPUTED: Final[Mapping[type[ast.operator], type[ast.operator]]] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mult,
    ast.Div: ast.Mult, ast.Mod: ast.Add,
}  # fmt: skip


class Mutant(NamedTuple):
    """A change of a function; `place` counts the places of the function that can change."""

    path: str
    function: str
    place: int
    line: int
    text: str

    @property
    def name(self) -> str:
        """The name that stays when the function moves to another module."""
        return f"{self.function}#{self.place}"


def places(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a function that can be mutated, in order."""
    return filter(can_change, ast.walk(function))


def can_change(node: ast.AST) -> bool:
    """Return whether `mutate` changes a node."""
    match node:
        case ast.Compare():
            return type(node.ops[0]) in COMPARED
        case ast.BinOp():
            return type(node.op) in COMPUTED
        case ast.UnaryOp():
            return isinstance(node.op, ast.Not | ast.USub)
        case ast.Constant():
            return type(node.value) in (int, bool)
    return isinstance(node, ast.BoolOp | ast.IfExp | ast.If)


def mutate(node: ast.AST) -> None:
    """Change a node in place."""
    match node:
        case ast.Compare():
            node.ops[0] = COMPARED[type(node.ops[0])]()
        case ast.BinOp():
            node.op = COMPUTED[type(node.op)]()
        case ast.BoolOp():
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        case ast.IfExp() | ast.If():
            node.test = ast.UnaryOp(ast.Not(), node.test)
        case ast.UnaryOp():
            node.op = ast.UAdd() if isinstance(node.op, ast.USub) else ast.USub()
            if isinstance(node.op, ast.USub):  # `not x` becomes `not not x`.
                node.op, node.operand = ast.Not(), ast.UnaryOp(ast.Not(), node.operand)
        case ast.Constant(value=bool()):
            node.value = not node.value
        case ast.Constant():
            node.value = int(node.value) + 1  # type: ignore[arg-type]


def functions(tree: ast.AST, prefix: str = "") -> Iterator[tuple[str, ast.AST]]:
    """Yield each function of a module with its qualified name."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name, node
        elif isinstance(node, ast.ClassDef):
            yield from functions(node, prefix)


def find(root: Path, folders: Sequence[str]) -> Iterator[Mutant]:
    """Yield every mutant of some folders."""
    for folder in folders:
        for path in sorted((root / folder).rglob("*.py")):
            if "migrations" in path.parts or path.name == "bodies.py":
                continue
            name = str(path.relative_to(root))
            for function, node in functions(ast.parse(path.read_text())):
                for place, each in enumerate(places(node)):
                    line = getattr(each, "lineno", 0)
                    yield Mutant(name, function, place, line, ast.unparse(each)[:60])


def chosen(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Choose mutants by the hash of their names; a name that occurs twice is left out."""
    by_name: dict[str, list[Mutant]] = {}
    for each in mutants:
        by_name.setdefault(each.name, []).append(each)
    single = [each[0] for each in by_name.values() if len(each) == 1]

    def rank(mutant: Mutant) -> str:
        return hashlib.sha256(f"{seed} {mutant.name}".encode()).hexdigest()

    return sorted(single, key=rank)[:count]


def mutated(source: str, mutant: Mutant) -> str:
    """Return the source of a module with one mutant in it."""
    tree = ast.parse(source)
    node = next(node for name, node in functions(tree) if name == mutant.function)
    for place, each in enumerate(places(node)):
        if place == mutant.place:
            mutate(each)
    return ast.unparse(ast.fix_missing_locations(tree))


def covering(root: Path, folders: Sequence[str], tests: Sequence[str]) -> CoverageData:
    """Run the tests once, and return which test executes which line."""
    data = root / ".coverage.mutants"
    config = root / ".coveragerc.mutants"
    config.write_text(f"[run]\nsource = {','.join(folders)}\ndata_file = {data}\n")
    subprocess.run(
        [sys.executable, "-m", "coverage", "run", f"--rcfile={config}", "-m", "pytest", "-q",
         "-p", PLUGIN, *tests],
        cwd=root, check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    found = CoverageData(str(data))
    found.read()
    return found


def tests_of(data: CoverageData, root: Path, mutant: Mutant) -> list[str]:
    """Return the tests that execute the line of a mutant, at most MOST_TESTS."""
    lines = data.contexts_by_lineno(str(root / mutant.path))
    found = sorted(each for each in lines.get(mutant.line, ()) if "::" in each)
    step = max(1, len(found) // MOST_TESTS)
    return found[::step][:MOST_TESTS]


def survives(root: Path, mutant: Mutant, tests: Sequence[str]) -> bool:
    """Return whether the tests pass with a mutant in the tree."""
    path = root / mutant.path
    source = path.read_text()
    path.write_text(mutated(source, mutant))
    try:
        return passes(root, tests)
    finally:
        path.write_text(source)


def passes(root: Path, tests: Sequence[str]) -> bool:
    """Return whether some tests of a tree pass.

    Pure rules need no database, so their tests start without the fixtures of the root.
    """
    pure = [each for each in PURE if all(test.startswith(each) for test in tests)]
    apart = [f"--confcutdir={each}" for each in pure]
    return not subprocess.run(
        [sys.executable, "-m", "pytest", "-x", "-q", *apart, *tests],
        cwd=root, timeout=TIMEOUT_SECONDS, capture_output=True, check=False,
    ).returncode  # fmt: skip


def judge(asked: argparse.Namespace) -> list[tuple[Mutant, str]]:
    """Run the chosen mutants in copies of the tree, and return the verdict of each."""
    copies: SimpleQueue[Path] = SimpleQueue()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(asked.workers):
            copy = Path(folder, f"copy{number}")
            left_out = shutil.ignore_patterns(".git", ".venv*", "node_modules", "dist")
            shutil.copytree(ROOT, copy, ignore=left_out, symlinks=True)
            copies.put(copy)
        data = covering(copy, asked.of, asked.by)

        def judged(mutant: Mutant) -> tuple[Mutant, str]:
            tests = tests_of(data, copy, mutant)
            if not tests:
                return mutant, "not executed"
            mine = copies.get()
            try:
                return mutant, "survived" if survives(mine, mutant, tests) else "killed"
            except subprocess.TimeoutExpired:
                return mutant, "timed out"
            finally:
                copies.put(mine)

        mutants = chosen(list(find(ROOT, asked.of)), asked.count, asked.seed)
        unchanged = next(tests for each in mutants if (tests := tests_of(data, copy, each)))
        assert passes(copy, unchanged), "the tests fail without a mutant"
        with ThreadPoolExecutor(asked.workers) as pool:
            return list(pool.map(judged, mutants))


def main() -> None:
    """Run the mutants that the command line asks for; print the survivors and the counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", nargs="+", required=True)
    parser.add_argument("--by", nargs="+", required=True)
    parser.add_argument("--count", type=int, default=600)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    results = judge(parser.parse_args())
    for mutant, verdict in results:
        if verdict != "killed":
            where = f"{mutant.path}:{mutant.line} {mutant.name}"
            sys.stdout.write(f"{verdict}: {where} {mutant.text}\n")
    counts = Counter(verdict for _, verdict in results)
    sys.stdout.write(json.dumps({"mutants": len(results), **counts}) + "\n")


if __name__ == "__main__":
    main()
