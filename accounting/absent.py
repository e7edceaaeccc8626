"""What a caller did not say: neither null nor a default, but nothing at all."""

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


def or_else(value: T | Absent, default: D) -> T | D:
    """Take what was said, else a default: null stays null."""
    return default if isinstance(value, Absent) else value


def or_none(value: T | Absent) -> T | None:
    """Take what was said, else None."""
    return None if isinstance(value, Absent) else value


def for_each(items: Iterable[T] | Absent, make: Callable[[int, T], R]) -> tuple[R, ...] | Absent:
    """Make something of each item of a list, and of its place in it, where a list was said."""
    return items if isinstance(items, Absent) else tuple(starmap(make, enumerate(items)))


def said(command: Any, *names: str) -> dict[str, Any]:
    """List the fields of a command that were said, all of them or those that are named."""
    chosen = names or [item.name for item in fields(command)]
    values = {name: getattr(command, name) for name in chosen}
    return {name: value for name, value in values.items() if value is not ABSENT}
