"""The contract as plain YAML: its operations, schemas and references."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Any, TypeVar

import yaml

from server.contract.document import follow as reference_followed
from server.docs.own_examples import with_own_examples

METHODS = ("get", "put", "post", "patch", "delete")
Node = dict[str, Any]
Form = TypeVar("Form")


@dataclass(frozen=True)
class Operation:
    path: str
    method: str
    node: Node
    parameters: tuple[Node, ...]

    @property
    def name(self) -> str:
        return str(self.node["operationId"])

    def takes(self, name: str) -> bool:
        return any(parameter["name"] == name for parameter in self.parameters)

    @property
    def within_business(self) -> bool:
        return self.path.startswith("/v1/platform/businesses/{business_id}/")

    @property
    def is_list(self) -> bool:
        """Return whether it answers pages of records, and not a feed that a caller follows."""
        pages = self.method == "get" and self.name.startswith("list_")
        return pages and not self.takes("wait")


@cache
def source() -> str:
    return files("openapi").joinpath("accounting.yaml").read_text("utf-8")


@cache
def document() -> Node:
    loaded: Node = yaml.load(source(), yaml.CSafeLoader)
    return loaded


@cache
def document_with_own_examples() -> Node:
    """Return the contract with derived examples; two modules make tests of it while they load."""
    return with_own_examples(document())


def follow(node: Node) -> Node:
    return reference_followed(document(), node)


@cache
def operations() -> tuple[Operation, ...]:
    return tuple(
        Operation(
            path,
            method,
            item[method],
            tuple(map(follow, [*item.get("parameters", []), *item[method].get("parameters", [])])),
        )
        for path, item in document()["paths"].items()
        for method in METHODS
        if method in item
    )


def named(name: str) -> Operation:
    return next(operation for operation in operations() if operation.name == name)


def share_of(operation: Operation, forms: Iterable[Form], parts: int) -> list[Form]:
    """Return one of `parts` shares of the forms; consecutive operations get different shares."""
    return [*islice(forms, operations().index(operation) % parts, None, parts)]


def walk(node: Any, *at: str) -> Iterator[tuple[tuple[str, ...], Node]]:
    """Yield every mapping with the keys that lead to it."""
    if isinstance(node, dict):
        yield at, node
        for key, part in node.items():
            yield from walk(part, *at, str(key))
    elif isinstance(node, list):
        for place, part in enumerate(node):
            yield from walk(part, *at, str(place))


def is_schema(at: tuple[str, ...], node: Node) -> bool:
    """Return whether a mapping is a typed schema, not its examples or properties."""
    if "example" in at or "examples" in at or isinstance(node.get("type"), dict):
        return False
    return "type" in node and ("schema" in at or "schemas" in at)


def typed_schemas() -> Iterator[tuple[str, Node]]:
    """Yield every schema that has a type, with its place."""
    for at, node in walk(document()):
        if is_schema(at, node):
            yield "/".join(at), node


def bodies(operation: Operation) -> dict[str, Node]:
    content: dict[str, Node] = operation.node.get("requestBody", {}).get("content", {})
    return content


def request_schemas() -> dict[str, Node]:
    """Return every schema that a request body refers to, by name."""
    found: dict[str, Node] = {}
    waiting = [media["schema"] for each in operations() for media in bodies(each).values()]
    while waiting:
        for _, node in walk(waiting.pop()):
            name = str(node.get("$ref", "")).rpartition("/")[2]
            if name and name not in found:
                found[name] = follow(node)
                waiting.append(found[name])
    return found


def media_types() -> Iterator[tuple[str, Node]]:
    """Yield every media type of every body and answer, with its place."""
    for at, node in walk(document()):
        if len(at) > 1 and at[-2] == "content":
            yield "/".join(at), node
