"""Everything that can be refused: a kind, a stable code, a sentence, and facts for programs.

The kind says what is wrong (`server/responses/errors.py` gives each kind its status), the code says
which rule, and `detail` carries what a program needs to act on it. Errors are raised, never
returned. The code stands as a literal where it is raised, so that a test can compare the codes
of the product with the closed list of the contract.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

LONGEST_FIELD_TOLD: Final = 200
VERBS: Final = frozenset({"is", "was", "must", "has", "cannot", "repeats", "fits", "needs", "does"})


class Refusal(Exception):
    """A rule, a store or the server refuses a request."""

    def __init__(self, code: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail

    def tell_item(self, place: str) -> None:
        """Say which item of a list of the request it is about, as `allocations.2`."""
        self.message = f"{place}: {self.message}"
        self.detail["item"] = place


class AboutItem:
    """Lets a refusal say which item of a list of the request it is about, where that is known.

    A posting enters it several times: made of a generator it would take three times as long.
    """

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        """Begin what is about the item."""

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        if self._place and isinstance(error, Refusal):
            error.tell_item(self._place)


class Malformed(Refusal):
    """The request alone shows that it cannot be served."""

    @classmethod
    def fields(cls, **field_errors: list[str]) -> "Malformed":
        """Refuse a request with its faults by field: `{"amount_cents": ["must be at least 1"]}`."""
        return cls.with_faults(field_errors)

    @classmethod
    def with_faults(cls, faults: Mapping[str, list[str]]) -> "Malformed":
        """Refuse a request with its faults by field, at least one; the message tells the first.

        `{"due_date": ["is not known"], "memo": ["is too long"]}` is told as "due_date is not known.
        1 more field is wrong."
        """
        return cls("validation_error", _first_of(faults), field_errors=faults)


class NotAuthenticated(Refusal):
    """The caller is not known, or no longer."""


class NotAllowed(Refusal):
    """The caller is known and may not do this here."""


class NotFound(Refusal):
    """There is no such resource in this business."""


class Conflict(Refusal):
    """It clashes with the present state; in another state it would succeed."""

    @staticmethod
    def of_state(message: str, current: str, allowed: Sequence[str] = ()) -> "Conflict":
        """Refuse a move out of a state; `allowed` are the states that can follow it."""
        return Conflict(
            "invalid_state_transition",
            message,
            current_state=current,
            allowed_next_states=list(allowed),
        )


class Stale(Refusal):
    """The caller's picture of the resource is older than the resource."""


class RuleBroken(Refusal):
    """It breaks a rule about money or identity."""


class UnsupportedFile(Refusal):
    """A file is of a kind that is not kept; its content says so."""


class TooMany(Refusal):
    """The caller asks more often than the limits allow."""


class Unavailable(Refusal):
    """The server cannot do this now; the same request may succeed in a moment."""


def _first_of(faults: Mapping[str, list[str]]) -> str:
    field, words = next(iter(faults.items()))
    if len(field) > LONGEST_FIELD_TOLD or not (field.isascii() and field.isprintable()):
        return "The request has invalid fields."
    # Some stand alone, as "customer_id or customer_external_id is required" of `customer_id`.
    alone = words[0].partition(" ")[0] not in VERBS
    first = words[0] if alone else f"{field} {words[0]}"
    told = first if first.endswith("?") else f"{first}."
    more = len(faults) - 1
    if more == 0:
        return told
    return f"{told} {more} more field{'s are' if more > 1 else ' is'} wrong."
