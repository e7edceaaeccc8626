"""What the model says when a move breaks a rule, or several."""

from collections.abc import Iterable

# Told by what the request names, before anybody looks at states and rules; one may hide another.
EARLY = frozenset({"validation_error", "reference_not_found"})


class Refused(Exception):
    """A move that the model refuses, with the answers it takes for right.

    Where several rules are broken the server names one: of what is found missing any, else one of
    the present state (409) before one of a rule (422).
    """

    def __init__(self, found: set[tuple[int, str]]) -> None:
        super().__init__(", ".join(f"{status} {code}" for status, code in sorted(found)))
        early = {each for each in found if each[0] in (400, 404) or each[1] in EARLY}
        first = min((status for status, _ in found - early), default=0)
        named = {each for each in found - early if each[0] == first}
        hidden = any(status in (400, 404) for status, _ in early)
        self.answers = frozenset(early if hidden else early | named)


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
    """The refusal of what is not there."""
    return Refused({(404, code)})


def refused(status: int, code: str) -> Refused:
    """A refusal for one reason."""
    return Refused({(status, code)})
