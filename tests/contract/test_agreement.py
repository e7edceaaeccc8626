"""The agreement of contract and code on operations, error codes, filters and sorts."""

import ast
import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from accounting import errors
from persistence import store
from persistence.engine import database_errors
from persistence.engine.listings import NOT, Listing
from persistence.trade.document_sql import BY_STATUS, STORED_STATUS
from server.contract.document import module_of
from server.http import problems
from server.http.dispatch import PAGING, handlers_of
from server.http.errors import LEAKED
from tests.contract.document import Operation, document, follow, named, operations
from tests.contract.each import each_operation
from tests.in_turn import in_turn
from tools.bench.lists import LISTS

ROOT = Path(__file__).parents[2]
TAGS: list[dict[str, str]] = document()["tags"]
ROOMS = ("server", "handlers", "persistence", "access", "accounting", "jobs", "libraries", "cli")
KINDS = {
    name
    for module in (errors, problems)
    for name, kind in vars(module).items()
    if isinstance(kind, type) and issubclass(kind, errors.ApiError)
}
# Raised with a code from a table, which is read below.
RAISED_FROM_TABLES = {
    ("persistence/engine/database_errors.py", "broken.code"),
    ("persistence/store.py", "_NOT_FOUND[noun]"),
    ("server/http/errors.py", "*LEAKED[error.status_code]"),
}
# Only the command line raises these, for the operator.
OPERATORS = {
    "too_many_api_keys",
    "partner_not_found",
    "partner_name_unreadable",
    "api_key_not_found",
}


def listed_codes() -> set[str]:
    return set(document()["components"]["schemas"]["ErrorCode"]["enum"])


def refusals() -> Iterator[tuple[str, ast.expr]]:
    """Yield the first argument of every call that creates a refusal, with its file."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Call) and node.args and called(node.func) in KINDS:
                    yield path.relative_to(ROOT).as_posix(), node.args[0]


def called(function: ast.expr) -> str:
    if isinstance(function, ast.Attribute):
        return function.attr
    return function.id if isinstance(function, ast.Name) else ""


def raised_codes() -> set[str]:
    literal = {node.value for _, node in refusals() if isinstance(node, ast.Constant)}
    in_tables = {
        *(code for code, _ in LEAKED.values()),
        *(
            broken.code
            for broken in (*database_errors._UNIQUE.values(), *database_errors._NAMED.values())
        ),
        *store._NOT_FOUND.values(),
    }
    refused_as_a_whole = {errors.ValidationError.fields(field=["wrong"]).code}
    unforeseen = {"internal_error"}
    return {str(code) for code in literal} | in_tables | refused_as_a_whole | unforeseen


def filter_names(listing: Listing) -> set[str]:
    """Return the filters of a list, without negations and stored statuses."""
    names = {name for name in listing.filters if not name.startswith(NOT)}
    return names - {*STORED_STATUS} | {*BY_STATUS} if names.issuperset(STORED_STATUS) else names


def query_names(operation: Operation) -> set[str]:
    """Return the filters of an operation; handlers see only the new name of a renamed one."""
    now = [each for each in operation.parameters if not each.get("deprecated")]
    # `basis` selects another list, and `consistency` a database; neither filters.
    return {each["name"] for each in now if each["in"] == "query"} - {
        *PAGING,
        "basis",
        "consistency",
    }


def sorts(operation: Operation) -> set[str]:
    [sort] = [each for each in operation.parameters if each["name"] == "sort"]
    return set(follow(sort["schema"])["enum"])


class TestOperations:
    @each_operation
    def test_each_has_a_handler_in_the_module_its_tag_names(self, operation: Operation) -> None:
        module = handlers_of(module_of(operation.node["tags"][0]))
        handler = getattr(module, operation.name, None)
        assert inspect.iscoroutinefunction(handler)
        assert handler.__module__ == module.__name__

    def test_each_handler_is_an_operation(self) -> None:
        verbs = {each.name.partition("_")[0] for each in operations()}
        for tag in document()["tags"]:
            module = handlers_of(module_of(tag["name"]))
            public = {
                name
                for name, value in vars(module).items()
                if inspect.iscoroutinefunction(value)
                and value.__module__ == module.__name__
                and name.partition("_")[0] in verbs
            }
            tagged = {each.name for each in operations() if each.node["tags"] == [tag["name"]]}
            assert public == tagged


class TestModulesOfTags:
    """A module of a tag imports no other one: they share `handlers.shared`."""

    @pytest.mark.parametrize("module", sorted({module_of(each["name"]) for each in TAGS}))
    def test_it_imports_none_of_another_tag(self, module: str) -> None:
        others = {module_of(each["name"]) for each in TAGS} - {module}
        [path] = (ROOT / "handlers").glob(f"*/{module}.py")
        imported = [
            each
            for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(each, ast.ImportFrom) and str(each.module).startswith("handlers")
        ]
        modules = {part for each in imported for part in str(each.module).split(".")[2:]}
        names = {name.name for each in imported for name in each.names}
        assert not (modules | names) & others


class TestErrorCodes:
    def test_each_raised_one_is_in_the_contract(self) -> None:
        assert raised_codes() - OPERATORS - listed_codes() == set()

    def test_each_of_the_contract_is_raised(self) -> None:
        assert listed_codes() - raised_codes() == set()

    def test_those_for_the_operator_are_raised_and_not_in_the_contract(self) -> None:
        assert raised_codes() >= OPERATORS
        assert not OPERATORS & listed_codes()

    def test_each_stands_as_a_literal_where_it_is_raised_or_in_a_known_table(self) -> None:
        others = {
            (path, ast.unparse(node))
            for path, node in refusals()
            if not isinstance(node, ast.Constant)
        }
        assert others == RAISED_FROM_TABLES


class TestLists:
    def test_each_list_of_the_contract_is_compared(self) -> None:
        in_contract = {operation.name for operation in operations() if operation.is_list}
        assert in_contract == {*LISTS, "list_accounts"}

    @in_turn("name", LISTS)
    def test_each_filter_of_the_contract_is_known_to_the_store_and_back(self, name: str) -> None:
        assert query_names(named(name)) == filter_names(LISTS[name])

    @in_turn("name", LISTS)
    def test_each_sort_of_the_contract_is_known_to_the_store_and_back(self, name: str) -> None:
        ascending = set(LISTS[name].sorts)
        assert sorts(named(name)) == ascending | {f"-{each}" for each in ascending}

    @in_turn("name", LISTS)
    def test_the_default_sort_is_the_one_of_the_contract(self, name: str) -> None:
        [sort] = [each for each in named(name).parameters if each["name"] == "sort"]
        assert sort["schema"]["default"] == LISTS[name].default_sort

    def test_accounts_are_filtered_by_every_name_of_the_contract(self) -> None:
        handler = import_module("handlers.books.chart_of_accounts")
        read: set[Any] = set()
        for function in (handler.matches, handler.period_of):
            tree = ast.parse(inspect.getsource(function))
            read |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
        assert query_names(named("list_accounts")) - read == set()
