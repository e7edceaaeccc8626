"""Reads from the database; those that are sent together share one round trip."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from persistence.engine.sql import Query, Row

T = TypeVar("T")

Answers = Sequence[list[Row]]
"""The rows of each statement of a fetch."""


class Fetches(Protocol):
    """A session of one request, which can send fetches."""

    async def fetch(self, *fetches: "Fetch[Any]") -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Fetch(Generic[T]):
    """Statements to send, and the function that reads their rows; `await` sends a fetch alone.

    Fetches sent together (`await books.fetch(first, second)`) share one round trip.
    """

    session: Fetches
    queries: tuple[Query, ...]
    answer: Callable[[Answers], T]

    def later(self) -> "Fetch[Callable[[], T]]":
        """Return a fetch whose result is a function that reads the answer, which may raise."""
        return Fetch(self.session, self.queries, lambda rows: lambda: self.answer(rows))

    def __await__(self) -> Generator[Any, None, T]:
        return self._alone().__await__()

    async def _alone(self) -> T:
        [answer] = await self.session.fetch(self)
        result: T = answer
        return result
