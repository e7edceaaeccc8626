"""Typed answers, and lists and feeds as iterators."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol, TypeVar

from accounting_sdk.core.models import EventFeed, PageInfo, PartnerEventFeed
from accounting_sdk.core.types import UNSET, Unset

# A server that is stopping does not wait for an event; the next request waits at least this long.
PAUSE_SECONDS: Final = 1.0

T = TypeVar("T")
P = TypeVar("P")
F = TypeVar("F", EventFeed, PartnerEventFeed)
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


def follow(
    feed: Callable[[P], F], after: P, position: Callable[[F], P], *, endless: bool
) -> Iterator[F]:
    """Yield the pages of a feed after a position; if not `endless`, up to the newest event."""
    while True:
        begun = time.monotonic()
        page = feed(after)
        moved, after = position(page) != after, position(page)
        if page.results or moved:
            yield page
        if page.has_more:
            continue
        if not endless:
            return
        if not page.results and time.monotonic() - begun < PAUSE_SECONDS:
            time.sleep(PAUSE_SECONDS)


def taken(kind: type[T], answer: object) -> T:
    """Return the answer as the expected type; errors were already raised before.

    Raises TypeError if the server's answer does not fit the contract.
    """
    if not isinstance(answer, kind):
        raise TypeError(f"The answer is no {kind.__name__}: {answer!r}")
    return answer
