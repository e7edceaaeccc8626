"""Upkeep: one worker of all servers does it, and another one continues after it."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from jobs.upkeep import Upkeep, UpkeepResult, tidy
from persistence.engine.pool import make_pool
from persistence.feed.overdue import record_overdue
from persistence.files.blobs import Blobs, BlobStorage, Folder
from persistence.partners.upkeep_rows import LeaseLost
from tests import clock
from tests.api_server import ApiServer
from tests.builders.purchases import received
from tests.builders.sales import sent, written_off
from tests.clock import today
from tests.handlers.platform.test_events import feed
from tests.jobs.webhooks import deliveries, endpoint
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

    def test_a_round_deletes_old_deliveries_of_webhooks(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        made = endpoint(partner, "https://hooks.example.com/")
        own_server.watcher.execute(
            "INSERT INTO webhook_delivery (id, endpoint_id, partner_id, business_id, sequence,"
            " event_id, event_type, body, created_at, status, attempts)"
            " SELECT '0190f0c4-8a20-7d3e-8c44-2e9b7f5a6b02', id, partner_id, id, 1, id, 'x', '',"
            " now(), 'delivered', 1 FROM webhook_endpoint WHERE id = %s",
            (made["id"],),
        )
        assert len(deliveries(partner, made)) == 1
        looked(own_server)
        assert deliveries(partner, made) == []

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


class TestOverdue:
    def test_a_document_is_recorded_overdue_once_for_each_due_date(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        buyer = shop.customer()
        invoice = sent(shop, buyer, 100, due_at=f"{today() + timedelta(days=1)}T00:00:00Z")
        tomorrow = datetime.now(UTC) + timedelta(days=2)
        assert told_overdue(own_server, shop, datetime.now(UTC)) == 0
        assert [told_overdue(own_server, shop, tomorrow) for _ in range(2)] == [1, 0]
        events = shop.api.get("events/", params={"object_id": invoice["id"]}).json()["results"]
        last = events[-1]
        assert (last["type"], last["previous_status"], last["status"]) == (
            *("invoice.overdue", "sent"),
            "overdue",
        )
        assert last["cause"]["operation"] is None
        assert own_server.prover.faults_of(shop.id) == []
        later = {"due_at": f"{today() + timedelta(days=9)}T00:00:00Z"}
        assert shop.api.patch(f"invoices/{invoice['id']}/", json=later).is_success
        assert told_overdue(own_server, shop, tomorrow) == 0
        assert told_overdue(own_server, shop, tomorrow + timedelta(days=9)) == 1

    def test_a_round_tells_of_both_sides(self, own_server: ApiServer, shop: Business) -> None:
        due = f"{today()}T00:00:00Z"
        bill = received(shop, shop.vendor(), 100, due_at=due)
        soon = datetime.now(UTC) + timedelta(days=1)
        assert told_overdue(own_server, shop, soon) == 1
        [told] = shop.api.get("events/", params={"types": "bill.overdue"}).json()["results"]
        assert told["object"]["id"] == bill["id"]

    def test_a_change_between_the_day_and_the_round_hides_no_event(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = due_yesterday(shop)
        changed(shop, invoice, memo="Late")
        assert last_event(shop, invoice)["status"] == "overdue"
        assert [told_overdue(own_server, shop, clock.now()) for _ in range(2)] == [1, 0]
        assert last_event(shop, invoice)["type"] == "invoice.overdue"

    def test_the_event_of_a_written_off_document_has_the_status_of_its_answer(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = due_yesterday(shop)
        written_off(shop, invoice, amount_cents=40)
        assert told_overdue(own_server, shop, clock.now()) == 1
        last = last_event(shop, invoice)
        assert (last["type"], last["changed"]) == ("invoice.overdue", ["is_overdue"])
        assert last["status"] == last["previous_status"] == "partially_written_off"
        changed(shop, invoice, memo="Late")
        assert told_overdue(own_server, shop, clock.now()) == 0

    def test_a_due_date_on_the_day_of_its_event_is_told_on_the_next_day(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = due_yesterday(shop)
        now = clock.now()
        assert told_overdue(own_server, shop, now) == 1
        changed(shop, invoice, due_at=f"{today()}T00:00:00Z")
        tomorrow = now + timedelta(days=1)
        assert [told_overdue(own_server, shop, each) for each in (now, tomorrow)] == [0, 1]
        assert told_overdue(own_server, shop, tomorrow) == 0

    def test_a_round_tells_of_more_documents_than_one_statement_reads(
        self, own_server: ApiServer, shop: Business, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        buyer = shop.customer()
        for _ in range(5):
            due_yesterday(shop, buyer)
        monkeypatch.setattr("persistence.feed.overdue.MOST", 2)
        assert [told_overdue(own_server, shop, clock.now()) for _ in range(2)] == [5, 0]
        assert own_server.prover.faults_of(shop.id) == []

    def test_a_document_overdue_before_the_feed_began_is_not_told_even_if_it_changes(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = due_yesterday(shop)
        begin_feed_after(own_server, invoice)
        assert told_overdue(own_server, shop, clock.now()) == 0
        changed(shop, invoice, memo="Late")
        assert told_overdue(own_server, shop, clock.now()) == 0

    def test_a_document_due_on_the_day_on_which_the_feed_began_is_told(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = sent(shop, shop.customer(), 100, due_at=f"{today()}T00:00:00Z")
        begin_feed_after(own_server, invoice)
        assert told_overdue(own_server, shop, clock.now() + timedelta(days=1)) == 1


def due_yesterday(shop: Business, buyer: dict[str, Any] | None = None) -> dict[str, Any]:
    """Send an invoice over 100 that was due yesterday."""
    days = {name: f"{today() - timedelta(days=1)}T00:00:00Z" for name in ("sent_at", "due_at")}
    return sent(shop, buyer or shop.customer(), 100, **days)


def changed(shop: Business, invoice: dict[str, Any], **fields: str) -> None:
    """Change fields of an invoice."""
    answer = shop.api.patch(f"invoices/{invoice['id']}/", json=fields)
    assert answer.status_code == 200, answer.text


def last_event(shop: Business, record: dict[str, Any]) -> dict[str, Any]:
    """Return the last event of a record."""
    last: dict[str, Any] = feed(shop, object_id=record["id"])["results"][-1]
    return last


def begin_feed_after(own_server: ApiServer, record: dict[str, Any]) -> None:
    """Make the only event of a record row 0 of the feed, as if the record were older."""
    own_server.watcher.execute(
        "UPDATE event SET sequence = 0, object_id = business_id WHERE object_id = %s",
        (record["id"],),
    )


def told_overdue(own_server: ApiServer, shop: Business, now: datetime) -> int:
    """Write the events of documents that are overdue at a moment; return their number."""

    async def go() -> int:
        async with make_pool(own_server.database_url, size=1) as pool:
            return await record_overdue(pool, UUID(shop.id), now)

    return asyncio.run(go())
