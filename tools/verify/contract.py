"""The contract of a deployment: its operations by name and by address."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import unquote_to_bytes

METHODS: Final = ("get", "put", "post", "patch", "delete")

Node = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Operation:
    """An operation of the contract."""

    operation_id: str
    method: str
    path: str
    node: Node

    @property
    def segments(self) -> tuple[str, ...]:
        """The segments of its path."""
        return tuple(self.path.strip("/").split("/"))


class Contract:
    """An OpenAPI 3.0 document; raises ValueError for any other document."""

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
        """Return the target of a `$ref`, or the node itself if it is none."""
        while "$ref" in node:
            found: Any = self.document
            for part in node["$ref"].removeprefix("#/").split("/"):
                found = found[part]
            node = found
        return node

    def at(self, path: bytes) -> list[Operation]:
        """Return the operations at a path, with or without its final slash.

        A literal segment has precedence over a variable. A path that is not valid UTF-8 has no
        operations.
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
    """Group operations by the number of their segments, those with fewer variables first."""
    found: defaultdict[int, list[Placed]] = defaultdict(list)
    for operation in sorted(operations, key=lambda each: each.path.count("{")):
        found[len(operation.segments)].append((operation.segments, operation))
    return found


def _fits(ours: tuple[str, ...], segments: list[str]) -> bool:
    """Return whether a path matches an operation's path with the same number of segments."""
    return all(
        given == own or (given != "" and own.startswith("{"))
        for own, given in zip(ours, segments, strict=True)
    )
