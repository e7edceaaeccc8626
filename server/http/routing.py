"""The compiled route table: finds the operation of a path and method, or answers 404 or 405.

A literal segment takes precedence over a variable, with backtracking if the literal does not match.
A trailing slash makes no difference; there are no redirects.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.types import ASGIApp, Receive, Scope, Send

from accounting.errors import NotFound
from server.contract.document import METHODS, ContractError
from server.http.connexion_adapter import Route, RoutingLayer, route_to, set_route
from server.http.known_names import closest
from server.http.problems import MethodNotAllowed

Names = tuple[str, ...]


class Node:
    """A segment of the table: its child segments, and the operations that end here."""

    __slots__ = ("literals", "name", "operations", "variable")

    def __init__(self, name: str = "") -> None:
        self.name = name
        self.literals: dict[str, Node] = {}
        self.variable: Node | None = None
        self.operations: dict[str, tuple[Route, Names]] = {}


class RouteTable:
    """Every path of the contract as a tree of segments."""

    def __init__(self) -> None:
        self.root = Node()

    def add(self, method: str, path: str, route: Route) -> None:
        """Register an operation; the layers behind find it by `route`."""
        node = self.root
        names = []
        for segment in path.strip("/").split("/"):
            if segment.startswith("{"):
                names.append(segment[1:-1])
                node.variable = node.variable or Node(segment)
                node = node.variable
            else:
                node = node.literals.setdefault(segment, Node(segment))
        if method in node.operations:
            raise ContractError(f"Two operations for {method} {path}")
        node.operations[method] = (route, tuple(names))

    def find(self, segments: list[str]) -> tuple[Node, list[str]] | None:
        """Return the node at which a path ends and the texts of its variables, or None."""
        return _descend(self.root, segments, 0)


def _descend(node: Node, segments: list[str], index: int) -> tuple[Node, list[str]] | None:
    """Search literals first; the recursion is no deeper than the table."""
    if index == len(segments):
        return (node, []) if node.operations else None
    segment = segments[index]
    literal = node.literals.get(segment)
    if literal is not None:
        found = _descend(literal, segments, index + 1)
        if found is not None:
            return found
    if node.variable is None or not segment:
        return None
    found = _descend(node.variable, segments, index + 1)
    if found is not None:
        found[1].insert(0, segment)
    return found


def split_path(scope: Scope) -> list[str] | None:
    """Return the path's decoded segments, without the empty one after a trailing slash.

    None if a segment is not valid: not UTF-8, or with a slash or U+0000 inside.
    """
    raw: bytes | None = scope.get("raw_path")
    path: str = scope["path"]
    if raw is None or b"%" not in raw:
        segments = path[1:].split("/")
        if "\0" in path:
            return None
    else:
        try:
            segments = [unquote_to_bytes(part).decode() for part in raw[1:].split(b"/")]
        except UnicodeDecodeError:
            return None
        if any("/" in segment or "\0" in segment for segment in segments):
            return None
    if segments[-1] == "" and len(segments) > 1:
        segments.pop()
    return segments


def _meant(root: Node, segments: list[str]) -> str | None:
    """Return the path that the first segment without a route probably means, if any.

    `custommers` means `customers`, and `journal-entries` means `general-ledger/journal-entries`.
    """
    node = root
    for segment in segments:
        onward = node.literals.get(segment)
        if onward is None:
            below = _paths_below(node)
            meant = closest(segment, below)
            if meant or node.variable is None:
                return None if meant is None else below[meant]
            onward = node.variable
        node = onward
    return None


def _paths_below(node: Node) -> dict[str, str]:
    """Return the shortest path from a node to each literal below it, by the literal."""
    found: dict[str, str] = {}
    level = [("", node)]
    while level:
        children = [
            (f"{path}{child.name}/", child)
            for path, parent in level
            for child in (*parent.literals.values(), *filter(None, [parent.variable]))
        ]
        for path, child in children:
            if not child.name.startswith("{"):
                found.setdefault(child.name, path.removesuffix("/"))
        level = children
    return found


class Routing(RoutingLayer):
    """The first layer of the stack, in place of Connexion's own routing."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__(app)
        self.table = RouteTable()

    def add_paths(self, document: Mapping[str, Any], base_path: str) -> None:
        """Register every operation of a document."""
        for path, item in document.get("paths", {}).items():
            for method, operation in item.items():
                if method in METHODS:
                    route = route_to(base_path, operation["operationId"])
                    self.table.add(method.upper(), base_path + path, route)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Put `path_params` and the route into the scope; raises NotFound or MethodNotAllowed."""
        if scope["type"] == "http":
            route, scope["path_params"] = self._find(scope)
            set_route(scope, route)
        await self.app(scope, receive, send)

    def _find(self, scope: Scope) -> tuple[Route, dict[str, str]]:
        segments = split_path(scope)
        found = None if segments is None else self.table.find(segments)
        if found is None:
            raise NotFound("route_not_found", self._nothing_here(segments or []))
        node, values = found
        method = scope["method"]
        operation = node.operations.get("GET" if method == "HEAD" else method)
        if operation is None:
            allow = sorted({*node.operations, *(["HEAD"] if "GET" in node.operations else [])})
            raise MethodNotAllowed(
                "method_not_allowed", f"This address allows only {', '.join(allow)}.", allow=allow
            )
        route, names = operation
        return route, dict(zip(names, values, strict=True))

    def _nothing_here(self, segments: list[str]) -> str:
        meant = _meant(self.table.root, segments)
        return f"There is nothing at this address{f'; did you mean {meant}?' if meant else '.'}"
