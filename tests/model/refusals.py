"""What the model says when a move breaks a rule, or several."""

from collections.abc import Iterable, Mapping
from typing import TypeVar

T = TypeVar("T")
Answers = frozenset[tuple[int, str]]


class Refused(Exception):
    """A move that the model refuses, with the answers it takes for right.

    Where several rules are broken the server names one of them. What the request itself shows
    (400) and what it asks for and is not there (404) come before everything else.
    """

    def __init__(self, found: set[tuple[int, str]]) -> None:
        super().__init__(", ".join(f"{status} {code}" for status, code in sorted(found)))
        first = {(status, code) for status, code in found if status in (400, 404)}
        references = {each for each in found if each[1] == "reference_not_found"}
        self.answers: Answers = frozenset(first | references if first else found)


class Faults:
    """The rules that a move breaks, gathered until all were looked at."""

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
            raise Refused(self.found)


def gone(code: str) -> Refused:
    """The refusal of an id in a path that names nothing."""
    return Refused({(404, code)})


def find(records: Mapping[str, T], id: str, code: str) -> T:
    """Find a record by its id in a path."""
    if id not in records:
        raise gone(code)
    return records[id]


def refused(status: int, code: str) -> Refused:
    """A refusal for one reason."""
    return Refused({(status, code)})
