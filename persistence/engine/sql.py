"""Statements: SQLAlchemy builds them, and psycopg executes their text.

A statement is compiled once to SQL text with named parameters and sent over psycopg directly. This
costs a quarter of the execution by SQLAlchemy (docs/decisions/0003).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from sqlalchemy import ClauseElement, bindparam, literal_column
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import Dialect
from sqlalchemy.sql.compiler import SQLCompiler
from sqlalchemy.sql.elements import BindParameter, ColumnElement
from sqlalchemy.types import TypeEngine

DIALECT: Dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call] # SQLAlchemy's own gap.

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Query:
    """A statement with its parameters, ready to be sent.

    `once`: it is planned for these values alone, because its text is never repeated or its best
    plan depends on them. A generic plan of a range may expect few rows and then read all of them.
    """

    text: str
    parameters: Mapping[str, Any]
    once: bool = False


def compiled(statement: ClauseElement) -> str:
    """Return the SQL text of a statement; refuse one that hides a literal among its parameters.

    A literal that became a parameter would be lost, since only named values are sent.
    """
    result = statement.compile(dialect=DIALECT)
    assert isinstance(result, SQLCompiler)
    for name, parameter in result.binds.items():
        if parameter.value is not None or parameter.callable is not None:
            raise ValueError(f"the literal {parameter.value!r} became the parameter {name!r}")
    return str(result)


def given(name: str, type_: TypeEngine[Any] | type[TypeEngine[Any]]) -> BindParameter[Any]:
    """Return a parameter that the caller fills by its name."""
    return bindparam(name, type_=type_)


def word(text: str) -> ColumnElement[str]:
    """Return a literal text of ours for a statement; raise ValueError for an unsafe one."""
    if "'" in text or "%" in text or ":" in text:
        raise ValueError(f"{text!r} cannot stand in a statement as it is")
    return literal_column(f"'{text}'")


# Reads from the database; those that are sent together share one round trip.


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
