"""Questions to the database; those that are asked together share one round trip."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from persistence.statements import Query, Row

T = TypeVar("T")

Answers = Sequence[list[Row]]


class Asks(Protocol):
    """Whoever can send questions: a session of one request."""

    async def ask(self, *questions: "Question[Any]") -> list[Any]: ...


@dataclass(frozen=True, slots=True)
class Question(Generic[T]):
    """Statements to send and what to make of their rows; awaiting it asks it alone.

    Questions asked together (`await books.ask(first, second)`) share one round trip.
    """

    session: Asks
    queries: tuple[Query, ...]
    answer: Callable[[Answers], T]

    def later(self) -> "Question[Callable[[], T]]":
        """Ask the same, and leave it to the asker when to look at the answer, which may refuse."""
        return Question(self.session, self.queries, lambda rows: lambda: self.answer(rows))

    def __await__(self) -> Generator[Any, None, T]:
        return self._alone().__await__()

    async def _alone(self) -> T:
        [answer] = await self.session.ask(self)
        result: T = answer
        return result
