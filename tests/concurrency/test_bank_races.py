"""Bank lines are matched, unmatched and categorized at the moment their money changes."""

import random
import threading
from collections import Counter
from functools import partial
from time import monotonic
from typing import Any

import httpx
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import (
    LINES,
    PAYMENT,
    VENDOR_REFUND_PAYMENT,
    Bank,
    left,
    matching,
    open_account,
)
from tests.builders.sales import paid, part, sent
from tests.builders.trade import Record
from tests.builders.vendor_refunds import REFUND_PAYMENTS, agreed
from tests.concurrency.racing import race, statuses, together
from tests.partner import Business, client

CLIENTS = 32
PAYMENTS = "invoices/payments/"


@pytest.fixture
def bank(shop: Business) -> Bank:
    open_account(shop, display_name="Current account")
    return Bank(shop, open_account(shop))


@pytest.fixture
def vendor(shop: Business) -> Record:
    return shop.vendor()


class TestOneLine:
    def test_of_many_as_many_are_linked_as_it_has(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line = bank.line(1_000)
        payments = [paid(shop, buyer, 300) for _ in range(12)]
        calls = [
            partial(bank.ask, line, "match", matching(PAYMENT, each, 300)) for each in payments
        ]
        assert statuses(together(calls)) == {200: 3, 422: 9}
        assert left(bank.read(line)) == (900, 0, 100)

    def test_is_linked_or_categorized(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line, payment = bank.line(400), paid(shop, buyer, 400)
        ran = together(
            [
                partial(bank.ask, line, "match", matching(PAYMENT, payment)),
                partial(bank.ask, line, "categorize", {"account": "4500"}),
            ]
            * 8
        )
        assert statuses(ran)[200] == 1
        assert bank.read(line)["is_reconciled"]

    def test_with_one_etag_is_changed_once(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        line, payment = bank.line(400), paid(shop, buyer, 400)
        seen = {"If-Match": shop.api.get(f"{LINES}{line['id']}/").headers["ETag"]}
        body = matching(PAYMENT, payment, 10)
        ran = together([partial(bank.ask, line, "match", body, headers=seen)] * 12)
        assert statuses(ran) == {200: 1, 412: 11}


class TestOnePayment:
    def test_of_many_lines_as_many_are_its_own_as_it_has(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        invoice = sent(shop, buyer, 900)
        payment = paid(shop, buyer, 900, part(invoice, 900), status="pending")
        lines = [bank.line(300) for _ in range(12)]
        body = matching(PAYMENT, payment, 300)
        ran = together([partial(bank.ask, each, "match", body) for each in lines])
        assert statuses(ran) == {200: 3, 422: 9}
        assert shop.api.get(f"{PAYMENTS}{payment['id']}/").json()["status"] == "completed"

    def test_it_bounces_while_it_is_matched(
        self, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        lines = [bank.line(100) for _ in range(8)]
        payment = paid(shop, buyer, 400)
        path, body = f"{PAYMENTS}{payment['id']}/", matching(PAYMENT, payment, 50)
        calls = [partial(bank.ask, each, "match", body) for each in lines]
        calls.insert(4, partial(shop.api.patch, path, json={"status": "failed"}))
        ran = together(calls)
        assert set(statuses(ran)) <= {200, 409}
        assert ran[4].status == 200
        assert {left(bank.read(each)) for each in lines} == {(0, 0, 100)}

    def test_a_refund_is_cancelled_while_it_comes(
        self, shop: Business, ledger: Ledger, vendor: Record, bank: Bank
    ) -> None:
        calls = []
        for _ in range(6):
            payment, line = agreed(shop, vendor, 100)["payment"], bank.line(100)
            body = matching(VENDOR_REFUND_PAYMENT, payment)
            calls += [
                partial(bank.ask, line, "match", body),
                partial(shop.api.post, f"{REFUND_PAYMENTS}{payment['id']}/delete/"),
            ]
        ran = together(calls)
        for place in range(0, 12, 2):
            assert sorted(each.status for each in ran[place : place + 2]) == [200, 409]


class TestEverybodyAtOnce:
    def test_the_books_stay_right(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, buyer: Record, bank: Bank
    ) -> None:
        ring = Ring(
            [bank.line(500)["id"] for _ in range(5)],
            [paid(shop, buyer, 450, processing_fee_cents=3)["id"] for _ in range(6)],
        )
        token = {"Authorization": shop.api.headers["Authorization"]}
        clients = [client(shop.base_url, headers=token) for _ in range(CLIENTS)]
        wanted = {"match", "unmatch", "categorize", "uncategorize", "turn", "change"}
        race(
            lambda until: [Matcher(ring, api, until) for api in clients],
            lambda: bool(ring.faults) or ring.done == wanted,
        )
        for api in clients:
            api.close()
        assert ring.faults == []
        assert {status for _, status in ring.answers} <= {200, 409, 422}
        assert ring.done == wanted


class Ring:
    """The lines and payments that all clients fight over."""

    def __init__(self, lines: list[str], payments: list[str]) -> None:
        self.lines = lines
        self.payments = payments
        self.answers: Counter[tuple[str, int]] = Counter()
        self.faults: list[str] = []

    @property
    def done(self) -> set[str]:
        """The moves that came through."""
        return {move for move, status in self.answers if status == 200}


class Matcher(threading.Thread):
    """One client with a connection of its own."""

    def __init__(self, ring: Ring, api: httpx.Client, until: float) -> None:
        super().__init__(daemon=True)
        self.ring = ring
        self.api = api
        self.dice = random.Random()
        self.until = until

    def run(self) -> None:
        moves = [self.match] * 6 + [self.unmatch] * 3 + [self.turn] * 3
        moves += [self.categorize, self.uncategorize, self.change]
        while monotonic() < self.until and not self.ring.faults:
            move = self.dice.choice(moves)
            try:
                answer = move()
            except Exception as error:  # An undocumented answer, too.
                self.ring.faults.append(f"{move.__name__}: {error!r}")
                return
            if answer is not None:
                self.ring.answers[move.__name__, answer.status_code] += 1

    def ask(self, what: str, body: Any = None, line: str | None = None) -> httpx.Response:
        return self.api.post(
            f"{LINES}{line or self.dice.choice(self.ring.lines)}/{what}/", json=body
        )

    def match(self) -> httpx.Response:
        target = {"id": self.dice.choice(self.ring.payments)}
        return self.ask("match", matching(PAYMENT, target, self.dice.randint(1, 200)))

    def unmatch(self) -> httpx.Response | None:
        line = self.dice.choice(self.ring.lines)
        links = self.api.get(f"{LINES}{line}/").json()["links"]
        if not links:
            return None
        link = self.dice.choice(links)["reconciliation_link_id"]
        return self.ask("unmatch", {"reconciliation_link_id": link}, line)

    def categorize(self) -> httpx.Response:
        return self.ask("categorize", {"account": self.dice.choice(("4500", "6300"))})

    def uncategorize(self) -> httpx.Response:
        return self.ask("uncategorize")

    def turn(self) -> httpx.Response:
        status = self.dice.choice(("completed", "completed", "pending", "failed"))
        return self.patch({"status": status})

    def change(self) -> httpx.Response:
        return self.patch({"processing_fee_cents": self.dice.randint(0, 40)})

    def patch(self, body: Record) -> httpx.Response:
        return self.api.patch(f"{PAYMENTS}{self.dice.choice(self.ring.payments)}/", json=body)
