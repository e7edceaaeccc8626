"""What is read from the database; fetches that are sent together share one round trip."""

from collections.abc import Callable, Generator, Sequence
from typing import Any, Generic, Protocol, TypeVar

from accounting.values import dataclass
from persistence.engine.sql import Query, Row

T = TypeVar("T")

Answers = Sequence[list[Row]]
"""The rows of each statement of a fetch."""


class Fetches(Protocol):
    """Whoever can send fetches: a session of one request."""

    async def fetch(self, *fetches: "Fetch[Any]") -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Fetch(Generic[T]):
    """Statements to send and what to make of their rows; awaiting it sends it alone.

    Fetches sent together (`await books.fetch(first, second)`) share one round trip.
    """

    session: Fetches
    queries: tuple[Query, ...]
    answer: Callable[[Answers], T]

    def later(self) -> "Fetch[Callable[[], T]]":
        """Send the same, and let the caller choose when to read the answer, which may refuse."""
        return Fetch(self.session, self.queries, lambda rows: lambda: self.answer(rows))

    def __await__(self) -> Generator[Any, None, T]:
        return self._alone().__await__()

    async def _alone(self) -> T:
        [answer] = await self.session.fetch(self)
        result: T = answer
        return result
