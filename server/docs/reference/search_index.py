"""The index that `find.js` searches: the words of every page, and the names of fields."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

WORD: Final = re.compile(r"\w+")
NOTE_CHARACTERS: Final = 110


@dataclass(frozen=True, slots=True)
class SearchEntry:
    """A page in the index: `note` is shown below its title; `text` and fields are searched.

    The anchor of a field is `anchor` and its name.
    """

    kind: str
    title: str
    address: str
    note: str
    text: str
    fields: tuple[str, ...] = ()
    anchor: str = ""


def search_index(
    pages: Sequence[SearchEntry], synonyms: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> dict[str, Any]:
    """List the pages, and by word and by field the numbers of the pages that have it.

    `synonyms` has for a word or phrase the words to search as well, the best first.

    Words on more than half of the pages are left out, since they distinguish few pages.
    """
    words: defaultdict[str, list[int]] = defaultdict(list)
    fields: defaultdict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for word in sorted(set(WORD.findall(f"{page.title} {page.text}".lower()))):
            words[word].append(number)
        for name in dict.fromkeys(page.fields):
            fields[name].append(number)
    return {
        "pages": [
            [page.kind, page.title, page.address, shortened(page.note), page.anchor]
            for page in pages
        ],
        "words": {
            word: found for word, found in sorted(words.items()) if len(found) <= len(pages) / 2
        },
        "fields": dict(sorted(fields.items())),
        "synonyms": dict(synonyms),
    }


def shortened(text: str) -> str:
    """Truncate a text at a word, in one line."""
    line = " ".join(text.split())
    if len(line) <= NOTE_CHARACTERS:
        return line
    return f"{line[:NOTE_CHARACTERS].rpartition(' ')[0]} …"
