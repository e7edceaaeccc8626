"""Every field of every request body is read under a name that the type check knows."""

import ast
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from handlers import bodies
from handlers.shared.external_names import names_record
from tests.in_turn import in_turn

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "handlers").rglob("*_commands.py"))
TREES = {module.name: ast.parse(module.read_text(encoding="utf-8")) for module in MODULES}
TYPES = {
    name: set(kind.__annotations__)
    for name, kind in vars(bodies).items()
    if isinstance(kind, type) and kind.__module__ == bodies.__name__
}
# Fields that no code reads, each with the reason.
UNREAD = {
    ("TokenRequest", "grant_type"),  # The contract has only one value.
    ("TokenRevocation", "token_type_hint"),  # There is only one kind of token.
    # The server runs the items of a batch: `server/http/batches.py`.
    *(("BatchRun", name) for name in ("mode", "items")),
    *(("BatchItem", name) for name in ("key", "operation", "path", "body", "if_match")),
}


def names_in(annotation: ast.expr) -> set[str]:
    """Return the types in an annotation, without the types of the items of a list."""
    match annotation:
        case ast.Name(id=name):
            return ALIASES.get(name, {name})
        case ast.BinOp(left=left, right=right):
            return names_in(left) | names_in(right)
    return set()


ALIASES: dict[str, set[str]] = {}
for tree in TREES.values():
    for node in tree.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            ALIASES[node.targets[0].id] = names_in(node.value)


def typed_names(function: ast.FunctionDef) -> Iterator[tuple[str, set[str]]]:
    """Yield the parameters and variables of a function, with their annotated types."""
    for each in function.args.args:
        if each.annotation is not None:
            yield each.arg, names_in(each.annotation)
    for node in ast.walk(function):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation):
                yield name, names_in(annotation)
            case ast.Assign(
                targets=[ast.Name(id=name)],
                value=ast.Call(func=ast.Name(id="cast"), args=[annotation, _]),
            ):
                yield name, names_in(annotation)


@cache
def fields_read() -> dict[str, set[str]]:
    """Return the fields that the code reads of each type of body."""
    read: dict[str, set[str]] = defaultdict(set)
    for tree in TREES.values():
        for function in ast.walk(tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            types = dict(typed_names(function))
            for node in ast.walk(function):
                match node:
                    case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=field)):
                        for kind in types.get(name, ()):
                            read[kind].add(field)
    return read


def is_read_for_all(name: str, field: str) -> bool:
    """Return whether a field is read before the handlers, which get an id in its place."""
    return names_record(("result", field) if name == "BankRuleResultInput" else (field,))


class TestCommands:
    @in_turn("name", sorted(TYPES))
    def test_every_field_of_a_body_is_read(self, name: str) -> None:
        fields = {field for field in TYPES[name] if not is_read_for_all(name, field)}
        unread = {(name, field) for field in fields - fields_read()[name]}
        assert unread == UNREAD & {(name, field) for field in TYPES[name]}

    @pytest.mark.parametrize("name", sorted(TREES))
    def test_none_is_read_past_the_type_check(self, name: str) -> None:
        for node in ast.walk(TREES[name]):
            match node:
                case ast.Call(func=ast.Attribute(attr="get" | "pop" | "items" | "keys")):
                    pytest.fail(f"{name}:{node.lineno} reads without a type: use body[...]")
                case ast.Compare(ops=[ast.In() | ast.NotIn()], left=ast.Constant(value=str())):
                    pytest.fail(f"{name}:{node.lineno} asks for a name: use ABSENT")

    def test_nobody_else_reads_a_body(self) -> None:
        others = set((ROOT / "handlers").rglob("*.py")) - {*MODULES, ROOT / "handlers/bodies.py"}
        for module in others:
            tree = ast.parse(module.read_text(encoding="utf-8"))
            names = [
                n.value for n in ast.walk(tree) if isinstance(n, ast.Subscript | ast.Attribute)
            ]
            assert not [n for n in names if isinstance(n, ast.Name) and n.id == "body"], module

    @pytest.mark.slow
    def test_a_field_by_another_name_fails_the_type_check(self, tmp_path: Path) -> None:
        source = (ROOT / "handlers" / "bodies.py").read_text(encoding="utf-8")
        renamed = tmp_path / "bodies.py"
        renamed.write_text(source.replace("    payment_date: ", "    paid_on: "), encoding="utf-8")
        shadow = ["--shadow-file", "handlers/bodies.py", str(renamed)]
        cache = ["--cache-dir", str(tmp_path / "cache")]
        words = [*shadow, *cache, "handlers/trade/payment_commands.py"]
        # In a process of its own: mypy needs as much memory as all other tests together.
        mypy = [sys.executable, "-m", "mypy", *words]
        told = subprocess.run(mypy, cwd=ROOT, capture_output=True, text=True, check=False)
        assert told.returncode == 1
        assert 'TypedDict "InvoicePaymentCreate" has no key "payment_date"' in told.stdout
