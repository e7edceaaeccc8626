"""Deliveries that this server cannot make, or finds changed: none is lost, none sent twice."""

import asyncio
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from accounting.webhooks.attempts import Attempt, outcome_of
from jobs.deliveries import Deliverer
from libraries.outbound.client import Client, OwnFault
from persistence.partners import due_deliveries
from persistence.partners.due_deliveries import ClaimedDelivery, FinishedAttempt
from tests.api_server import ApiServer
from tests.builders.receivers import OK, Answer, Request, receiving
from tests.jobs.webhooks import (
    ENDPOINTS,
    begin,
    delivered,
    deliveries,
    delivering,
    due_now,
    endpoint,
    feed,
    send_all,
    shown,
)
from tests.partner import PATIENCE_SECONDS, Business, Partner

pytestmark = pytest.mark.usefixtures("no_endpoints")


@pytest.fixture
def hook(partner: Partner, shop: Business) -> dict[str, Any]:
    """An endpoint that nobody sends to, with a due delivery."""
    made = endpoint(partner, "https://hooks.example.com/", types=["customer.created"])
    shop.customer()
    return made


class Broken(Client):
    """A client that fails on our side."""

    def __init__(self, fault: Exception) -> None:
        super().__init__()
        self.fault = fault

    async def post(self, *_: Any, **_named: Any) -> Any:
        raise self.fault


class TestFaultOfOurs:
    def test_counts_as_no_attempt_and_pauses_the_endpoint(
        self, own_server: ApiServer, partner: Partner, shop: Business, hook: dict[str, Any]
    ) -> None:
        self.is_postponed(own_server, partner, hook, Broken(OwnFault("no file")))
        shop.customer()
        assert delivered(own_server, client=Broken(OwnFault("no file"))).outcomes == []

    def test_that_is_unforeseen_counts_without_blame(
        self, own_server: ApiServer, partner: Partner, hook: dict[str, Any]
    ) -> None:
        self.is_postponed(own_server, partner, hook, Broken(RuntimeError("a mistake")), attempts=1)

    def test_while_an_attempt_is_judged_holds_nothing(
        self,
        own_server: ApiServer,
        partner: Partner,
        hook: dict[str, Any],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        def mistaken(*_: Any) -> Any:
            raise OverflowError("date value out of range")

        monkeypatch.setattr("jobs.deliveries.outcome_of", mistaken)
        refusing = Client(lookup=lambda _: ["10.0.0.1"])
        self.is_postponed(own_server, partner, hook, refusing, attempts=1)

    def is_postponed(
        self,
        server: ApiServer,
        partner: Partner,
        hook: dict[str, Any],
        client: Client,
        attempts: int = 0,
    ) -> None:
        began = datetime.now(UTC)
        assert delivered(server, client=client).outcomes == ["postponed"]
        [waiting] = deliveries(partner, hook)
        assert (waiting["status"], waiting["attempts"]) == ("pending", attempts)
        assert waiting["error"] == "The server could not make the request. It tries again soon."
        due = datetime.fromisoformat(waiting["next_attempt_at"]) - began
        assert timedelta(seconds=4) < due < timedelta(seconds=5 + PATIENCE_SECONDS)
        assert server.query("SELECT held_by FROM webhook_delivery") == [(None,)]
        assert server.query("SELECT failing_since FROM webhook_health") == [(None,)]


class TestManyRequests:
    def test_are_limited_for_a_process(
        self,
        own_server: ApiServer,
        partner: Partner,
        shop: Business,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("jobs.deliveries.MOST_SENDING", 3)

        async def work(one: Deliverer) -> None:
            await one.make()
            assert await begin(one) == 3
            assert await begin(one) == 3
            await one._end()

        with receiving(lambda _: (0, {}, "")) as receiver:
            for path in ("/a", "/b"):
                endpoint(partner, receiver.url(path), types=["customer.created"])
            for _ in range(4):
                shop.customer()
            monkeypatch.setattr("jobs.deliveries.END_SECONDS", 0.3)
            delivering(own_server, work)
            assert receiver.most_open <= 3
        assert own_server.query(
            "SELECT count(*), sum(attempts), count(held_by) FROM webhook_delivery"
        ) == [(8, 0, 0)]

    def test_are_all_recorded_when_the_process_ends(
        self,
        own_server: ApiServer,
        partner: Partner,
        shop: Business,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr("jobs.deliveries.MOST_RECORDED", 1)

        def slowly(_: Request) -> Answer:
            time.sleep(0.1)
            return OK

        async def work(one: Deliverer) -> None:
            await one.make()
            assert await begin(one) == 5
            await one._end()

        with receiving(slowly) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            for _ in range(5):
                shop.customer()
            delivering(own_server, work)
            assert len(receiver.requests) == 5
        assert {(each["status"], each["attempts"]) for each in deliveries(partner, made)} == {
            ("delivered", 1)
        }


class TestDeliveryInFlight:
    """A delivery whose receiver takes its time."""

    def is_sent_once(
        self,
        server: ApiServer,
        partner: Partner,
        shop: Business,
        meanwhile: Callable[[dict[str, Any]], None],
        *,
        processes: int = 2,
    ) -> None:
        going_on = threading.Event()

        def waits(_: Request) -> Answer:
            going_on.wait(PATIENCE_SECONDS)
            return OK

        with receiving(waits) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()

            async def work(one: Deliverer, *others: Deliverer) -> None:
                await one.make()
                await one.step()
                while not receiver.requests:
                    await asyncio.sleep(0.01)
                meanwhile(made)
                for each in (*others, one):
                    await each.step()
                going_on.set()
                await send_all(one)

            delivering(server, work, processes=processes)
            assert len(receiver.requests) == 1
        [done] = deliveries(partner, made)
        assert (done["status"], done["attempts"]) == ("delivered", 1)

    def test_is_left_alone_by_a_retry(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        def retry(made: dict[str, Any]) -> None:
            [flying] = deliveries(partner, made)
            path = f"{ENDPOINTS}{made['id']}/deliveries/{flying['id']}/retry/"
            assert partner.api.post(path).json() == flying

        self.is_sent_once(own_server, partner, shop, retry)

    def test_is_left_alone_by_a_replay(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        def replay(made: dict[str, Any]) -> None:
            body = {"business_id": shop.id, "after": feed(shop)[-1]["sequence"] - 1}
            answer = partner.api.post(f"{ENDPOINTS}{made['id']}/replay/", json=body)
            assert answer.json()["replayed"] == 1

        self.is_sent_once(own_server, partner, shop, replay)

    def test_that_has_lost_its_lease_is_not_sent_twice_by_one_process(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        self.is_sent_once(own_server, partner, shop, lambda _: due_now(own_server), processes=1)


class TestSwitchingOff:
    """An endpoint that has changed while an attempt was made is judged as it is now."""

    def status_after(
        self,
        server: ApiServer,
        partner: Partner,
        hook: dict[str, Any],
        code: int,
        meanwhile: Callable[[], object],
    ) -> str:
        server.watcher.execute("UPDATE webhook_health SET failing_since = now() - interval '6 d'")

        async def work(one: Deliverer) -> None:
            await one.make()
            [flying] = await due_deliveries.claim(one.pool, one.worker, 5)
            meanwhile()
            await due_deliveries.record(one.pool, one.worker, [finished(flying, code)])

        delivering(server, work)
        status: str = shown(partner, hook)["status"]
        return status

    @pytest.mark.parametrize("code", [410, 500])
    def test_follows_from_a_failure(
        self, own_server: ApiServer, partner: Partner, hook: dict[str, Any], code: int
    ) -> None:
        assert self.status_after(own_server, partner, hook, code, lambda: None) == "off"

    def test_does_not_follow_after_another_success(
        self, own_server: ApiServer, partner: Partner, hook: dict[str, Any]
    ) -> None:
        def succeed() -> None:
            own_server.watcher.execute("UPDATE webhook_health SET failing_since = NULL")

        assert self.status_after(own_server, partner, hook, 500, succeed) == "active"

    @pytest.mark.parametrize("code", [410, 500])
    def test_does_not_follow_for_another_url(
        self, own_server: ApiServer, partner: Partner, hook: dict[str, Any], code: int
    ) -> None:
        def move() -> None:
            told = {"url": "https://hooks.example.com/new"}
            assert partner.api.patch(f"{ENDPOINTS}{hook['id']}/", json=told).status_code == 200

        assert self.status_after(own_server, partner, hook, code, move) == "active"


def finished(flying: ClaimedDelivery, code: int) -> FinishedAttempt:
    attempt = Attempt(code, 3, "")
    outcome = outcome_of(attempt, flying.attempts, datetime.now(UTC), flying.failing_since, 0.5)
    return FinishedAttempt(flying, attempt, outcome)
