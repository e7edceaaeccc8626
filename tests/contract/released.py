"""`python -m tests.contract.released` compares the contract with the last released one.

A change that breaks a client fails, unless `info.version` has a new major version.
`openapi/released/` keeps each published contract.
"""

import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Final

from server.contract.document import parse, read_source
from server.contract.published import published
from tests.contract.compatibility import differences
from tests.contract.schema_changes import Difference, Kind

RELEASED: Final = Path(__file__).parents[2] / "openapi/released"
Number = tuple[int, int, int]
LET_THROUGH: Final[frozenset[tuple[str, str]]] = frozenset()
"""Accepted differences: they break no client, or were decided. Places, and how the words begin."""


def number_of(version: str) -> Number:
    """Parse a version, `1.10.0`.

    Raises ValueError for any other text.
    """
    major, minor, patch = map(int, version.split("."))
    return major, minor, patch


def newest(folder: Path = RELEASED) -> Path:
    """Return the path of the last released contract."""
    return max(folder.glob("*.yaml"), key=lambda file: number_of(file.stem))


@cache
def last_released() -> dict[str, Any]:
    """Read the last released contract."""
    return parse(newest().read_bytes())


def refused(found: list[Difference], old: str, new: str) -> list[Difference]:
    """Return the differences that break clients, unless the major version is new."""
    if number_of(new)[0] > number_of(old)[0]:
        return []
    return [each for each in heeded(found) if each.kind is Kind.BREAKING]


def heeded(found: list[Difference]) -> list[Difference]:
    """Return the differences without the accepted ones."""
    return [
        each
        for each in found
        if not any(
            each.place == place and each.words.startswith(words) for place, words in LET_THROUGH
        )
    ]


def told(found: list[Difference], since: str) -> str:
    """Return a report of the differences, breaking ones last; texts are only counted."""
    if not found:
        return f"Since {since}: no difference."
    lines = [f"Since {since}:"]
    for kind in (Kind.CHANGE, Kind.BREAKING):
        lines += _grouped([each for each in found if each.kind is kind])
        if kind is Kind.CHANGE:
            reworded = sum(each.kind is Kind.WORDS for each in found)
            lines.append(f"  and {reworded} descriptions and examples are other ones.")
            lines.append("What breaks clients:")
    return "\n".join(lines if any(each.kind is Kind.BREAKING for each in found) else lines[:-1])


def _grouped(found: list[Difference]) -> Iterator[str]:
    """Yield a line for each kind of difference, with the number of its places."""
    places: dict[str, list[str]] = {}
    for place, words, _ in found:
        places.setdefault(words, []).append(place)
    for words, [first, *more] in places.items():
        yield f"  {first}{f' and {len(more)} more' if more else ''}: {words}"


def main() -> int:
    """Print the differences; return 1 if one breaks clients of this major version."""
    old, new = last_released(), parse(published(read_source()))
    versions = old["info"]["version"], new["info"]["version"]
    found = heeded(differences(old, new))
    sys.stdout.write(f"{told(found, versions[0])}\n")
    if refused(found, *versions):
        sys.stderr.write(f"That needs version {number_of(versions[0])[0] + 1}.0.0.\n")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
