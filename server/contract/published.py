"""The contract as partners get it: its own text, with anchors resolved and without our notes.

The source uses anchors for repeated parts; here each use is written out. Not every tool of partners
follows `<<`, and readers should not have to search for the definition of a field.
"""

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml

from server.contract.document import MERGE, SHARED, ContractLoader
from server.contract.yaml_text import entry

NOTE: Final = "x-gap"
LINKS: Final = "links"
LINKED_BODY: Final = "requestBody"

_ANCHORED_ITEM: Final = re.compile(r"^( *- )&\w+\n +", re.M)
_ANCHORED: Final = re.compile(r"^( *(?:- )?[\w'/-]+:) &\w+", re.M)


def published(source: bytes) -> bytes:
    """Resolve anchors, and remove our notes and the bodies of links.

    Only the fuzzer follows links, and it reads the source. openapi-generator refuses a document
    whose links have bodies that are not expressions.
    """
    lines = source.decode().splitlines(keepends=True)
    loader = ContractLoader(source)
    for key, value in _changed(loader.get_single_node()):
        first, column = key.start_mark.line, key.start_mark.column
        block = [*_block(lines, first, column)]
        text = ""
        if value:
            plain = without_notes(loader.construct_object(value, deep=True))
            written = "".join(entry(key.value, plain, column))
            text = lines[first][:column] + written[column:]
            text += "" if lines[block[-1]].strip() else "\n"
        for at in block:
            lines[at] = ""
        lines[first] = text
    return _without_anchors("".join(lines)).encode()


def _changed(
    node: Any, *, at_root: bool = True, link: bool = False, links: bool = False
) -> Iterator[tuple[Any, Any]]:
    """Find the keys to remove, and the keys to write out with their values."""
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _changed(item, at_root=False)
    elif isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if (
                key.value == NOTE
                or (link and key.value == LINKED_BODY)
                or (at_root and key.value == SHARED)
            ):
                yield key, None
            elif _borrows(value, key.end_mark.index):
                yield key, value
            else:
                yield from _changed(value, at_root=False, link=links, links=key.value == LINKS)


def _borrows(node: Any, place: int) -> bool:
    """Return whether a value is defined, in whole or in part, earlier in the text.

    Only the node itself counts for a block: parts inside it are found at their own keys.
    """
    if node.start_mark.index < place:
        return True
    if isinstance(node, yaml.SequenceNode):
        return any(_borrows(item, place) for item in node.value)
    if not isinstance(node, yaml.MappingNode):
        return False
    if any(key.value == MERGE for key, _ in node.value):
        return True
    return node.flow_style and any(_borrows(value, place) for _, value in node.value)


def _block(lines: list[str], first: int, column: int) -> Iterator[int]:
    """Yield the line numbers of a key and of its value, which has a deeper indentation."""
    yield first
    for at in range(first + 1, len(lines)):
        text = lines[at]
        if text.strip() and len(text) - len(text.lstrip()) <= column:
            return
        yield at


def without_notes(value: Any, *, link: bool = False, links: bool = False) -> Any:
    """Return a parsed contract as it is published: without our notes and the bodies of links.

    `link`: the value is a link. `links`: it holds links by name.
    """
    if isinstance(value, list):
        return [without_notes(part) for part in value]
    if not isinstance(value, dict):
        return value
    return {
        key: without_notes(part, link=links, links=key == LINKS)
        for key, part in value.items()
        if key != NOTE and not (link and key == LINKED_BODY)
    }


def _without_anchors(text: str) -> str:
    return _ANCHORED.sub(r"\1", _ANCHORED_ITEM.sub(r"\1", text))
