"""Payments, credits, write-offs and refunds meet on the same few invoices at the same moment."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from time import sleep
from typing import Any
from uuid import uuid4

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.sales import (
    credit_body,
    invoice_body,
    paid,
    part,
    payment_body,
    refunded,
    sent,
    settled,
    share,
)
from tests.builders.trade import SENT, Record, line
from tests.concurrency.racers import CREDITS, PAYMENTS, REFUNDS, Racer, Ring
from tests.concurrency.racing import Ran, race, statuses, together
from tests.partner import Business, client

CLIENTS = 32
SERVERS = 4
# How little would not be a race.
ENOUGH = {"done": 150, "refused": 50, "looks": 20}
REFUSALS = {
    *("allocation_exceeds_outstanding", "allocation_exceeds_total", "credit_applied"),
    *("invalid_state_transition", "payment_not_live", "refund_exceeds_refundable"),
}
OVERSETTLED = """
SELECT i.id::text, i.total_amount, sum(part.amount)::bigint FROM invoice i JOIN (
  SELECT a.document_id, a.amount FROM invoice_allocation a
  WHERE a.business_id = %(business)s AND a.end_on IS NULL
  UNION ALL SELECT a.document_id, a.amount FROM customer_credit_allocation a
  WHERE a.business_id = %(business)s AND a.end_on IS NULL
  UNION ALL SELECT w.document_id, w.amount FROM write_off w
  WHERE w.business_id = %(business)s AND w.reversed_at IS NULL
) part ON part.document_id = i.id
WHERE i.business_id = %(business)s GROUP BY i.business_id, i.id
HAVING sum(part.amount) > i.total_amount OR sum(part.amount) <>
  i.paid + i.reserved + i.credited + i.written_off
"""
DEADLOCKS = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"


class Watcher(threading.Thread):
    """Asks the database all the time whether any invoice is settled with more than it comes to."""

    def __init__(self, api_server: ApiServer, shop: Business) -> None:
        super().__init__(daemon=True)
        self.api_server = api_server
        self.shop = shop
        self.stopped = threading.Event()
        self.looks = 0
        self.found: list[Any] = []

    def run(self) -> None:
        with psycopg.connect(self.api_server.database_url, autocommit=True) as connection:
            while not self.stopped.is_set():
                given = {"business": self.shop.id}
                self.found += connection.execute(OVERSETTLED, given).fetchall()
                self.looks += 1
                sleep(0.02)


@pytest.fixture
def clients(api_server: ApiServer, shop: Business) -> Iterator[list[httpx.Client]]:
    """A connection of its own for each client, to four servers over one database.

    That is as many connections to the database as there are clients: all of them meet there, and
    none waits in front of it.
    """
    headers = {"Authorization": shop.api.headers["Authorization"]}
    with ExitStack() as stack:
        servers = [stack.enter_context(ApiServer(api_server.database_url)) for _ in range(SERVERS)]
        yield [
            stack.enter_context(
                client(
                    f"{servers[n % SERVERS].url}/v1/platform/businesses/{shop.id}",
                    headers=headers,
                    timeout=60,
                )
            )
            for n in range(CLIENTS)
        ]


def known(ran: list[Ran]) -> set[str]:
    """The resources that a race for one name has made."""
    return {each.answer.json()["id"] for each in ran}


class TestSettlingTheSameInvoices:
    @pytest.mark.slow
    def test_nobody_settles_more_than_they_come_to(
        self,
        api_server: ApiServer,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        clients: list[httpx.Client],
    ) -> None:
        ring = Ring(buyer, [sent(shop, buyer, 1_000)["id"] for _ in range(5)])
        [(deadlocks,)] = api_server.query(DEADLOCKS)
        watcher = Watcher(api_server, shop)
        watcher.start()

        def enough() -> bool:
            done = ring.count(lambda _, status: status < 300)
            refused = ring.count(lambda _, status: status >= 400)
            seen = watcher.looks > ENOUGH["looks"]
            return seen and done >= ENOUGH["done"] and refused >= ENOUGH["refused"]

        race(
            lambda until: [Racer(ring, each, until) for each in clients],
            lambda: bool(ring.faults) or enough(),
        )
        watcher.stopped.set()
        watcher.join()
        assert ring.faults == []
        assert watcher.found == []
        assert {status for _, status, _ in ring.answers} <= {200, 201, 409, 422}
        assert {code for _, _, code in ring.answers} <= {"", *REFUSALS}
        assert enough(), ring.answers
        assert api_server.query(DEADLOCKS) == [(deadlocks,)]


class TestOneKey:
    def test_forty_posts_are_one_credit(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        body = credit_body(buyer, sent_at=SENT, allocations=[share(invoice, 700)])
        self.is_one(shop, CREDITS, body)
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert shown["outstanding_balance"] == 300
        assert len(shown["credit_allocations"]) == 1

    def test_forty_posts_are_one_refund(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer, 1_000)
        self.is_one(shop, REFUNDS, {"invoice_id": invoice["id"], "amount_cents": 10})
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert [each["amount_cents"] for each in shown["refund_allocations"]] == [10]

    def is_one(self, shop: Business, path: str, body: Record) -> None:
        """Send a body forty times at once with one key: it takes effect once."""
        key = {"Idempotency-Key": str(uuid4())}
        ran = together([partial(shop.api.post, path, json=body, headers=key)] * 40)
        assert statuses(ran) == {201: 40}
        assert len({each.answer.content for each in ran}) == 1
        replayed = [each for each in ran if "idempotent-replayed" in each.answer.headers]
        assert len(replayed) == 39
        assert shop.api.get(path).json()["count"] == 1


class TestOneName:
    """The same external id, said by twenty at once."""

    NAME = "mine-1"

    def race(self, shop: Business, path: str, body: Record) -> list[Ran]:
        named = {**body, "external_id": self.NAME}
        ran = together([partial(shop.api.post, path, json=named)] * 20)
        assert statuses(ran) == {200: 19, 201: 1}
        return ran

    def test_is_one_credit(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        assert len(known(self.race(shop, CREDITS, credit_body(buyer, sent_at=SENT)))) == 1

    @pytest.mark.parametrize("_round", range(4))
    def test_is_one_credit_though_its_customer_is_new_and_named_by_others(
        self, shop: Business, ledger: Ledger, _round: int
    ) -> None:
        body = credit_body({"id": None}, sent_at=SENT)
        body = {**body, "customer_external_id": "new", "external_id": self.NAME}
        del body["customer_id"]
        sold = {"customer_external_id": "new", "line_items": [line(5)], "sent_at": SENT}
        ran = together(
            [
                *[partial(shop.api.post, CREDITS, json=body)] * 8,
                *[partial(shop.api.post, "invoices/", json=sold)] * 4,
            ]
        )
        assert statuses(ran[:8]) == {200: 7, 201: 1}
        assert statuses(ran[8:]) == {201: 4}
        assert shop.api.get("customers/").json()["count"] == 1

    def test_is_one_credit_though_it_has_a_number_too(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = credit_body(buyer, sent_at=SENT, credit_note_number="Own 1")
        assert len(known(self.race(shop, CREDITS, body))) == 1

    def test_is_one_invoice_though_it_has_a_number_too(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = invoice_body(buyer, sent_at=SENT, invoice_number="Own 1")
        assert len(known(self.race(shop, "invoices/", body))) == 1

    def test_is_one_payment_though_it_settles_all_there_is(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        ran = self.race(shop, PAYMENTS, payment_body(buyer, 100, allocations=[part(invoice, 100)]))
        assert len({each.answer.json()["payment"]["id"] for each in ran}) == 1

    def test_is_one_credit_though_it_settles_all_there_is(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 1_000)
        body = credit_body(buyer, sent_at=SENT, allocations=[share(invoice, 1_000)])
        assert len(known(self.race(shop, CREDITS, body))) == 1

    def test_is_one_refund_of_an_invoice(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = settled(shop, buyer, 1_000)
        body = {"invoice_id": invoice["id"], "amount_cents": 10, "completed_at": SENT}
        assert len(known(self.race(shop, REFUNDS, body))) == 1

    def test_is_one_refund_of_a_payment(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 1_000)
        assert len(known(self.race(shop, REFUNDS, {"payment_id": payment["id"]}))) == 1
        shown = shop.api.get(f"{PAYMENTS}{payment['id']}/").json()
        assert shown["remaining_amount_cents"] == 0

    def test_is_one_refund_payment(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        refund = refunded(shop, settled(shop, buyer, 1_000))
        path = f"{REFUNDS}{refund['id']}/payments/"
        assert len(known(self.race(shop, path, {"amount_cents": 10}))) == 1
        assert shop.api.get(f"{REFUNDS}{refund['id']}/").json()["paid_amount"] == 10

    def test_is_one_write_off(self, shop: Business, ledger: Ledger, buyer: Record) -> None:
        invoice = sent(shop, buyer, 1_000)
        self.race(shop, f"invoices/{invoice['id']}/write-offs/", {"amount_cents": 10})
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert [each["amount_cents"] for each in shown["write_offs"]] == [10]

    def test_in_two_places_is_taken_once(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        """A write-off is named once in a business: on another invoice the name is taken."""
        invoices = [sent(shop, buyer, 1_000) for _ in range(6)]
        body = {"amount_cents": 10, "external_id": self.NAME}
        ran = together(
            [partial(shop.api.post, f"invoices/{i['id']}/write-offs/", json=body) for i in invoices]
        )
        assert statuses(ran) == {201: 1, 409: 5}
        assert {each.code for each in ran} == {None, "duplicate_external_id"}


class TestWhatIsLeft:
    @pytest.mark.parametrize("_round", range(3))
    def test_a_payment_a_credit_and_a_write_off_of_all_of_it_are_one(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        invoices = [sent(shop, buyer, 100) for _ in range(3)]
        calls = []
        for invoice in invoices:
            payment = payment_body(buyer, 100, allocations=[part(invoice, 100)])
            credit = credit_body(buyer, {"amount": 100}, sent_at=SENT)
            credit["allocations"] = [share(invoice, 100)]
            calls += [
                partial(shop.api.post, PAYMENTS, json=payment),
                partial(shop.api.post, CREDITS, json=credit),
                partial(shop.api.post, f"invoices/{invoice['id']}/write-offs/", json={}),
            ]
        ran = together(calls)
        for place in range(3):
            assert statuses(ran[place * 3 : place * 3 + 3]) == {201: 1, 422: 2}
        assert {each.code for each in ran} == {None, "allocation_exceeds_outstanding"}

    def test_refunds_never_give_back_more_than_was_paid(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice, payment = settled(shop, buyer, 100), paid(shop, buyer, 100)
        calls = [
            partial(shop.api.post, REFUNDS, json={name: target["id"], "amount_cents": 30})
            for name, target in (("invoice_id", invoice), ("payment_id", payment))
            for _ in range(8)
        ]
        ran = together(calls)
        assert statuses(ran[:8]) == statuses(ran[8:]) == {201: 3, 422: 5}
        assert {each.code for each in ran} == {None, "refund_exceeds_refundable"}

    @pytest.mark.parametrize("_round", range(3))
    def test_releasing_money_and_refunding_it_end_in_one_of_both(
        self, shop: Business, ledger: Ledger, buyer: Record, _round: int
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100))
        ran = together(
            [
                partial(shop.api.post, REFUNDS, json={"invoice_id": invoice["id"]}),
                partial(shop.api.patch, f"{PAYMENTS}{payment['id']}/", json={"allocations": []}),
            ]
        )
        assert sorted(each.status for each in ran) in ([200, 422], [201, 422])
        assert {each.code for each in ran} == {None, "refund_exceeds_refundable"}
