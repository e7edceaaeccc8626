"""The error codes of the contract: their texts, and the operations that return them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from server.docs.reference.fields import Describer

Node = Mapping[str, Any]

QUOTED: Final = re.compile(r"`([a-z0-9_]+)`")
# Operations that share such a response name their own codes; codes in the response are examples.
TOLD_AT_THE_OPERATION: Final = "as listed at the operation"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """An error code: its cause, its remedy, and the fields of its `detail`."""

    name: str
    status: int
    when: str
    do: str
    detail: tuple[tuple[str, str], ...]
    example: Any


def error_codes(document: Node) -> dict[str, ErrorCode]:
    """Read the codes, each with the first example of it in the contract."""
    examples: dict[str, Any] = {}
    for _, value in refusals(document):
        examples.setdefault(value["error_code"], value)
    return {
        name: ErrorCode(
            name=name,
            status=told["status"],
            when=told["when"],
            do=told["do"],
            detail=tuple(told.get("detail", {}).items()),
            example=examples.get(name),
        )
        for name, told in document["components"]["x-error-codes"].items()
    }


def refusals(document: Node) -> Iterator[tuple[str, Node]]:
    """Yield the examples of the contract that are errors, by name."""
    for name, example in document["components"].get("examples", {}).items():
        if is_refusal(value := example.get("value")):
            yield name, value


def is_refusal(value: Any) -> bool:
    """Return whether a value is an error: an object with an error code."""
    return isinstance(value, Mapping) and "error_code" in value


def codes_of(
    operation: Node,
    parameters: Sequence[Node],
    codes: Mapping[str, ErrorCode],
    describer: Describer,
) -> list[ErrorCode]:
    """List by status the error codes of an operation, without those that any operation may return.

    They are named in the texts of the operation and of its parameters, and in its shared responses.
    """
    texts = [operation.get("description", "")]
    texts += [parameter.get("description", "") for parameter in parameters]
    named = {name for text in texts for name in QUOTED.findall(text)}
    for status, answer in error_answers(operation, describer):
        if status != "default" and TOLD_AT_THE_OPERATION not in joined(answer):
            named |= set(codes_in(answer, describer))
    return in_order(named, codes)


def codes_of_any(
    document: Node, codes: Mapping[str, ErrorCode], describer: Describer
) -> list[ErrorCode]:
    """List the error codes that any operation may return: those of its `default` response."""
    named = {
        name
        for operation in operations(document)
        for status, answer in error_answers(operation, describer)
        if status == "default"
        for name in codes_in(answer, describer)
    }
    return in_order(named, codes)


def in_order(named: set[str], codes: Mapping[str, ErrorCode]) -> list[ErrorCode]:
    """Sort the codes with these names by status; other names are ignored."""
    found = [code for name, code in codes.items() if name in named]
    return sorted(found, key=lambda code: code.status)


def operations(document: Node) -> Iterator[Node]:
    """Yield every operation of the contract."""
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, Mapping):
                yield operation


def error_answers(operation: Node, describer: Describer) -> Iterator[tuple[str, Node]]:
    """Yield the error responses of an operation, with their statuses."""
    for status, answer in operation["responses"].items():
        if str(status)[0] in "45d":
            yield str(status), describer.follow(answer)


def codes_in(answer: Node, describer: Describer) -> Iterator[str]:
    """Yield the codes that a response names, in its text and in its examples."""
    yield from QUOTED.findall(answer.get("description", ""))
    for value in example_values(answer, describer):
        yield value["error_code"]


def example_values(answer: Node, describer: Describer) -> Iterator[Node]:
    """Yield the errors that a response has as examples."""
    for content in answer.get("content", {}).values():
        for example in content.get("examples", {}).values():
            value: Any = describer.follow(example).get("value")
            if is_refusal(value):
                yield value


def joined(answer: Node) -> str:
    """Return the text of a response in one line."""
    return " ".join(answer.get("description", "").split())
