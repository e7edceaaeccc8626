"""Questions to the database, and one round trip for as many of them as are asked together."""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from persistence.pool import Connection
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


@dataclass(frozen=True, slots=True)
class Result:
    """What one statement brought: its rows, or how many it touched."""

    rows: list[Row]
    touched: int


async def exchange(connection: Connection, queries: Sequence[Query]) -> list[Result]:
    """Send every statement in one pipeline and return their results in order."""
    async with connection.pipeline():
        cursors = [await connection.execute(query.text, query.parameters) for query in queries]
    return [
        Result(await cursor.fetchall() if cursor.description else [], cursor.rowcount)
        for cursor in cursors
    ]
