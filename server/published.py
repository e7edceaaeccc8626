"""The contract as partners get it: its own text, without our notes and what generators refuse."""

from collections.abc import Iterator
from typing import Any, Final

import yaml

from server.contract import ContractLoader

NOTE: Final = "x-gap"
LINKS: Final = "links"
LINKED_BODY: Final = "requestBody"


def published(source: bytes) -> bytes:
    """Leave out our notes on the specification, and the bodies that links send.

    Only the fuzzer follows links, and it reads the source. openapi-generator refuses a document
    whose links hold bodies that are no expressions.
    """
    lines = source.decode().splitlines(keepends=True)
    left_out = set()
    for key in _unpublished(yaml.compose(source, ContractLoader)):
        left_out |= set(_block(lines, key.start_mark.line, key.start_mark.column))
    return "".join(line for at, line in enumerate(lines) if at not in left_out).encode()


def _unpublished(node: Any, *, link: bool = False, links: bool = False) -> Iterator[Any]:
    """Find the keys that are left out; each stands on a line of its own."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _unpublished(item)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if key.value == NOTE or (link and key.value == LINKED_BODY):
                yield key
            else:
                yield from _unpublished(value, link=links, links=key.value == LINKS)


def _block(lines: list[str], first: int, column: int) -> Iterator[int]:
    """Give the lines of a key and of its value, which is indented more."""
    yield first
    for at in range(first + 1, len(lines)):
        text = lines[at]
        if text.strip() and len(text) - len(text.lstrip()) <= column:
            return
        yield at
