"""The changelog as partners read it, from CHANGELOG.md: without the entries for operators."""

import re
from collections.abc import Iterator
from typing import Final

from server.docs.reference.text import sections, slug

ITEM: Final = re.compile(r"\n(?=- )")
FOR_OPERATORS: Final = "- Operators:"
HEADING: Final = "### "


def changelog(text: str) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield the releases of a changelog by anchor, each with its title and text."""
    for title, told in sections(text)[1].items():
        yield f"version-{slug(title.partition(' ')[0])}", (title, for_partners(told))


def for_partners(text: str) -> str:
    """Return the text of a release without entries for operators and headings left empty."""
    blocks: list[str] = []
    for block in re.split(r"\n{2,}", text.strip()):
        items = [item for item in ITEM.split(block) if not item.startswith(FOR_OPERATORS)]
        if items and blocks and block.startswith(HEADING) and blocks[-1].startswith(HEADING):
            blocks.pop()
        blocks += ["\n".join(items)] if items else []
    if blocks and blocks[-1].startswith(HEADING):
        blocks.pop()
    return "\n\n".join(blocks)
