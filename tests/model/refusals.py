"""The refusals of moves that break one rule or several."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")
Answers = frozenset[tuple[int, str]]


class Refusal(Exception):
    """The refusal of a move, with the answers that are right.

    Where several rules are broken the server names one of them. Faults of the request itself (400),
    and records that it names and that do not exist (404), come before everything else.
    """

    def __init__(self, found: set[tuple[int, str]]) -> None:
        super().__init__(", ".join(f"{status} {code}" for status, code in sorted(found)))
        first = {(status, code) for status, code in found if status in (400, 404)}
        references = {each for each in found if each[1] == "reference_not_found"}
        self.answers: Answers = frozenset(first | references if first else found)


class Faults:
    """The rules that a move breaks, collected until all are checked."""

    def __init__(self) -> None:
        self.found: set[tuple[int, str]] = set()

    def add(self, status: int, code: str, when: object = True) -> None:
        """Note a broken rule."""
        if when:
            self.found.add((status, code))

    def add_all(self, status: int, codes: Iterable[str]) -> None:
        """Note several broken rules of one status."""
        self.found |= {(status, code) for code in codes}

    def refuse(self) -> None:
        """Refuse the move if it breaks any rule."""
        if self.found:
            raise Refusal(self.found)


def gone(code: str) -> Refusal:
    """Return the refusal of an id in a path that names nothing."""
    return Refusal({(404, code)})


def find(records: Mapping[str, T], id: str, code: str) -> T:
    """Find a record by its id in a path."""
    if id not in records:
        raise gone(code)
    return records[id]


def refused(status: int, code: str) -> Refusal:
    """Return a refusal for one reason."""
    return Refusal({(status, code)})
