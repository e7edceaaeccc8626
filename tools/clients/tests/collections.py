"""Collections of requests for Postman and Bruno, checked against the contract."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from tests.contract.document import Node, Operation, bodies, follow, operations
from tools.clients.tests.generators import ClientError

FOLDER: Final = Path("dist/profiles")


def hold() -> int:
    """Return the number of requests in each: one for each operation, with its example body."""
    expected = {operation.node["summary"]: example_of(operation) for operation in operations()}
    for name, found in (("postman", postman()), ("bruno", bruno())):
        if wrong := [each for each in expected if found.get(each, "missing") != expected[each]]:
            raise ClientError(f"{name}: not as the contract has it: {', '.join(wrong)}")
    return len(expected)


def example_of(operation: Operation) -> Any:
    """Return the first example of a body in JSON, or None."""
    first = next(iter(bodies(operation).items()), None)
    if first is None or first[0] != "application/json":
        return None
    return follow(next(iter(first[1]["examples"].values())))["value"]


def postman() -> dict[str, Any]:
    """Return the body of each Postman request by its name."""
    return {
        each["name"]: parsed(each["request"].get("body", {}).get("raw"))
        for each in items(read("accounting.postman.json")["item"], "item")
    }


def bruno() -> dict[str, Any]:
    """Return the body of each Bruno request by its name."""
    return {
        each["name"]: parsed(each["request"]["body"].get("json"))
        for each in items(read("accounting.bruno.json")["items"], "items")
    }


def items(found: list[Node], inner: str) -> Iterator[Node]:
    """Yield every request, in any folder."""
    for each in found:
        if inner in each:
            yield from items(each[inner], inner)
        else:
            yield each


def parsed(text: str | None) -> Any:
    """Parse a body; return None where there is none."""
    return json.loads(text) if text else None


def read(name: str) -> Node:
    """Read one of the two collections."""
    found: Node = json.loads((FOLDER / name).read_text("utf-8"))
    return found
