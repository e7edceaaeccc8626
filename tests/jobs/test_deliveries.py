"""Deliveries of webhooks to real receivers: what arrives, in which order, and how often."""

import asyncio
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from jobs.deliveries import Deliverer
from libraries.outbound.client import Client
from persistence.partners import due_deliveries
from tests.api_server import ApiServer
from tests.builders.receivers import OK, Answer, Request, receiving
from tests.builders.sales import paid, part, sent
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
from tests.partner import Business, Partner

pytestmark = pytest.mark.usefixtures("no_endpoints")


def customers(shop: Business, count: int) -> None:
    for _ in range(count):
        shop.customer()


class TestDelivery:
    def test_sends_each_event_as_the_feed_has_it(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), business_ids=[shop.id])
            before = feed(shop)[-1]["sequence"]
            buyer = shop.customer()
            paid(shop, buyer, 60, part(sent(shop, buyer, 60), 60))
            delivered(own_server)
            events = [each for each in feed(shop) if each["sequence"] > before]
            got = sorted((each.event for each in receiver.requests), key=lambda e: e["sequence"])
            assert got == events
            assert len(events) > 4
        for request in receiver.requests:
            request.verify(made["secret"])
            assert request.headers["webhook-id"] == request.event["id"]
            assert request.body.startswith(f'{{"type":"{request.event["type"]}","timestamp":')
            assert request.headers["content-type"] == "application/json"
        assert {(each["status"], each["attempts"]) for each in deliveries(partner, made)} == {
            ("delivered", 1)
        }
        [first, *_] = deliveries(partner, made)
        assert (first["status_code"], first["answer"], first["error"]) == (200, "ok", None)
        assert first["next_attempt_at"] is None

    def test_sends_what_the_endpoint_takes_and_nothing_from_before_it(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        other = partner.business()
        customers(shop, 1)
        with receiving() as receiver:
            endpoint(partner, receiver.url("/all"))
            endpoint(partner, receiver.url("/invoices"), types=["invoice.*"])
            endpoint(partner, receiver.url("/paid"), types=["invoice.paid", "bill.paid"])
            endpoint(partner, receiver.url("/other"), business_ids=[other.id])
            buyer = shop.customer()
            paid(shop, buyer, 60, part(sent(shop, buyer, 60), 60))
            delivered(own_server)
            new = partner.business()
            delivered(own_server)
        took = {
            path: [each.event["type"] for each in receiver.to(path)]
            for path in ("/all", "/invoices", "/paid", "/other")
        }
        assert took["/all"].count("customer.created") == 1
        assert sorted(took["/invoices"]) == ["invoice.created", "invoice.paid"]
        assert took["/paid"] == ["invoice.paid"]
        assert took["/other"] == []
        assert new.id in {each.event["business_id"] for each in receiver.to("/all")}

    def test_never_reaches_another_partner(self, own_server: ApiServer, partner: Partner) -> None:
        rival = own_server.partner("Rival")
        with receiving() as receiver:
            endpoint(partner, receiver.url("/mine"))
            endpoint(rival, receiver.url("/rivals"))
            shops = {"/mine": partner.business(), "/rivals": rival.business()}
            canaries = {path: f"canary-{uuid4()}" for path in shops}
            for path, each in shops.items():
                each.customer(external_id=canaries[path])
            delivered(own_server)
        for path, other in (("/mine", "/rivals"), ("/rivals", "/mine")):
            bodies = "".join(each.body for each in receiver.to(path))
            assert canaries[path] in bodies
            assert canaries[other] not in bodies
            assert {each.event["business_id"] for each in receiver.to(path)} == {shops[path].id}

    def test_waits_while_the_partner_is_disabled(self, own_server: ApiServer) -> None:
        partner = own_server.partner("Disabled")
        shop = partner.business()
        with receiving() as receiver:
            endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            for disabled_at, arrived in (("now()", 0), ("NULL", 1)):
                own_server.watcher.execute(
                    f"UPDATE partner SET disabled_at = {disabled_at} WHERE id = %s",
                    (partner.partner_id,),
                )
                delivered(own_server)
                assert len(receiver.requests) == arrived

    def test_of_many_events_is_done_by_several_processes_once_each(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            endpoint(partner, receiver.url())
            customers(shop, 60)

            async def work(*all_of_them: Deliverer) -> None:
                async def one(deliverer: Deliverer) -> None:
                    for _ in range(30):
                        await deliverer.make()
                        await deliverer.step()
                        await asyncio.sleep(0.01)
                    await send_all(deliverer)

                await asyncio.gather(*map(one, all_of_them))

            delivering(own_server, work, processes=4)
            delivered(own_server)
        ids = [each.headers["webhook-id"] for each in receiver.requests]
        assert len(ids) == len(set(ids)) >= 60
        assert receiver.most_open <= 10

    def test_places_every_event_once_in_order(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        customers(shop, 3)
        delivered(own_server)
        customers(shop, 3)
        delivered(own_server)
        placed = own_server.query(
            "SELECT position, business_id, first_sequence, last_sequence FROM event_placement"
            " WHERE partner_id = %s ORDER BY position",
            partner.partner_id,
        )
        assert [row[0] for row in placed] == list(range(1, len(placed) + 1))
        ranges = [row[2:] for row in placed if str(row[1]) == shop.id]
        flat = [each for first, last in ranges for each in range(first, last + 1)]
        assert flat == [each["sequence"] for each in feed(shop)]
        assert own_server.query("SELECT count(*) FROM unplaced_event") == [(0,)]


class TestFailure:
    def test_is_tried_again_with_the_same_bytes_and_a_new_signature(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        answers = [(500, {}, "x" * 3_000), (302, {"Location": "http://127.0.0.1:1/"}, ""), OK]
        with receiving(lambda _: answers.pop(0)) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
            [failed] = deliveries(partner, made)
            assert (failed["status"], failed["attempts"]) == ("pending", 1)
            assert (failed["status_code"], failed["answer"]) == (500, "x" * 1024)
            wait = moment(failed["next_attempt_at"]) - moment(failed["last_attempt_at"])
            assert timedelta(seconds=4.4) < wait < timedelta(seconds=6)
            for _ in range(2):
                due_now(own_server)
                delivered(own_server)
        first, second, third = receiver.requests
        assert first.body == second.body == third.body
        assert len({each.headers["webhook-id"] for each in receiver.requests}) == 1
        third.verify(made["secret"])
        [done] = deliveries(partner, made)
        assert (done["status"], done["attempts"], done["status_code"]) == ("delivered", 3, 200)

    def test_is_final_after_ten_attempts_until_it_is_retried(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        answers = [(500, {}, "")] * 10 + [OK]
        with receiving(lambda _: answers.pop(0)) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            for _ in range(12):
                delivered(own_server)
                due_now(own_server)
            [failed] = deliveries(partner, made, status="failed")
            assert (failed["attempts"], failed["next_attempt_at"]) == (10, None)
            assert len(receiver.requests) == 10
            path = f"{ENDPOINTS}{made['id']}/deliveries/{failed['id']}/retry/"
            assert partner.api.post(path).json()["status"] == "pending"
            delivered(own_server)
            [done] = deliveries(partner, made)
            assert (done["status"], done["attempts"]) == ("delivered", 1)

    def test_holds_up_no_other_endpoint(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        """Deliver beside an endpoint that hangs, and one that answers 500."""

        def answer(request: Request) -> Answer:
            return {"/hangs": (0, {}, ""), "/500": (500, {}, "")}.get(request.path, OK)

        with receiving(answer) as receiver:
            for path in ("/hangs", "/500", "/good"):
                endpoint(partner, receiver.url(path), types=["customer.created"])
            customers(shop, 40)

            async def work(one: Deliverer) -> None:
                await one.make()
                for _ in range(200):
                    await one.step()
                    if len(receiver.to("/good")) == 40:
                        return
                    await asyncio.sleep(0.02)

            delivering(own_server, work)
            assert len(receiver.to("/good")) == 40
            assert 1 <= len(receiver.to("/hangs")) <= 10
            assert 1 <= len(receiver.to("/500")) <= 40

    def test_leaves_the_endpoint_one_request_at_a_time(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        async def work(one: Deliverer) -> int:
            await one.make()
            begun = await begin(one)
            await one._end()
            return begun

        with receiving(lambda _: (0, {}, "")) as receiver:
            endpoint(partner, receiver.url(), types=["customer.created"])
            customers(shop, 12)
            assert delivering(own_server, work) == 10
            own_server.watcher.execute("UPDATE webhook_health SET failing_since = now()")
            assert delivering(own_server, work) == 1

    def test_of_a_host_that_has_become_private_is_told(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        made = endpoint(partner, "https://hooks.example.com/", types=["customer.created"])
        shop.customer()
        delivered(own_server, client=Client(lookup=lambda _: ["10.0.0.1"]))
        [failed] = deliveries(partner, made)
        assert failed["error"] == "The host has a private address."
        assert (failed["status"], failed["status_code"]) == ("pending", None)

    def test_with_410_switches_the_endpoint_off_and_its_partner_back_on(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        answers: list[Answer] = [(410, {}, "")]
        with receiving(lambda _: answers.pop() if answers else OK) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
            found = shown(partner, made)
            assert (found["is_active"], found["status"], found["off_reason"]) == (
                False, "off", "gone",
            )  # fmt: skip
            shop.customer()
            due_now(own_server)
            delivered(own_server)
            assert len(receiver.requests) == 1
            path = f"{ENDPOINTS}{made['id']}/"
            again = partner.api.patch(path, json={"is_active": True}).json()
            assert (again["status"], again["off_reason"], again["off_at"]) == ("active", None, None)
            shop.customer()
            delivered(own_server)
            # The one that was waiting, and the new one; that in between needs a replay.
            assert len(receiver.requests) == 3
        actions = own_server.query(
            "SELECT action FROM partner_audit_record WHERE object_id = %s ORDER BY id", made["id"]
        )
        assert actions == [
            ("create_webhook_endpoint",),
            ("switch_off_webhook_endpoint",),
            ("update_webhook_endpoint",),
        ]

    def test_for_five_days_switches_the_endpoint_off(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving(lambda _: (500, {}, "")) as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
            own_server.watcher.execute(
                "UPDATE webhook_health SET failing_since = failing_since - interval '5 days'"
            )
            due_now(own_server)
            delivered(own_server)
            assert (shown(partner, made)["status"], shown(partner, made)["off_reason"]) == (
                "off", "failing",
            )  # fmt: skip

    @pytest.mark.parametrize(
        ("answer", "seconds"),
        [((429, {}, ""), 30), ((503, {"Retry-After": "600"}, ""), 600), ((500, {}, ""), 0)],
    )
    def test_slows_the_endpoint_down_as_the_answer_says(
        self,
        own_server: ApiServer,
        partner: Partner,
        shop: Business,
        answer: Answer,
        seconds: int,
    ) -> None:
        with receiving(lambda _: answer) as receiver:
            endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()
            delivered(own_server)
            shop.customer()
            delivered(own_server)
            assert len(receiver.requests) == (1 if seconds else 2)
        [(slow,)] = own_server.query("SELECT slow_until FROM webhook_health")
        if seconds:
            assert abs((slow - datetime.now(UTC)).total_seconds() - seconds) < 20
        else:
            assert slow is None


class TestOrderedEndpoint:
    def test_gets_the_events_of_a_business_one_after_another(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            endpoint(partner, receiver.url(), ordered=True)
            customers(shop, 12)
            delivered(own_server)
        got = [each.event["sequence"] for each in receiver.requests]
        assert got == sorted(got)
        assert receiver.most_open == 1

    def test_parks_a_business_alone_behind_a_failure(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        other = partner.business()
        failing = {"on": True}

        def answer(request: Request) -> Answer:
            bad = failing["on"] and request.event["business_id"] == shop.id
            return (500, {}, "") if bad else OK

        with receiving(answer) as receiver:
            endpoint(partner, receiver.url(), ordered=True, types=["customer.created"])
            customers(shop, 3)
            customers(other, 3)
            for _ in range(4):
                delivered(own_server)
            mine = [each.event for each in receiver.requests]
            assert [each["business_id"] for each in mine].count(shop.id) == 1
            assert [each["business_id"] for each in mine].count(other.id) == 3
            failing["on"] = False
            due_now(own_server)
            delivered(own_server)
        sequences = [
            each.event["sequence"]
            for each in receiver.requests
            if each.event["business_id"] == shop.id
        ]
        assert len(sequences) == 4  # The first one twice.
        assert sequences == sorted(sequences)


class TestLease:
    def test_of_a_process_that_is_gone_ends_within_four_seconds(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving() as receiver:
            made = endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()

            async def gone(one: Deliverer) -> None:
                await one.make()
                assert len(await due_deliveries.claim(one.pool, one.worker, 5)) == 1

            delivering(own_server, gone)  # It ends before it has sent.
            assert delivered(own_server).outcomes == []

            async def later(one: Deliverer) -> None:
                for _ in range(60):
                    await one.step()
                    if receiver.requests:
                        break
                    await asyncio.sleep(0.1)
                await send_all(one)

            delivering(own_server, later)
            assert len(receiver.requests) == 1
        [done] = deliveries(partner, made)
        assert (done["status"], done["attempts"]) == ("delivered", 2)

    def test_is_renewed_while_a_receiver_takes_its_time(
        self, own_server: ApiServer, partner: Partner, shop: Business
    ) -> None:
        with receiving(lambda _: (0, {}, "")) as receiver:
            endpoint(partner, receiver.url(), types=["customer.created"])
            shop.customer()

            async def work(one: Deliverer, other: Deliverer) -> None:
                stopping = asyncio.Event()
                running = [asyncio.create_task(each.run(stopping)) for each in (one, other)]
                await asyncio.sleep(7)
                assert len(receiver.requests) == 1
                stopping.set()
                await asyncio.gather(*running)

            delivering(own_server, work, processes=2)
        # What was broken off is due for another process, and does not count.
        [row] = own_server.query("SELECT status, attempts, held_by FROM webhook_delivery")
        assert row == ("pending", 0, None)


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text)
