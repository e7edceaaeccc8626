"""Pages of lists: requests for them, their rows, and the cursor of the next page.

The last column of a total order is always the id. A cursor is the place of the last row shown, so
that page 500 costs as much as page 1.
"""

import base64
import binascii
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar
from uuid import UUID

import orjson

from accounting.errors import ValidationError
from persistence.engine.sql import Row

T = TypeVar("T")
U = TypeVar("U")


class HasId(Protocol):
    """A row of a list; its id ends the total order."""

    @property
    def id(self) -> UUID: ...


R = TypeVar("R", bound=HasId)

AT_HAND = "at_hand"  # The name of the list in a cursor, where the rows come from no table.


@dataclass(frozen=True, slots=True)
class PageRequest:
    """A request for one page of a list, with its filters and its sort."""

    page: int = 1
    page_size: int = 20
    cursor: str | None = None
    count: bool = True
    sort: str | None = None
    filters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Page(Generic[T]):
    """A page of a list; `total` is None where the rows were not counted."""

    rows: list[T]
    total: int | None
    wanted: PageRequest
    next_cursor: str | None

    def of(self, shape: Callable[[T], U]) -> "Page[U]":
        """Return the same page with each row converted by a function."""
        return Page([shape(row) for row in self.rows], self.total, self.wanted, self.next_cursor)

    @property
    def info(self) -> dict[str, Any]:
        """The position of the page in its list, as the API shows it."""
        total, size = self.total, self.wanted.page_size
        return {
            "total_count": total,
            "current_page": None if self.wanted.cursor is not None else self.wanted.page,
            "total_pages": None if total is None else -(-total // size),
            "page_size": size,
            "next_cursor": self.next_cursor,
        }


def page_of(
    rows: Sequence[R], wanted: PageRequest, key: Callable[[R, str], str], default: str
) -> Page[R]:
    """Return one page of rows in memory; `key` returns the text of a row for a sort field."""
    sort = wanted.sort or default
    name, down = sort.removeprefix("-"), sort.startswith("-")

    def place(row: R) -> tuple[str, UUID]:
        return key(row, name), row.id

    ordered = sorted(rows, key=place, reverse=down)
    start = (wanted.page - 1) * wanted.page_size
    if wanted.cursor:
        last = read_cursor(wanted.cursor, AT_HAND, sort)
        start = sum(place(row) >= last if down else place(row) <= last for row in ordered)
    end = start + wanted.page_size
    shown = list(ordered[start:end])
    more = bool(shown) and end < len(ordered)
    cursor = None
    if more:
        sorted_by, id_ = place(shown[-1])
        cursor = write_cursor(AT_HAND, sort, {"sorted_by": sorted_by, "id": id_})
    return Page(shown, len(rows) if wanted.count else None, wanted, cursor)


def write_cursor(name: str, sort: str, row: Row) -> str:
    """Encode the cursor of the page after a row of the named list."""
    place = orjson.dumps([name, sort, row["sorted_by"], row["id"]])
    return base64.urlsafe_b64encode(place).rstrip(b"=").decode()


def read_cursor(cursor: str, name: str, sort: str) -> tuple[str, UUID]:
    """Decode a cursor: the sort value, as text, and the id of the last row of the earlier page.

    Raises ValidationError where it was made by another list or for another sort.
    """
    try:
        padded = cursor + "=" * (-len(cursor) % 4)
        made_by, made_for, value, key = orjson.loads(base64.urlsafe_b64decode(padded))
        place = (value, UUID(key))
    except (ValueError, TypeError, AttributeError, binascii.Error):
        made_by = made_for = value = None
    if made_by != name or type(value) is not str:
        raise ValidationError.fields(cursor=["is not a cursor of this list"])
    if made_for != sort:
        raise ValidationError.fields(cursor=["was made for another sort"])
    return place
