"""Errors that refuse a request: a kind, a stable code, a message, and details for programs.

The kind is the class of the error (`server/http/errors.py` maps each kind to its status), the
code identifies the rule, and `detail` carries the values that a program needs to react. Errors are
raised, never returned. The code is a literal where it is raised, so that a test can compare the
codes of the product with the closed list of the contract.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final
from uuid import UUID

LONGEST_FIELD_TOLD: Final = 200
VERBS: Final = frozenset({"is", "was", "must", "has", "cannot", "repeats", "fits", "needs", "does"})


class ApiError(Exception):
    """An API error: a rule, a store or the server refuses a request."""

    def __init__(self, code: str, message: str, **detail: Any) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.detail = detail

    def tell_item(self, place: str) -> None:
        """Add the path of the list item that the error is about, such as `allocations.2`."""
        self.message = f"{place}: {self.message}"
        self.detail["item"] = place


class AboutItem:
    """A context manager that adds the path of a list item to each API error raised inside it.

    An empty path adds nothing. A posting enters it several times; written as a generator it would
    take three times as long.
    """

    __slots__ = ("_place",)

    def __init__(self, place: str) -> None:
        self._place = place

    def __enter__(self) -> None:
        """Begin the block that is about the item."""

    def __exit__(self, _kind: object, error: BaseException | None, _at: object) -> None:
        if self._place and isinstance(error, ApiError):
            error.tell_item(self._place)


class ValidationError(ApiError):
    """The request is invalid by itself, independently of the state of the books."""

    @classmethod
    def fields(cls, **field_errors: list[str]) -> "ValidationError":
        """Create the error from the faults by field: `{"amount_cents": ["must be at least 1"]}`."""
        return cls.with_faults(field_errors)

    @classmethod
    def with_faults(cls, faults: Mapping[str, list[str]]) -> "ValidationError":
        """Create the error from the faults by field, at least one; the message describes one.

        It is the first, or the first that suggests another name.
        `{"due_date": ["is not known"], "memo": ["is too long"]}` gives "due_date is not known. 1
        more field is wrong."
        """
        return cls("validation_error", _first_of(faults), field_errors=faults)


class NotAuthenticated(ApiError):
    """The caller is not authenticated, or no longer."""


class NotAllowed(ApiError):
    """The caller is known and may not do this here."""


class NotFound(ApiError):
    """The business has no such resource."""


class Conflict(ApiError):
    """The request conflicts with the present state; in another state it could succeed."""

    @staticmethod
    def of_state(message: str, current: str, allowed: Sequence[str] = ()) -> "Conflict":
        """Create the error for a transition that is not allowed; `allowed` are the next states."""
        return Conflict(
            "invalid_state_transition",
            message,
            current_state=current,
            allowed_next_states=list(allowed),
        )


class Stale(ApiError):
    """The caller's version of the resource is out of date."""


class RuleViolation(ApiError):
    """The request violates a rule about money or identity."""

    @staticmethod
    def of_names(
        id: UUID | None, external_id: str | None, records: str = "records"
    ) -> "RuleViolation":
        """Create the error for an id and an external id that name different records.

        Of two lists, each argument is the first without a counterpart in the other list; None if
        there is no such one.
        """
        names = {"id": None if id is None else str(id), "external_id": external_id}
        return RuleViolation(
            "reference_mismatch",
            f"The id and the external id belong to different {records}. Send only one of them.",
            **{name: value for name, value in names.items() if value is not None},
        )


class UnsupportedFile(ApiError):
    """The content of a file is of a type that is not accepted."""


class TooMany(ApiError):
    """The caller sends more requests than the limits allow."""


class Unavailable(ApiError):
    """The server cannot do this now; the same request may succeed shortly."""


class Outage(Unavailable):
    """A part that the server needs does not answer; the answer adds how to repeat the request."""


def _first_of(faults: Mapping[str, list[str]]) -> str:
    # A name that was meant may be required too; then the suggestion explains both.
    suggesting = (fault for fault in faults.items() if fault[1][0].endswith("?"))
    field, words = next(suggesting, next(iter(faults.items())))
    if len(field) > LONGEST_FIELD_TOLD or not (field.isascii() and field.isprintable()):
        return "The request has invalid fields."
    # Some faults are whole sentences, as "customer_id or customer_external_id is required".
    alone = words[0].partition(" ")[0] not in VERBS
    item = field.rpartition(".")[0]
    first = words[0] if alone else f"{field} {words[0]}"
    if alone and item:
        first = f"{item}: {first}"
    told = first if first.endswith("?") else f"{first}."
    more = len(faults) - 1
    if more == 0:
        return told
    return f"{told} {more} more field{'s are' if more > 1 else ' is'} wrong."
