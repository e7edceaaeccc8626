"""A marker for a value that the caller did not send: neither null nor a default."""

from collections.abc import Callable, Iterable
from dataclasses import fields
from enum import Enum
from itertools import starmap
from typing import Any, Final, Literal, TypeVar

T = TypeVar("T")
D = TypeVar("D")
R = TypeVar("R")


class Absent(Enum):
    """The type of ABSENT."""

    ABSENT = "absent"


ABSENT: Final[Literal[Absent.ABSENT]] = Absent.ABSENT


class RequestObject(dict[str, Any]):
    """An object in a request body: a field that was not sent reads as ABSENT."""

    def __missing__(self, _name: str) -> Absent:
        return ABSENT


def or_else(value: T | Absent, default: D) -> T | D:
    """Return the value if it was sent, else a default. A null that was sent stays null."""
    return default if isinstance(value, Absent) else value


def or_none(value: T | Absent) -> T | None:
    """Return the value if it was sent, else None."""
    return None if isinstance(value, Absent) else value


def present(value: T | Absent) -> T:
    """Return a value that was sent, as the contract requires, under one of its names."""
    assert not isinstance(value, Absent), "the contract asks for it"
    return value


def for_each(items: Iterable[T] | Absent, make: Callable[[int, T], R]) -> tuple[R, ...] | Absent:
    """Apply `make` to the index and value of each item; a list that was not sent stays absent."""
    return items if isinstance(items, Absent) else tuple(starmap(make, enumerate(items)))


def said(command: Any, *names: str) -> dict[str, Any]:
    """Return the fields of a command that were sent, by name: all of them, or only `names`."""
    chosen = names or [item.name for item in fields(command)]
    values = {name: getattr(command, name) for name in chosen}
    return {name: value for name, value in values.items() if value is not ABSENT}
