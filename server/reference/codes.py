"""The error codes of the contract in one table: which statuses they come with, what they say."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from server.reference.fields import Describer
from server.responses.errors import LEAKED

# As descriptions write it: 409 `account_has_balance`, `account_has_children`; 404 `...`.
MENTIONED: Final = re.compile(r"\b(?P<status>[45]\d\d)\b|`(?P<code>[a-z0-9_]+)`|(?P<end>[;.]\s)")


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code, the statuses it was seen with and a sentence it comes with."""

    code: str
    statuses: tuple[str, ...]
    message: str


def error_codes(document: Mapping[str, Any], describer: Describer) -> list[ErrorCode]:
    """List the closed set of codes by status, with what the contract tells of each."""
    codes = document["components"]["schemas"].get("ErrorCode", {}).get("enum", ())
    statuses: defaultdict[str, set[str]] = defaultdict(set)
    messages = dict(LEAKED.values())
    for status, answer in documented_errors(document, describer):
        for code, _ in mentions(answer.get("description", ""), status):
            statuses[code].add(status)
        for value in error_examples(answer, describer):
            statuses[value["error_code"]].add(status)
            messages[value["error_code"]] = value.get("message") or ""
    for text in texts(document):
        for code, named in mentions(text):
            statuses[code].add(named)
    listed = [
        ErrorCode(code, tuple(sorted(statuses[code])), messages.get(code, "")) for code in codes
    ]
    return sorted(listed, key=lambda entry: (not entry.statuses, entry.statuses[:1]))


def documented_errors(
    document: Mapping[str, Any], describer: Describer
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give every error answer of every operation with its status."""
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, Mapping):
                for status, reference in operation["responses"].items():
                    if str(status)[0] in "45":
                        yield str(status), describer.follow(reference)


def error_examples(answer: Mapping[str, Any], describer: Describer) -> Iterator[Mapping[str, Any]]:
    """Give the examples of an error answer."""
    for content in answer.get("content", {}).values():
        for example in content.get("examples", {}).values():
            value = describer.follow(example).get("value")
            if isinstance(value, Mapping) and "error_code" in value:
                yield value


def mentions(text: str, status: str = "") -> Iterator[tuple[str, str]]:
    """Give the codes a text names, each with the status that stands before it in its sentence."""
    named = status
    for match in MENTIONED.finditer(text):
        if match["end"]:
            named = status
        elif match["status"]:
            named = match["status"]
        elif named:
            yield match["code"], named


def texts(node: Any) -> Iterator[str]:
    """Give every description in the document."""
    if isinstance(node, Mapping):
        for name, value in node.items():
            if name in ("description", "summary") and isinstance(value, str):
                yield value
            else:
                yield from texts(value)
    elif isinstance(node, list):
        for value in node:
            yield from texts(value)
