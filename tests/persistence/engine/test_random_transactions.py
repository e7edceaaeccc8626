"""Writings that succeed, fail or are cancelled at random: each is stored once or not at all."""

import asyncio
import random

import psycopg
import pytest

from accounting.errors import ApiError
from persistence import tables
from persistence.engine.pool import Pool, make_pool
from persistence.engine.sessions import WriteSession
from persistence.engine.sql import Query
from persistence.engine.transaction import Work, writing
from tests.persistence.engine.test_transaction import Handle, Writer, raising, staging
from tests.persistence.engine.test_unit_of_work import customer_row, entry_row

FAILURES = [raising(state) for state in ("23514", "22P02", "40001", "22012", "55P03")]
WRITINGS = 120


def flushing(name: str, *queries: Query) -> Handle:
    """Return a handler whose flush sends further statements."""

    async def handle(session: WriteSession) -> None:
        session.staging.insert(tables.customer, customer_row(company_name=name))
        for query in queries:
            session.staging.follow_with(query)

    return handle


async def unbalanced(session: WriteSession) -> None:
    """Fail at COMMIT and not earlier."""
    session.staging.insert(tables.customer, customer_row(company_name="unbalanced"))
    session.staging.insert(tables.journal_entry, entry_row("JE-1"))


async def result_of(pool: Pool, work: Work) -> str:
    """Run a writing; return its answer or the name of its error."""
    try:
        answer, _ = await writing(pool, work)
    except (ApiError, psycopg.Error) as error:
        return type(error).__name__
    return answer.body.decode()


@pytest.mark.parametrize("seed", range(2))
def test_a_writing_is_stored_once_or_not_at_all(writer: Writer, seed: int) -> None:
    chance = random.Random(seed)
    results: dict[str, str] = {}

    async def write(pool: Pool, name: str) -> None:
        queries = [chance.choice(FAILURES)] if chance.random() < 0.3 else []
        handle = unbalanced if chance.random() < 0.1 else flushing(name, *queries)
        key = name if chance.random() < 0.5 else None
        results[name] = await result_of(pool, writer.work(handle, key))

    async def go() -> None:
        async with make_pool(writer.api_server.database_url, size=8) as pool:
            tasks = []
            for number in range(WRITINGS):
                tasks.append(asyncio.create_task(write(pool, f"w{number}")))
                if chance.random() < 0.2:
                    await asyncio.sleep(chance.random() / 100)
                    chance.choice(tasks).cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            assert (pool.occupancy.lent, pool.occupancy.waiting) == (0, 0)
            assert (await result_of(pool, writer.work(staging("last")))).startswith("run")

    asyncio.run(go())
    stored = writer.customers() - {"last"}
    answered = {name for name, result in results.items() if result.startswith("run")}
    assert answered
    assert answered <= stored
    assert not stored & (results.keys() - answered)
    [(rows,)] = writer.api_server.query(
        "SELECT count(*) FROM customer WHERE business_id = %s", writer.business_id
    )
    assert rows == len(stored) + 1
