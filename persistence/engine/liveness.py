"""Notices a database that does not answer, by all connections of a pool together.

A frozen PostgreSQL, or a network that drops everything, closes no connection: it only stops
answering. One silent connection proves nothing, since a report may take long. So the pool counts
ticks of 0.4 s in which some connection waits and none receives anything. After two of them it tries
a new connection, and any reply to that is an answer. After six the database is away: all requests
end, and new ones end immediately, until a new connection gets an answer.

A tick counts once, even where the process itself was stopped for longer.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import Context
from typing import Final

import structlog
from psycopg import OperationalError
from psycopg.errors import ConnectionTimeout

TICK_SECONDS: Final = 0.4
TICKS_TO_TRY: Final = 2
TICKS_TO_AWAY: Final = 6  # No request waits for 3 seconds.


class NoAnswer(OperationalError):
    """A database that answers on no connection."""

    def __init__(self) -> None:
        super().__init__("the database does not answer")


class Liveness:
    """The silence of one database so far, counted while its connections are in use.

    `is_awaited` returns whether any connection waits for an answer, None where none is in use.
    `connect` tries a new connection with one statement. `end_waits` ends all that wait.
    """

    def __init__(
        self,
        is_awaited: Callable[[], bool | None],
        connect: Callable[[], Awaitable[None]],
        end_waits: Callable[[], None],
    ) -> None:
        self._is_awaited = is_awaited
        self._connect = connect
        self._end_waits = end_waits
        self._silent_ticks = 0
        self._timer: asyncio.TimerHandle | None = None
        self._trying: asyncio.Task[None] | None = None
        self._log = structlog.get_logger("accounting.database")
        self.answered = False  # Since the last tick; each connection sets it.
        self.away = False

    def watch(self) -> None:
        """Count from now on, while connections are in use."""
        if self._timer is None:
            # An empty context: this is the work of no single request.
            self._timer = asyncio.get_running_loop().call_later(
                TICK_SECONDS, self._tick, context=Context()
            )

    def stop(self) -> None:
        """Stop counting and trying."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._trying is not None:
            self._trying.cancel()

    def _tick(self) -> None:
        self._timer = None
        awaited = self._is_awaited()
        self._silent_ticks = self._silent_ticks + 1 if awaited and not self.answered else 0
        self.answered = False
        if self._silent_ticks >= TICKS_TO_TRY and (self._trying is None or self._trying.done()):
            self._trying = asyncio.create_task(self._try())
        if self._silent_ticks >= TICKS_TO_AWAY:
            if not self.away:
                self._log.error("database_silent")
            self.away = True
        if self.away:
            self._end_waits()
        if awaited is not None:
            self.watch()

    async def _try(self) -> None:
        """Try new connections until one gets an answer, or others do."""
        while not await self._gets_answer():
            if not self.away and not self._silent_ticks:
                return
        self.answered = True
        if self.away:
            self._log.info("database_answers")
        self.away = False

    async def _gets_answer(self) -> bool:
        """Return whether a new connection gets an answer.

        A refusal is an answer too, such as one for too many connections. Once the database is away,
        it is not: nothing could be served.
        """
        try:
            await self._connect()
        except (TimeoutError, ConnectionTimeout):
            return False
        except Exception:  # Any other failure is a reply, and the next try may succeed.
            if self.away:
                await asyncio.sleep(TICK_SECONDS)
            return not self.away
        return True
