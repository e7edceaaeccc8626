"""A contract as it is served: its operations by name and by address."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

METHODS: Final = ("get", "put", "post", "patch", "delete")

Node = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Operation:
    """One operation as answers meet it."""

    operation_id: str
    method: str
    path: str
    node: Node

    @property
    def segments(self) -> tuple[str, ...]:
        """The parts of its path."""
        return tuple(self.path.strip("/").split("/"))


class Contract:
    """A document of OpenAPI 3.0; raises ValueError for what is none."""

    def __init__(self, document: Node) -> None:
        self.document = document
        info = document.get("info")
        if "openapi" not in document or not isinstance(info, dict) or "paths" not in document:
            raise ValueError("This is no contract.")
        self.version = str(info.get("version"))
        self.operations: tuple[Operation, ...] = tuple(
            Operation(item[method]["operationId"], method.upper(), path, item[method])
            for path, item in document["paths"].items()
            for method in METHODS
            if method in item
        )
        self._by_length = _by_length(self.operations)

    def follow(self, node: Node) -> Node:
        """Return what a `$ref` stands for, or the node itself."""
        while "$ref" in node:
            found: Any = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def at(self, path: bytes) -> list[Operation]:
        """Find the operations at a path, with or without its final slash; none where it is no text.

        A literal wins over a variable.
        """
        try:
            segments = [unquote_to_bytes(part).decode() for part in path[1:].split(b"/")]
        except UnicodeDecodeError:
            return []
        if any("/" in segment or "\0" in segment for segment in segments):
            return []
        if segments[-1] == "":
            segments.pop()
        known = self._by_length.get(len(segments), [])
        fitting = [(ours, operation) for ours, operation in known if _fits(ours, segments)]
        return [operation for ours, operation in fitting if ours == fitting[0][0]]


Placed = tuple[tuple[str, ...], Operation]


def _by_length(operations: tuple[Operation, ...]) -> Mapping[int, list[Placed]]:
    """Sort operations by the number of their segments, those with fewer variables first."""
    found: defaultdict[int, list[Placed]] = defaultdict(list)
    for operation in sorted(operations, key=lambda each: each.path.count("{")):
        found[len(operation.segments)].append((operation.segments, operation))
    return found


def _fits(ours: tuple[str, ...], segments: list[str]) -> bool:
    """Whether a path of as many segments is one of an operation."""
    return all(
        given == own or (given != "" and own.startswith("{"))
        for own, given in zip(ours, segments, strict=True)
    )
