"""The names in the specification (`specified.toml`), and their places in the contract."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from tests.contract.document import Node, Operation, document, follow, operations

SPECIFIED = Path(__file__).with_name("specified.toml")
BUSINESS = "/v1/platform/businesses/{business_id}/"


class SpecificationError(Exception):
    """A name in the specification that the contract does not have, or that no test shows."""


@cache
def specified() -> dict[str, Any]:
    """Return the content of `specified.toml`."""
    return tomllib.loads(SPECIFIED.read_text("utf-8"))


def lines_of(chapter: str) -> list[str]:
    """Return the lines of a chapter that has one line for each row."""
    lines: str = specified()[chapter]
    return lines.strip().splitlines()


def operation_at(line: str) -> Operation:
    """Return the operation of a line such as `GET B vendors/`."""
    method, path = line.split(" ", 1)
    path = re.sub(r"^B ", BUSINESS, path)
    for each in operations():
        if (each.method.upper(), each.path) == (method, path):
            return each
    raise SpecificationError("the contract has no such operation")


def schema(name: str) -> Node:
    """Return a schema of the contract by its name."""
    found: Node | None = document()["components"]["schemas"].get(name)
    if found is None:
        raise SpecificationError(f"the contract has no schema {name}")
    return found


def properties(node: Node) -> dict[str, Node]:
    """Return the properties of an object, or of the items of a list."""
    node = follow(node)
    if node.get("type") == "array":
        return properties(node["items"])
    found: dict[str, Node] = dict(node.get("properties", {}))
    for part in (*node.get("allOf", ()), *node.get("oneOf", ()), *node.get("anyOf", ())):
        found = properties(part) | found
    return found


def property_of(node: Node, name: str) -> Node:
    """Return the schema at a dotted name below a schema."""
    for part in name.split("."):
        known = properties(node)
        if part not in known:
            raise SpecificationError(f"the contract has no {part} there")
        node = known[part]
    return node


def description(node: Node) -> str:
    """Return the first sentence of a description."""
    node = follow(node)
    while "description" not in node and "allOf" in node:
        node = follow(node["allOf"][0])
    text = " ".join(node.get("description", "").split())
    return re.split(r"(?<=\.)\s|; ", text, maxsplit=1)[0].rstrip(".").replace("|", "\\|")


def lacking(name: str, values: list[str]) -> list[str]:
    """Return the values that the enum or the pattern of a schema does not accept."""
    node = schema(name)
    known, pattern = node.get("enum", ()), node.get("pattern", r"(?!)")
    return [each for each in values if each not in known and not re.search(pattern, each)]
