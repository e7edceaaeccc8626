"""Upkeep: one worker of all servers does it, and another one continues after it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any
from uuid import uuid4

import httpx
import pytest

from jobs.upkeep import Upkeep, UpkeepResult, tidy
from persistence.engine.pool import make_pool
from persistence.files.blobs import Blobs, BlobStorage, Folder
from persistence.partners.upkeep_rows import LeaseLost
from tests.api_server import ApiServer
from tests.object_store import ObjectStore
from tests.partner import Business, Partner
from tests.persistence.files.test_sweep import left_behind

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def due(own_server: ApiServer) -> None:
    """Set the end of the last round to yesterday."""
    own_server.watcher.execute(
        "UPDATE upkeep SET ended_at = now() - interval '1 day', held_until = now(), held_by = NULL"
    )


@pytest.fixture
def shop(partner: Partner) -> Business:
    return partner.business()


@pytest.fixture
def object_store() -> Iterator[ObjectStore]:
    with ObjectStore() as store:
        yield store


def kept_up(
    own_server: ApiServer,
    work: Callable[[Upkeep, Upkeep], Awaitable[Any]],
    storage: BlobStorage | None = None,
    every: timedelta = HOUR,
) -> Any:
    """Run an asynchronous function with the upkeep of two workers."""
    blobs = Blobs(storage or Folder(own_server.folder))

    async def go() -> Any:
        async with make_pool(own_server.database_url, size=2) as pool:
            return await work(Upkeep(pool, blobs, every), Upkeep(pool, blobs, every))

    return asyncio.run(go())


def looked(own_server: ApiServer, storage: BlobStorage | None = None) -> Any:
    """Run one round of one worker."""
    return kept_up(own_server, lambda one, _: one.look(), storage)


def keyed(shop: Business, key: str) -> httpx.Response:
    """Create a customer with an idempotency key."""
    headers = {"Idempotency-Key": key}
    answer = shop.api.post("customers/", json={"company_name": "C"}, headers=headers)
    assert answer.status_code == 201
    return answer


def shop_body() -> dict[str, str]:
    return {
        "legal_name": "Harbour Coffee Ltd",
        "entity_type": "limited",
        "email": "books@harbour.example.com",
        "country": "GB",
    }


def old(own_server: ApiServer, table: str, days: int) -> None:
    own_server.watcher.execute(
        f"UPDATE {table} SET created_at = created_at - %s", (timedelta(days=days),)
    )


def answers(own_server: ApiServer, table: str = "reply") -> int:
    [(count,)] = own_server.query(f"SELECT count(*) FROM {table}")
    return int(count)


class TestRound:
    def test_a_round_deletes_old_answers_and_stray_files_and_seals_the_trail(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        shop = partner.business()
        for number in range(3):
            keyed(shop, f"old {number}")
        opened = {**shop_body(), "external_id": "above"}
        answer = partner.api.post(
            "/v1/platform/businesses/", json=opened, headers={"Idempotency-Key": "above"}
        )
        assert answer.status_code == 201
        old(own_server, "reply", 31)
        old(own_server, "partner_reply", 31)
        keyed(shop, "young")
        stray = left_behind(own_server.folder, shop.id)
        [(records,)] = own_server.query("SELECT count(*) FROM audit_record")

        done = looked(own_server)
        [(businesses,)] = own_server.query("SELECT count(*) FROM business")
        assert done.pop("seconds") > 0
        assert done == {
            "businesses": businesses,
            "answers": 4,
            "files": 1,
            "records": records,
            "failures": 0,
        }
        assert (answers(own_server), answers(own_server, "partner_reply")) == (1, 0)
        assert not stray.exists()
        sealed = "SELECT sum(cardinality(record_ids)) FROM audit_seal"
        assert own_server.query(sealed) == [(records,)]

    def test_an_answer_of_29_days_is_given_again(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        shop = partner.business()
        first = keyed(shop, "kept")
        old(own_server, "reply", 29)
        looked(own_server)
        again = keyed(shop, "kept")
        assert (again.content, again.headers["Idempotent-Replayed"]) == (first.content, "true")

    def test_many_answers_go_in_several_transactions(
        self, own_server: ApiServer, partner: Partner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        shop = partner.business()
        for number in range(7):
            keyed(shop, f"many {number}")
        old(own_server, "reply", 31)
        monkeypatch.setattr("persistence.engine.idempotency.MOST_FORGOTTEN", 3)
        monkeypatch.setattr("persistence.partners.upkeep_rows.MOST_FORGOTTEN", 3)
        assert looked(own_server)["answers"] >= 7
        assert answers(own_server) == 0

    def test_a_store_that_is_away_keeps_nothing_else_from_being_done(
        self, own_server: ApiServer, shop: Business, object_store: ObjectStore
    ) -> None:
        bucket = object_store.bucket()
        object_store.stop()
        [(businesses,)] = own_server.query("SELECT count(*) FROM business")
        keyed(shop, "away")
        done = looked(own_server, bucket)
        assert (done["businesses"], done["failures"]) == (businesses, businesses)
        unsealed = (
            "SELECT count(*) FROM audit_record r WHERE NOT EXISTS ("
            "SELECT FROM audit_seal s WHERE r.id = ANY (s.record_ids))"
        )
        assert own_server.query(unsealed) == [(0,)]


class TestTurns:
    def test_a_round_does_not_begin_before_its_time(self, own_server: ApiServer) -> None:
        assert looked(own_server) is not None
        assert looked(own_server) is None

    def test_two_that_look_at_once_do_it_once(self, own_server: ApiServer, shop: Business) -> None:
        async def both(one: Upkeep, other: Upkeep) -> list[Any]:
            return await asyncio.gather(one.look(), other.look())

        done = [each for each in kept_up(own_server, both) if each is not None]
        [(businesses,)] = own_server.query("SELECT count(*) FROM business")
        assert [each["businesses"] for each in done] == [businesses]

    def test_a_worker_continues_the_round_of_a_worker_that_died(
        self, own_server: ApiServer, partner: Partner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for _ in range(3):
            partner.business()
        [(count,)] = own_server.query("SELECT count(*) FROM business")
        seen: list[str] = []

        async def dying(one: Upkeep, other: Upkeep) -> Any:
            async def die(*arguments: Any) -> UpkeepResult:
                if len(seen) == 2:
                    raise asyncio.CancelledError
                seen.append(str(arguments[2]))
                return await tidy(*arguments)

            with monkeypatch.context() as patched:
                patched.setattr("jobs.upkeep.tidy", die)
                with pytest.raises(asyncio.CancelledError):
                    await one.look()
            assert await other.look() is None  # The first one may still be active.
            own_server.watcher.execute("UPDATE upkeep SET held_until = now()")
            return await other.look()

        done = kept_up(own_server, dying)
        assert len(seen) == 2
        assert done["businesses"] == count  # Each once, by one of the two.

    def test_a_worker_stops_when_another_worker_has_taken_its_round(
        self, own_server: ApiServer, shop: Business, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def late(one: Upkeep, _: Upkeep) -> None:
            async def somebody_follows(*arguments: Any) -> UpkeepResult:
                own_server.watcher.execute("UPDATE upkeep SET held_by = %s", (uuid4(),))
                return await tidy(*arguments)

            monkeypatch.setattr("jobs.upkeep.tidy", somebody_follows)
            with pytest.raises(LeaseLost):
                await one.look()

        kept_up(own_server, late)
        [(ended,)] = own_server.query("SELECT ended_at FROM upkeep")
        assert ended is None

    def test_upkeep_repeats_until_it_is_cancelled(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        async def for_a_while(one: Upkeep, _: Upkeep) -> int:
            task = asyncio.create_task(one.run())
            while one.rounds < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            await asyncio.wait([task])
            return one.rounds

        assert kept_up(own_server, for_a_while, every=timedelta(seconds=0.05)) >= 2
