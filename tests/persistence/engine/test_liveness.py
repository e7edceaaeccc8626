"""The silence of a database, with connections that answer as a test decides."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from psycopg import OperationalError
from psycopg.errors import ConnectionTimeout

from persistence.engine.liveness import TICKS_TO_AWAY, TICKS_TO_TRY, Liveness

TICK_SECONDS = 0.01


class Database:
    """A database with one connection in use, which waits for an answer."""

    def __init__(self) -> None:
        self.reply: Exception | None = ConnectionTimeout("no reply")
        self.awaited: bool | None = True
        self.tries = 0
        self.ended = 0
        self.liveness = Liveness(lambda: self.awaited, self.connect, self.end_waits)

    async def connect(self) -> None:
        self.tries += 1
        await asyncio.sleep(TICK_SECONDS)
        if self.reply is not None:
            raise self.reply

    def end_waits(self) -> None:
        self.ended += 1
        self.awaited = None

    async def until(self, what: Callable[[], bool]) -> None:
        async with asyncio.timeout(10):
            while not what():
                await asyncio.sleep(TICK_SECONDS / 2)

    async def ticks(self, count: int) -> None:
        await asyncio.sleep(count * TICK_SECONDS * 1.5)


@pytest.fixture(autouse=True)
def short_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("persistence.engine.liveness.TICK_SECONDS", TICK_SECONDS)


def play(story: Callable[[Database], Awaitable[None]]) -> Database:
    """Run a story with a database whose connections are watched."""

    async def played() -> Database:
        database = Database()
        database.liveness.watch()
        await story(database)
        database.liveness.stop()
        return database

    return asyncio.run(played())


class TestLiveness:
    def test_a_database_that_answers_nobody_is_away_until_a_new_connection_is_answered(
        self,
    ) -> None:
        async def story(database: Database) -> None:
            await database.until(lambda: database.liveness.away)
            assert database.ended == 1
            await database.ticks(10)
            assert database.liveness.away
            database.reply = None
            await database.until(lambda: not database.liveness.away)

        assert play(story).tries >= 2

    @pytest.mark.parametrize("reply", [None, OperationalError("too many clients already")])
    def test_one_connection_may_wait_long_while_a_new_one_gets_any_reply(
        self, reply: Exception | None
    ) -> None:
        async def story(database: Database) -> None:
            database.reply = reply
            await database.ticks(5 * TICKS_TO_AWAY)
            assert not database.liveness.away

        database = play(story)
        assert (database.ended, database.tries > 1) == (0, True)

    def test_no_connection_is_tried_while_another_receives_something(self) -> None:
        async def story(database: Database) -> None:
            for _ in range(5 * TICKS_TO_TRY):
                database.liveness.answered = True
                await asyncio.sleep(TICK_SECONDS / 2)

        assert play(story).tries == 0

    @pytest.mark.parametrize("awaited", [None, False])
    def test_silence_counts_only_while_an_answer_is_awaited(self, awaited: bool | None) -> None:
        async def story(database: Database) -> None:
            database.awaited = awaited
            await database.ticks(5 * TICKS_TO_AWAY)

        assert play(story).tries == 0

    @pytest.mark.parametrize("reply", [OperationalError("starting up"), OSError("no route")])
    def test_a_refusal_does_not_end_an_outage(self, reply: Exception) -> None:
        async def story(database: Database) -> None:
            await database.until(lambda: database.liveness.away)
            database.reply = reply
            await database.ticks(10)
            assert database.liveness.away
            database.reply = None
            await database.until(lambda: not database.liveness.away)

        play(story)
