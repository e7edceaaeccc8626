"""The differences between two contracts, and which of them break a client.

This module compares operations, parameters, bodies, answers and headers; `schema_changes.py`
compares their schemas. A removed part breaks its clients. A new part breaks no client unless each
request must contain it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from server.contract.document import METHODS, Contract
from tests.contract.schema_changes import Difference, Kind, Node, SchemaChanges, texts_changed


def differences(old: Node, new: Node) -> list[Difference]:
    """Return the differences between an old and a new contract, sorted by place."""
    return sorted(_Comparison(old, new).differences(), key=lambda each: each[:2])


class _Comparison:
    """Two contracts, compared operation by operation."""

    def __init__(self, old: Node, new: Node) -> None:
        self._old, self._new = Contract(old), Contract(new)
        self._found: dict[Difference, None] = {}
        self._schemas = SchemaChanges(old, new, self._keep)

    def differences(self) -> list[Difference]:
        """Return each difference once."""
        self._words("info", self._old.document["info"], self._new.document["info"])
        old, new = _operations(self._old), _operations(self._new)
        for name in self._in_both("", "operation", old, new):
            self._operation(name, old[name], new[name])
        schemes = [each.components.get("securitySchemes", {}) for each in (self._old, self._new)]
        for name in schemes[0].keys() & schemes[1].keys():
            self._same(f"credential {name}", *(_wordless(each[name]) for each in schemes))
        return list(self._found)

    def _in_both(
        self, place: str, kind: str, old: Mapping[str, Any], new: Mapping[str, Any]
    ) -> Iterator[str]:
        """Yield the names that both have; record the others as differences."""
        for name in old.keys() | new.keys():
            if name not in new:
                self._tell(place or name, f"the {kind} {name} is gone", Kind.BREAKING)
            elif name not in old:
                needed = kind == "parameter" and new[name].get("required", False)
                words = f"the {kind} {name} is new{' and required' if needed else ''}"
                self._tell(place or name, words, Kind.BREAKING if needed else Kind.CHANGE)
            else:
                yield name

    def _operation(self, place: str, old: Node, new: Node) -> None:
        self._words(place, old, new)
        self._same(f"{place}, operationId", old["operationId"], new["operationId"])
        self._deprecation(place, old, new)
        ways = [{_way(each): each for each in node.get("security", ())} for node in (old, new)]
        list(self._in_both(place, "credential", *ways))
        self._parameters(place, _parameters(old, self._old), _parameters(new, self._new))
        bodies = _body(old, self._old), _body(new, self._new)
        self._required(f"{place}, body", *bodies)
        self._media(place, *bodies, sent=True)
        self._answers(place, old["responses"], new["responses"])

    def _parameters(self, place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        for name in self._in_both(place, "parameter", old, new):
            at = f"{place}, {name}"
            self._words(at, old[name], new[name])
            self._required(at, old[name], new[name])
            self._deprecation(at, old[name], new[name])
            for key in ("style", "explode"):
                self._same(f"{at}, {key}", old[name].get(key), new[name].get(key))
            self._schemas.compare(old[name]["schema"], new[name]["schema"], at, sent=True)

    def _answers(self, place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        for status in self._in_both(place, "status", old, new):
            was, now = self._old.follow(old[status]), self._new.follow(new[status])
            at = f"{place}, {status}"
            self._words(at, was, now)
            self._headers(at, was.get("headers", {}), now.get("headers", {}))
            self._media(at, was, now, sent=False)

    def _headers(self, place: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> None:
        for name in self._in_both(place, "header", old, new):
            was, now = self._old.follow(old[name]), self._new.follow(new[name])
            at = f"{place}, {name}"
            if was.get("required", False) and not now.get("required", False):
                self._tell(at, "is no longer always there", Kind.BREAKING)
            self._schemas.compare(was["schema"], now["schema"], at, sent=False)

    def _media(self, place: str, old: Node, new: Node, *, sent: bool) -> None:
        was, now = old.get("content", {}), new.get("content", {})
        for name in self._in_both(place, "content type", was, now):
            schemas = was[name].get("schema", {}), now[name].get("schema", {})
            self._schemas.compare(*schemas, f"{place}, {name}", sent=sent)

    def _required(self, place: str, old: Node, new: Node) -> None:
        was, now = old.get("required", False), new.get("required", False)
        if was != now:
            self._tell(
                place,
                "is required now" if now else "is no longer required",
                Kind.BREAKING if now else Kind.CHANGE,
            )

    def _deprecation(self, place: str, old: Node, new: Node) -> None:
        was, now = old.get("x-deprecated"), new.get("x-deprecated")
        if was != now:
            self._tell(place, "is deprecated" if now else "is welcome again", Kind.CHANGE)

    def _words(self, place: str, old: Node, new: Node) -> None:
        if changed := texts_changed(old, new):
            self._tell(place, f"says its {changed} in other words", Kind.WORDS)

    def _same(self, place: str, old: Any, new: Any) -> None:
        if old != new:
            self._tell(place, f"is {new}, was {old}", Kind.BREAKING)

    def _tell(self, place: str, words: str, kind: Kind) -> None:
        self._keep(Difference(place, words, kind))

    def _keep(self, difference: Difference) -> None:
        self._found[difference] = None


def _operations(contract: Contract) -> dict[str, Any]:
    """Return the operations by address, each with the parameters of its path."""
    return {
        f"{method.upper()} {path}": {
            **node,
            "parameters": [*item.get("parameters", ()), *node.get("parameters", ())],
        }
        for path, item in contract.document["paths"].items()
        for method, node in item.items()
        if method in METHODS
    }


def _body(operation: Node, contract: Contract) -> dict[str, Any]:
    return contract.follow(operation.get("requestBody", {}))


def _parameters(operation: Node, contract: Contract) -> dict[str, Any]:
    found = map(contract.follow, operation["parameters"])
    return {f"{each['name']} in {each['in']}": each for each in found}


def _way(alternative: Node) -> str:
    return " with ".join(sorted(alternative))


def _wordless(node: Node) -> dict[str, Any]:
    return {key: value for key, value in node.items() if key != "description"}
