"""Typed answers, and lists as iterators over all pages."""

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol, TypeVar

from accounting_sdk.core.models import PageInfo
from accounting_sdk.core.types import UNSET, Unset

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Page(Protocol[T_co]):
    """A page of any list."""

    @property
    def results(self) -> Sequence[T_co]: ...

    @property
    def page_info(self) -> PageInfo: ...


def walk(page: Callable[[str | Unset], Page[T]]) -> Iterator[T]:
    """Yield all items of a list; each page is requested when its first item is needed."""
    cursor: str | Unset | None = UNSET
    while cursor is not None:
        answer = page(cursor)
        yield from answer.results
        cursor = answer.page_info.next_cursor


def taken(kind: type[T], answer: object) -> T:
    """Return the answer as the expected type; errors were already raised before.

    Raises TypeError if the server's answer does not fit the contract.
    """
    if not isinstance(answer, kind):
        raise TypeError(f"The answer is no {kind.__name__}: {answer!r}")
    return answer
