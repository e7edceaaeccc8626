"""Writings of one business that follow each other on one connection, each behind a COMMIT.

How the one before ends is up to a test; the one behind it is written once in any case.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from typing import Any
from uuid import uuid4

import psycopg
import pytest

from accounting.errors import NotFound, Refusal
from accounting.values import replace
from persistence import tables
from persistence.engine.machines import BEGIN
from persistence.engine.pipeline import Pipeline, UnderWay, exchange
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sessions import COMMIT, Writing
from persistence.engine.sql import Query
from persistence.engine.transaction import Work, writing
from tests.api_server import ApiServer
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.persistence.test_staging import customer_row, entry_row
from tests.persistence.test_transaction import Handle, Writer, raising, staging

SLEEP = Query("SELECT pg_sleep(600)", {})
ASLEEP = (
    "SELECT pid FROM pg_stat_activity WHERE wait_event = 'PgSleep' AND datname = current_database()"
)


@pytest.fixture
def shop(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def writer(api_server: ApiServer, shop: Business, monkeypatch: pytest.MonkeyPatch) -> Writer:
    monkeypatch.setattr("persistence.engine.turns.QUICK_SECONDS", PATIENCE_SECONDS)
    assert within(PATIENCE_SECONDS, lambda: not api_server.query(ASLEEP)), "one of before is left"
    return Writer(api_server, shop)


class Wire:
    """What was sent and answered, in its order, each with its last statement."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.told: list[tuple[str, str]] = []
        self.connections: set[Pipeline] = set()
        send, receive = Pipeline.send, Pipeline.receive

        def sending(pipe: Pipeline, queries: Sequence[Query]) -> UnderWay:
            self.connections.add(pipe)
            self.told.append(("sent", queries[-1].text))
            return send(pipe, queries)

        async def receiving(pipe: Pipeline, under_way: UnderWay) -> Any:
            found = await receive(pipe, under_way)
            self.told.append(("answered", under_way.messages[-1].text.decode()))
            return found

        monkeypatch.setattr(Pipeline, "send", sending)
        monkeypatch.setattr(Pipeline, "receive", receiving)


def flushing(name: str, *queries: Query) -> Handle:
    """A handler whose flush asks the database for more."""

    async def handle(session: Writing) -> None:
        session.staging.insert(tables.customer, customer_row(company_name=name))
        for query in queries:
            session.staging.follow_with(query)

    return handle


async def unbalanced(session: Writing) -> None:
    """Fail at COMMIT and not before."""
    session.staging.insert(tables.customer, customer_row(company_name="unbalanced"))
    session.staging.insert(tables.journal_entry, entry_row("JE-1"))


async def ended(pool: Pool, work: Work) -> str:
    """Do a writing; say how it ended."""
    try:
        answer, _ = await writing(pool, work)
    except (Refusal, psycopg.Error) as error:
        return type(error).__name__
    return answer.body.decode()


async def fallen_asleep(writer: Writer) -> None:
    """Wait until a flush sleeps; what could be sent behind it is sent by then."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not writer.api_server.query(ASLEEP):
            await asyncio.sleep(0.01)


def in_turn(writer: Writer, play: Callable[[Pool], Awaitable[Any]]) -> Any:
    """Play with a pool in which a business writes one after the other; all come back."""

    async def go() -> Any:
        async with make_pool(writer.api_server.database_url, size=8) as pool:
            found = await play(pool)
            assert (pool.occupancy.lent, pool.occupancy.waiting) == (0, 0)
            assert (await ended(pool, writer.work(staging("last")))).startswith("run")
        return found

    return asyncio.run(go())


def test_the_next_is_sent_behind_a_commit_on_its_connection(
    writer: Writer, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = Wire(monkeypatch)

    async def go() -> list[str]:
        works = [writer.work(staging(name)) for name in ("a", "b", "c")]
        async with make_pool(writer.api_server.database_url, size=8) as pool:
            return await asyncio.gather(*(ended(pool, work) for work in works))

    assert asyncio.run(go()) == ["run 1", "run 2", "run 3"]
    assert len(wire.connections) == 1
    opening = wire.told[0][1]
    follows = [("sent", "COMMIT"), ("sent", opening), ("answered", "COMMIT")]
    of_commits = [each for each in wire.told if each[1] == "COMMIT" or each[0] == "sent"]
    assert of_commits == [("sent", opening), *follows * 2, ("sent", "COMMIT"), follows[-1]]
    assert writer.customers() == {"a", "b", "c"}


def test_whoever_waits_for_a_place_comes_first(writer: Writer) -> None:
    order: list[str] = []
    slow = Query("SELECT pg_sleep(0.3)", {})

    async def write(pool: Pool, name: str) -> None:
        async with pool.for_writing("a") as lent:
            order.append(name)
            await lent.begin([BEGIN])
            await lent.commit([slow, COMMIT])

    async def read(pool: Pool, name: str) -> None:
        async with pool.connection(name):
            order.append(name)
            await asyncio.sleep(0.1)

    async def go() -> None:
        async with make_pool(writer.api_server.database_url, size=2) as pool:
            await asyncio.gather(
                write(pool, "first"), read(pool, "b"), write(pool, "second"), read(pool, "c"),
                read(pool, "d"),
            )  # fmt: skip

    asyncio.run(go())
    assert order.index("second") > order.index("d")


class TestWhereTheOneBeforeFails:
    @pytest.mark.parametrize(
        ("handle", "end"),
        [
            (flushing("no", raising("23514")), "CheckViolation"),
            (flushing("no", raising("22P02")), "Malformed"),
            (flushing("no", raising("57014")), "Unavailable"),
            (flushing("no", raising("40001")), "Unavailable"),
            (flushing("no", raising("22012")), "Unavailable"),
            (unbalanced, "CheckViolation"),
        ],
    )
    @pytest.mark.parametrize("key", [None, "k"])
    def test_the_next_is_written_once(
        self, writer: Writer, handle: Handle, end: str, key: str | None
    ) -> None:
        async def play(pool: Pool) -> list[str]:
            first = ended(pool, writer.work(handle, key))
            return await asyncio.gather(
                first, *(ended(pool, writer.work(staging(name))) for name in ("b", "c"))
            )

        said = in_turn(writer, play)
        assert said[0] == end
        assert all(each.startswith("run") for each in said[1:])
        assert writer.customers() == {"b", "c", "last"}

    @pytest.mark.parametrize("asks", [True, False])
    def test_its_refusal_is_kept_whether_the_next_asks_anything_or_not(
        self, writer: Writer, asks: bool
    ) -> None:
        async def taken(session: Writing) -> None:
            asked = Query("SELECT * FROM account WHERE code = '1000'", {})
            [[account]] = [found.rows for found in await exchange(session.connection, [asked])]
            copy = {**account, "id": uuid4(), "role": None, "business_id": None}
            session.staging.insert(tables.account, copy)

        async def refused(_: Writing) -> Any:
            raise NotFound("not_found", "Nothing is there.")

        async def play(pool: Pool) -> list[str]:
            second = writer.work(staging("b"))
            second = second if asks else replace(second, handle=refused)
            works = [writer.work(taken, key="k"), second, writer.work(staging("c"))]
            said = await asyncio.gather(*(ended(pool, work) for work in works))
            return [*said, await ended(pool, writer.work(staging("other"), key="k"))]

        first, second, third, again = in_turn(writer, play)
        assert (first, again) == ("duplicate_account_code", "duplicate_account_code")
        assert second.startswith("run") if asks else second == "NotFound"
        assert third.startswith("run")
        assert writer.customers() == {"c", "last"} | ({"b"} if asks else set())


class TestWhereSomebodyGivesUp:
    def test_the_one_before_takes_nothing_of_the_next_with_it(self, writer: Writer) -> None:
        async def play(pool: Pool) -> list[str]:
            stuck = asyncio.create_task(ended(pool, writer.work(flushing("no", SLEEP))))
            others = [
                asyncio.create_task(ended(pool, writer.work(staging(each)))) for each in ("b", "c")
            ]
            await fallen_asleep(writer)
            stuck.cancel()
            return await asyncio.gather(*others)

        assert all(each.startswith("run") for each in in_turn(writer, play))
        assert writer.customers() == {"b", "c", "last"}

    def test_the_next_takes_nothing_of_the_one_before_with_it(self, writer: Writer) -> None:
        async def play(pool: Pool) -> list[str]:
            slow = Query("SELECT pg_sleep(0.5)", {})
            first = asyncio.create_task(ended(pool, writer.work(flushing("a", slow))))
            stopped = asyncio.create_task(ended(pool, writer.work(staging("no"))))
            last = asyncio.create_task(ended(pool, writer.work(staging("c"))))
            await fallen_asleep(writer)
            stopped.cancel()
            return await asyncio.gather(first, last)

        first, last = in_turn(writer, play)
        assert first == "run 1"
        assert last.startswith("run")
        assert writer.customers() == {"a", "c", "last"}

    def test_a_connection_that_is_lost_is_lost_for_the_one_before(self, writer: Writer) -> None:
        async def play(pool: Pool) -> list[str]:
            works = [writer.work(flushing("no", SLEEP)), writer.work(staging("b"))]
            tasks = [asyncio.create_task(ended(pool, work)) for work in works]
            await fallen_asleep(writer)
            writer.api_server.query(f"SELECT pg_terminate_backend(pid) FROM ({ASLEEP}) AS a")
            return await asyncio.gather(*tasks)

        first, second = in_turn(writer, play)
        assert first == "Unavailable"
        assert second.startswith("run")
        assert writer.customers() == {"b", "last"}


@pytest.mark.parametrize("seed", range(4))
def test_whatever_happens_what_is_answered_is_there_once_and_nothing_else(
    writer: Writer, seed: int
) -> None:
    chance = random.Random(seed)
    failing = [raising(state) for state in ("23514", "22P02", "40001", "22012", "55P03")]
    told: dict[str, str] = {}

    async def one(pool: Pool, name: str) -> None:
        queries = [chance.choice(failing)] if chance.random() < 0.3 else []
        handle = unbalanced if chance.random() < 0.1 else flushing(name, *queries)
        key = name if chance.random() < 0.5 else None
        told[name] = await ended(pool, writer.work(handle, key))

    async def play(pool: Pool) -> None:
        tasks = []
        for number in range(120):
            tasks.append(asyncio.create_task(one(pool, f"w{number}")))
            if chance.random() < 0.2:
                await asyncio.sleep(chance.random() / 100)
                chance.choice(tasks).cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    in_turn(writer, play)
    written = writer.customers() - {"last"}
    answered = {name for name, said in told.items() if said.startswith("run")}
    assert answered <= written
    assert not written & (told.keys() - answered)
    rows = writer.api_server.query(
        "SELECT count(*) FROM customer WHERE business_id = %s", writer.business_id
    )
    assert rows[0][0] == len(written) + 1
