"""Parts that the contract has in several places are written once, with an anchor."""

import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest
import yaml

from server.contract.document import ContractLoader
from tests.contract.document import source

Path = tuple[str, ...]
FEW = 3
LONG = 10


@cache
def root() -> yaml.Node:
    return yaml.compose(source(), ContractLoader)


@pytest.fixture(scope="module", autouse=True)
def forgotten() -> Iterator[None]:
    """Clear the cached nodes, which each garbage collection would otherwise traverse."""
    yield
    root.cache_clear()


def entries(node: Any, *at: str) -> Iterator[tuple[Path, Any]]:
    """Yield every value and item with its path; a node with an alias, at each of its places."""
    parts: list[tuple[str, Any]] = []
    if isinstance(node, yaml.MappingNode):
        parts = [(key.value, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        parts = [(str(place), item) for place, item in enumerate(node.value)]
    for key, value in parts:
        yield (*at, key), value
        yield from entries(value, *at, key)


def meaning(node: Any) -> str:
    """Return a text that is equal for equal values."""
    loader = ContractLoader("")
    return json.dumps(loader.construct_object(node, deep=True), sort_keys=True)


def repeated(found: Iterator[tuple[str, Any]], few: int) -> dict[str, int]:
    """Return the number of places of each value that has `few` or more and is not one node."""
    groups: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for name, node in found:
        groups[name, meaning(node)].append(node)
    return {
        " ".join(group): len(nodes)
        for group, nodes in groups.items()
        if len(nodes) >= few and len(set(map(id, nodes))) > 1
    }


def keys(node: Any) -> set[str]:
    return {key.value for key, _ in node.value} if isinstance(node, yaml.MappingNode) else set()


def of_the_document() -> Iterator[tuple[Path, Any]]:
    return (each for each in entries(root()) if each[0][0] in ("paths", "components"))


def of_examples() -> Iterator[Any]:
    return (node for at, node in of_the_document() if in_examples(at))


def of_the_rest() -> Iterator[tuple[Path, Any]]:
    """Yield the nodes that are neither examples nor references."""
    for at, node in of_the_document():
        if not in_examples(at) and "$ref" not in keys(node):
            yield at, node


def in_examples(at: Path) -> bool:
    return "example" in at or "examples" in at


class TestSaidOnce:
    def test_properties_of_three_schemas(self) -> None:
        of_schemas = (each for each in of_the_rest() if each[0][-2:-1] == ("properties",))
        assert repeated(((at[-1], node) for at, node in of_schemas), FEW) == {}

    @pytest.mark.parametrize("part", ["headers", "security"])
    def test_parts_of_three_operations(self, part: str) -> None:
        assert repeated(((part, node) for at, node in of_the_rest() if at[-1] == part), FEW) == {}

    def test_parameters_of_three_operations(self) -> None:
        parameters = (node for at, node in of_the_rest() if at[-2:-1] == ("parameters",))
        inline = (node for node in parameters if "in" in keys(node))
        assert repeated((("", node) for node in inline), FEW) == {}

    def test_long_parts_of_examples(self) -> None:
        long = (each for each in of_examples() if height(each) >= LONG)
        assert repeated((("", node) for node in long), 2) == {}

    def test_what_a_value_may_be(self) -> None:
        values = [json.loads(meaning(node)).items() for node in shared_values()]
        written_out = [
            "/".join(at)
            for at, node in of_the_rest()
            if "type" in keys(node)
            and id(node) not in map(id, shared_values())
            and any(json.loads(meaning(node)).items() >= value for value in values)
        ]
        assert written_out == []

    def test_every_anchor_has_a_name_of_its_own_and_is_used(self) -> None:
        tokens = [*yaml.scan(source(), ContractLoader)]
        anchors = [token.value for token in tokens if isinstance(token, yaml.AnchorToken)]
        used = {token.value for token in tokens if isinstance(token, yaml.AliasToken)}
        assert len(anchors) == len(set(anchors))
        assert set(anchors) == used


def height(node: yaml.Node) -> int:
    """Return the lines of a block; an alias has the lines of its anchor."""
    return int(node.end_mark.line - node.start_mark.line)


@cache
def shared_values() -> tuple[yaml.Node, ...]:
    return tuple(node for at, node in entries(root()) if at[:-1] == ("x-shared", "values"))
