"""Payments, credits, write-offs and refunds change the same few invoices concurrently."""

import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from time import sleep
from typing import Any

import httpx
import psycopg
import pytest

from tests.api_server import ApiServer
from tests.builders.sales import (
    CREDITS,
    INVOICES,
    PAYMENTS,
    REFUNDS,
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
from tests.concurrency.racers import InvoiceContest, Receiver
from tests.concurrency.races import DEADLOCKS, race, race_for_one_name, statuses, together
from tests.partner import Business, client

pytestmark = pytest.mark.usefixtures("ledger")

CLIENTS = 32
SERVERS = 4
# Fewer answers would not be a race.
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


class Watcher(threading.Thread):
    """A thread that looks for invoices settled beyond their totals."""

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
    """Open a connection per client to four servers over one database.

    The servers have a connection to the database for each client: none waits for one.
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


class TestSettlingTheSameInvoices:
    @pytest.mark.slow
    def test_invoices_are_never_settled_beyond_their_totals(
        self, api_server: ApiServer, shop: Business, buyer: Record, clients: list[httpx.Client]
    ) -> None:
        contest = InvoiceContest(buyer, [sent(shop, buyer, 1_000)["id"] for _ in range(5)])
        [(deadlocks,)] = api_server.query(DEADLOCKS)
        watcher = Watcher(api_server, shop)
        watcher.start()

        def enough() -> bool:
            done = contest.count(lambda status: status < 300)
            refused = contest.count(lambda status: status >= 400)
            seen = watcher.looks > ENOUGH["looks"]
            return seen and done >= ENOUGH["done"] and refused >= ENOUGH["refused"]

        race(
            lambda until: [Receiver(contest, each, until) for each in clients],
            lambda: bool(contest.faults) or enough(),
        )
        watcher.stopped.set()
        watcher.join()
        assert contest.faults == []
        assert watcher.found == []
        assert contest.statuses <= {200, 201, 409, 422}
        assert {code for _, _, code in contest.answers} <= {"", *REFUSALS}
        assert enough(), contest.answers
        assert api_server.query(DEADLOCKS) == [(deadlocks,)]


def credit_of_all(shop: Business, buyer: Record) -> Record:
    shares = [share(sent(shop, buyer, 1_000), 1_000)]
    return credit_body(buyer, sent_at=SENT, allocations=shares)


def payment_of_all(shop: Business, buyer: Record) -> Record:
    return payment_body(buyer, 100, allocations=[part(sent(shop, buyer, 100), 100)])


# Each returns a path, and a body that many clients send there with one external id.
NAMED: dict[str, Callable[[Business, Record], tuple[str, Record]]] = {
    "credit": lambda _, buyer: (CREDITS, credit_body(buyer, sent_at=SENT)),
    "numbered credit": lambda _, buyer: (
        CREDITS,
        credit_body(buyer, sent_at=SENT, credit_note_number="Own 1"),
    ),
    "credit of all": lambda shop, buyer: (CREDITS, credit_of_all(shop, buyer)),
    "numbered invoice": lambda _, buyer: (
        INVOICES,
        invoice_body(buyer, sent_at=SENT, invoice_number="Own 1"),
    ),
    "payment of all": lambda shop, buyer: (PAYMENTS, payment_of_all(shop, buyer)),
    "refund of an invoice": lambda shop, buyer: (
        REFUNDS,
        {"invoice_id": settled(shop, buyer)["id"], "amount_cents": 10, "completed_at": SENT},
    ),
    "refund of a payment": lambda shop, buyer: (
        REFUNDS,
        {"payment_id": paid(shop, buyer, 1_000)["id"]},
    ),
    "refund payment": lambda shop, buyer: (
        f"{REFUNDS}{refunded(shop, settled(shop, buyer))['id']}/payments/",
        {"amount_cents": 10},
    ),
    "write-off": lambda shop, buyer: (
        f"{INVOICES}{sent(shop, buyer)['id']}/write-offs/",
        {"amount_cents": 10},
    ),
}


class TestOneName:
    @pytest.mark.parametrize("noun", NAMED)
    def test_an_external_id_is_created_once(self, shop: Business, buyer: Record, noun: str) -> None:
        race_for_one_name(shop, *NAMED[noun](shop, buyer))

    @pytest.mark.usefixtures("rounds")
    def test_a_credit_is_created_once_when_its_customer_is_new(self, shop: Business) -> None:
        new = {"customer_external_id": "new", "sent_at": SENT}
        credit = {**new, "external_id": "raced", "line_items": [{"amount": 1_000}]}
        sale = {**new, "line_items": [line(5)]}
        ran = together(
            [partial(shop.api.post, CREDITS, json=credit)] * 8
            + [partial(shop.api.post, INVOICES, json=sale)] * 4
        )
        assert statuses(ran[:8]) == {200: 7, 201: 1}
        assert statuses(ran[8:]) == {201: 4}
        assert shop.api.get("customers/").json()["count"] == 1

    def test_a_write_off_is_named_once_in_a_business(self, shop: Business, buyer: Record) -> None:
        paths = [f"{INVOICES}{sent(shop, buyer)['id']}/write-offs/" for _ in range(6)]
        body = {"amount_cents": 10, "external_id": "raced"}
        ran = together([partial(shop.api.post, path, json=body) for path in paths])
        assert statuses(ran) == {201: 1, 409: 5}
        assert {each.code for each in ran} == {None, "duplicate_external_id"}


class TestWhatIsLeft:
    @pytest.mark.usefixtures("rounds")
    def test_an_invoice_is_settled_once_by_one_of_three_records(
        self, shop: Business, buyer: Record
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
                partial(shop.api.post, f"{INVOICES}{invoice['id']}/write-offs/", json={}),
            ]
        ran = together(calls)
        for place in range(3):
            assert statuses(ran[place * 3 : place * 3 + 3]) == {201: 1, 422: 2}
        assert {each.code for each in ran} == {None, "allocation_exceeds_outstanding"}

    def test_refunds_never_exceed_the_paid_amount(self, shop: Business, buyer: Record) -> None:
        invoice, payment = settled(shop, buyer, 100), paid(shop, buyer, 100)
        calls = [
            partial(shop.api.post, REFUNDS, json={name: target["id"], "amount_cents": 30})
            for name, target in (("invoice_id", invoice), ("payment_id", payment))
            for _ in range(8)
        ]
        ran = together(calls)
        assert statuses(ran[:8]) == statuses(ran[8:]) == {201: 3, 422: 5}
        assert {each.code for each in ran} == {None, "refund_exceeds_refundable"}

    @pytest.mark.usefixtures("rounds")
    def test_money_is_released_or_refunded(self, shop: Business, buyer: Record) -> None:
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
