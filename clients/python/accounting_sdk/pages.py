"""Answers in the types of the contract, and lists as iterators."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from accounting_sdk.core.models import PageInfo
from accounting_sdk.core.types import UNSET, Unset

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Page(Protocol[T_co]):
    """Any page of a list."""

    @property
    def results(self) -> Sequence[T_co]: ...

    @property
    def page_info(self) -> PageInfo: ...


def walk(page: Callable[[str | Unset], Page[T]]) -> Iterator[T]:
    """Go through all items of a list; the next page is asked for when its first item is."""
    cursor: str | Unset | None = UNSET
    while cursor is not None:
        answer = page(cursor)
        yield from answer.results
        cursor = answer.page_info.next_cursor


def taken(kind: type[T], answer: object) -> T:
    """Take what was answered, which is of this kind: refusals have been raised before.

    Raises TypeError where a server answers what the contract does not say.
    """
    if not isinstance(answer, kind):
        raise TypeError(f"The answer is no {kind.__name__}: {answer!r}")
    return answer
