"""The error codes of the contract: what each says, and which operation may answer it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from accounting.values import dataclass
from server.reference.fields import Describer

Node = Mapping[str, Any]

QUOTED: Final = re.compile(r"`([a-z0-9_]+)`")
# Such an answer is shared by operations that name their own codes; those it names are examples.
TOLD_AT_THE_OPERATION: Final = "as told at the operation"


@dataclass(frozen=True, slots=True)
class ErrorCode:
    """One code: when it comes, what to do, and what stands in its `detail`."""

    name: str
    status: int
    when: str
    do: str
    detail: tuple[tuple[str, str], ...]
    example: Any


def error_codes(document: Node) -> dict[str, ErrorCode]:
    """Read the codes, each with the first example that the contract has of it."""
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
    """Give the examples of the contract that are refusals, by name."""
    for name, example in document["components"].get("examples", {}).items():
        if is_refusal(value := example.get("value")):
            yield name, value


def is_refusal(value: Any) -> bool:
    """Tell a refusal by its code."""
    return isinstance(value, Mapping) and "error_code" in value


def codes_of(
    operation: Node,
    parameters: Sequence[Node],
    codes: Mapping[str, ErrorCode],
    describer: Describer,
) -> list[ErrorCode]:
    """List by status what an operation may answer besides what any operation may.

    Its own text and those of its parameters name codes, and so do the answers that it shares.
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
    """List what any operation may answer: what stands at `default`."""
    named = {
        name
        for operation in operations(document)
        for status, answer in error_answers(operation, describer)
        if status == "default"
        for name in codes_in(answer, describer)
    }
    return in_order(named, codes)


def in_order(named: set[str], codes: Mapping[str, ErrorCode]) -> list[ErrorCode]:
    """Give the codes of these names by status; other names are no codes."""
    found = [code for name, code in codes.items() if name in named]
    return sorted(found, key=lambda code: code.status)


def operations(document: Node) -> Iterator[Node]:
    """Give every operation of the contract."""
    for item in document["paths"].values():
        for operation in item.values():
            if isinstance(operation, Mapping):
                yield operation


def error_answers(operation: Node, describer: Describer) -> Iterator[tuple[str, Node]]:
    """Give the answers of an operation that are refusals, with their statuses."""
    for status, answer in operation["responses"].items():
        if str(status)[0] in "45d":
            yield str(status), describer.follow(answer)


def codes_in(answer: Node, describer: Describer) -> Iterator[str]:
    """Give the codes that an answer names, in its text and in its examples."""
    yield from QUOTED.findall(answer.get("description", ""))
    for value in example_values(answer, describer):
        yield value["error_code"]


def example_values(answer: Node, describer: Describer) -> Iterator[Node]:
    """Give the refusals that an answer shows as examples."""
    for content in answer.get("content", {}).values():
        for example in content.get("examples", {}).values():
            value = describer.follow(example).get("value")
            if is_refusal(value):
                yield value


def joined(answer: Node) -> str:
    """Give the text of an answer in one line."""
    return " ".join(answer.get("description", "").split())
