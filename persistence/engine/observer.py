"""Events of a request in the database, reported to an observer while they happen.

The server sets the observer of each request; the default ignores all events. The observer makes
counts, a line in the log or a span of a trace of them.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Protocol

from persistence.engine.sql import Query

_NOTHING: Final = nullcontext()


class Observer(Protocol):
    """The receiver of the events of one request; its methods must neither wait nor raise."""

    def asked(self, queries: Sequence[Query], seconds: float, /) -> None:
        """Record a round trip with its statements, also one that failed."""

    def waited(self, seconds: float, /) -> None:
        """Record the seconds of a wait for a permit, also one that was cancelled."""

    def runs_again(self, cause: str, /) -> None:
        """Record another run of a writing: `stale`, `deadlock`, `serialization`, `raced`, ..."""

    def replayed(self) -> None:
        """Record that the request gets the stored answer of an earlier one."""

    def read_from(self, source: str, /) -> None:
        """Record the source of a reading that a standby may answer: `standby` or `primary`."""

    def in_package(self, name: str, /) -> AbstractContextManager[object]:
        """Return a context for the work of one package, such as `persistence`."""


class Nobody:
    """An observer that ignores all events."""

    def asked(self, _queries: Sequence[Query], _seconds: float) -> None:
        """Ignore the event."""

    def waited(self, _seconds: float) -> None:
        """Ignore the event."""

    def runs_again(self, _cause: str) -> None:
        """Ignore the event."""

    def replayed(self) -> None:
        """Ignore the event."""

    def read_from(self, _source: str) -> None:
        """Ignore the event."""

    def in_package(self, _name: str) -> AbstractContextManager[object]:
        """Return a context that does nothing."""
        return _NOTHING


_NOBODY: Final = Nobody()
observer: Final[ContextVar[Observer]] = ContextVar("observer", default=_NOBODY)
"""The observer of the request that the current task serves."""
