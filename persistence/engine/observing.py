"""What a request makes of the database, told to whoever listens while it happens.

Whoever serves a request says who that is; without it nobody listens. Nothing here knows what
becomes of it: counts, a line in the log, a span of a trace.
"""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from contextvars import ContextVar
from typing import Final, Protocol

from persistence.engine.sql import Query

_NOTHING: Final = nullcontext()


class Observer(Protocol):
    """Hears of one request, in the middle of its work: it must neither wait nor raise."""

    def asked(self, queries: Sequence[Query], seconds: float, /) -> None:
        """Hear of a round trip with its statements, one that failed as well."""

    def waited(self, seconds: float, /) -> None:
        """Hear that it waited for its turn at a connection, given up or not."""

    def runs_again(self, cause: str, /) -> None:
        """Hear that a writing begins anew: `stale`, `deadlock`, `serialization`, `raced`, ..."""

    def replayed(self) -> None:
        """Hear that it is answered with what was answered before."""

    def read_from(self, source: str, /) -> None:
        """Hear who answered a reading that a standby may answer: `standby` or `primary`."""

    def room(self, name: str, /) -> AbstractContextManager[object]:
        """Enter a room of the house for the time of a block, as `persistence`."""


class Nobody:
    """Hears nothing."""

    def asked(self, _queries: Sequence[Query], _seconds: float) -> None:
        """Let it pass."""

    def waited(self, _seconds: float) -> None:
        """Let it pass."""

    def runs_again(self, _cause: str) -> None:
        """Let it pass."""

    def replayed(self) -> None:
        """Let it pass."""

    def read_from(self, _source: str) -> None:
        """Let it pass."""

    def room(self, _name: str) -> AbstractContextManager[object]:
        """Let it pass."""
        return _NOTHING


_NOBODY: Final = Nobody()
observer: Final[ContextVar[Observer]] = ContextVar("observer", default=_NOBODY)
"""Who hears of the request that this task serves."""
