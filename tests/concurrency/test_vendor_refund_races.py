"""Vendor refunds meet bills, bill payments, vendor credits and each other at the same moment."""

import random
import threading
from collections import Counter
from functools import partial
from time import monotonic
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    CREDITS,
    PAYMENTS,
    bill_paid,
    bill_payment_body,
    part,
    received,
    settled,
    share,
    status_of,
)
from tests.builders.trade import Record, read
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    as_credit,
    of_bill,
    of_payment,
    refund_body,
)
from tests.concurrency.racing import race, statuses, together
from tests.partner import Business, client

CLIENTS = 16


@pytest.fixture
def vendor(shop: Business) -> Record:
    return shop.vendor()


class TestOneKey:
    def test_a_repeat_answers_the_original_bytes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        key = {"Idempotency-Key": str(uuid4())}
        body = refund_body(vendor, 900, of_bill(bill, 400), as_credit(100))
        first = shop.api.post(REFUND_PAYMENTS, json=body, headers=key)
        payment = first.json()["payment"]
        changed = shop.api.patch(f"{REFUND_PAYMENTS}{payment['id']}/", json={"status": "failed"})
        assert changed.status_code == 200
        again = shop.api.post(REFUND_PAYMENTS, json=body, headers=key)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.headers["etag"] == first.headers["etag"]
        other = shop.api.post(REFUND_PAYMENTS, json={**body, "memo": "x"}, headers=key)
        assert (other.status_code, other.json()["error_code"]) == (422, "idempotency_key_reused")

    def test_forty_at_once_are_one_refund(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        key = {"Idempotency-Key": str(uuid4())}
        body = refund_body(vendor, 1_000, of_bill(bill, 600), as_credit(400))
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body, headers=key)] * 40)
        assert statuses(ran) == {201: 40}
        assert len({each.answer.content for each in ran}) == 1
        assert sum("idempotent-replayed" in each.answer.headers for each in ran) == 39
        assert shop.api.get(REFUNDS).json()["count"] == 1
        assert shop.api.get(CREDITS).json()["count"] == 1

    def test_forty_cancellations_are_one(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(settled(shop, vendor, 500), 300))
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/delete/"
        ran = together([partial(shop.api.post, path)] * 40)
        assert statuses(ran) == {200: 1, 409: 39}
        assert len(ledger.entries(made["refund"])) == 2


class TestOneExternalId:
    def test_forty_at_once_are_one_refund(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        body = refund_body(vendor, 1_000, of_bill(bill, 1_000), external_id="once")
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 40)
        assert statuses(ran) == {200: 39, 201: 1}
        assert len({each.answer.content for each in ran}) == 1

    def test_of_unallocated_refunds_too(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        body = refund_body(vendor, 1_000, external_id="once")
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 40)
        assert statuses(ran) == {200: 39, 201: 1}


class TestRefundsOfOneThing:
    @pytest.mark.parametrize("_round", range(3))
    def test_of_many_as_many_come_through_as_the_bill_has(
        self, shop: Business, ledger: Ledger, vendor: Record, _round: int
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        body = refund_body(vendor, 300, of_bill(bill, 300))
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 12)
        assert statuses(ran) == {201: 3, 422: 9}

    def test_of_many_as_many_come_through_as_the_payment_has(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bills = [received(shop, vendor, 250) for _ in range(4)]
        payment = bill_paid(shop, vendor, 1_000, *(part(each, 250) for each in bills))
        body = refund_body(vendor, 300, of_payment(payment, 300))
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 12)
        assert statuses(ran) == {201: 3, 422: 9}
        owed = sum(status_of(shop, each)[1] for each in bills)
        assert (owed, read(shop, PAYMENTS, payment)["refunded_amount_cents"]) == (900, 900)

    def test_a_cancellation_and_a_new_list_never_meet_halfway(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        payment = bill_paid(shop, vendor, 1_000, part(bill, 1_000))
        calls = []
        for _ in range(6):
            made = agreed(shop, vendor, 100, of_payment(payment, 50), as_credit(20))
            path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
            items = {"allocations": [of_bill(bill, 40), as_credit(30)]}
            calls += [
                partial(shop.api.patch, path, json=items),
                partial(shop.api.post, f"{path}delete/"),
                partial(shop.api.patch, path, json={"status": "completed"}),
            ]
        ran = together(calls)
        assert {each.status for each in ran} <= {200, 409}


class Claimant(threading.Thread):
    """A client who pays, credits, claims back and changes its mind, as fast as it can."""

    def __init__(self, race: "Race", api: httpx.Client, until: float) -> None:
        super().__init__(daemon=True)
        self.race = race
        self.api = api
        self.until = until
        self.dice = random.Random()

    def run(self) -> None:
        moves = [self.claim, self.claim, self.reallocate, self.turn, self.cancel]
        moves += [self.pay, self.repay, self.release, self.bounce, self.apply]
        while monotonic() < self.until and not self.race.faults:
            move = self.dice.choice(moves)
            try:
                answer = move()
            except Exception as error:  # An undocumented answer, too.
                self.race.faults.append(f"{move.__name__}: {error!r}")
                return
            self.race.answers[move.__name__, answer.status_code] += 1

    def items(self) -> list[Record]:
        dice, race = self.dice, self.race
        items = [
            of_bill(each, dice.randint(1, 80))
            for each in dice.sample(race.bills, dice.randint(0, 2))
        ]
        items += [
            of_payment(each, dice.randint(1, 120))
            for each in dice.sample(race.payments, dice.randint(0, 2))
        ]
        return items + [as_credit(dice.randint(1, 40))] * dice.randint(0, 2)

    def one(self, things: list[Record]) -> Record:
        return self.dice.choice(things)

    def claim(self) -> httpx.Response:
        answer = self.api.post(
            REFUND_PAYMENTS, json=refund_body(self.race.vendor, 400, *self.items())
        )
        if answer.status_code == 201:
            made = answer.json()
            self.race.claims.append(made["payment"])
            self.race.credits += [
                {"id": each["vendor_credit_id"]}
                for each in made["allocations"]
                if each["vendor_credit_id"]
            ]
        return answer

    def change(self, **changes: Any) -> httpx.Response:
        path = f"{REFUND_PAYMENTS}{self.one(self.race.claims)['id']}/"
        return self.api.patch(path, json=changes)

    def reallocate(self) -> httpx.Response:
        return self.change(allocations=self.items())

    def turn(self) -> httpx.Response:
        return self.change(status=self.dice.choice(("processing", "completed", "failed")))

    def cancel(self) -> httpx.Response:
        return self.api.post(f"{REFUND_PAYMENTS}{self.one(self.race.claims)['id']}/delete/")

    def pay(self) -> httpx.Response:
        amount = self.dice.randint(1, 200)
        parts = [part(self.one(self.race.bills), amount)]
        body = bill_payment_body(self.race.vendor, amount, allocations=parts)
        answer = self.api.post(PAYMENTS, json=body)
        if answer.status_code == 201:
            self.race.payments.append(answer.json()["payment"])
        return answer

    def repay(self) -> httpx.Response:
        parts = [part(each, self.dice.randint(1, 90)) for each in self.race.bills[:3]]
        return self.settle(allocations=parts)

    def release(self) -> httpx.Response:
        return self.settle(allocations=[])

    def bounce(self) -> httpx.Response:
        return self.settle(status=self.dice.choice(("failed", "completed")))

    def settle(self, **changes: Any) -> httpx.Response:
        return self.api.patch(f"{PAYMENTS}{self.one(self.race.payments)['id']}/", json=changes)

    def apply(self) -> httpx.Response:
        parts = [share(self.one(self.race.bills), self.dice.randint(1, 20))]
        body = {"allocations": parts if self.dice.random() < 0.7 else []}
        return self.api.put(f"{CREDITS}{self.one(self.race.credits)['id']}/", json=body)


class Race:
    """What the clients fight over, and what they were answered."""

    def __init__(self, shop: Business, vendor: Record) -> None:
        self.vendor = vendor
        self.bills = [received(shop, vendor, 1_000) for _ in range(5)]
        self.payments = [bill_paid(shop, vendor, 600, part(each, 500)) for each in self.bills]
        made = agreed(shop, vendor, 500, as_credit(300))
        self.claims = [made["payment"]]
        self.credits = [{"id": made["allocations"][0]["vendor_credit_id"]}]
        self.answers: Counter[tuple[str, int]] = Counter()
        self.faults: list[str] = []

    @property
    def done(self) -> set[str]:
        """The moves that came through."""
        return {move for move, status in self.answers if status < 300}


class TestEverythingAtOnce:
    def test_nobody_waits_in_a_ring_and_the_books_hold(
        self, api_server: ApiServer, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        deadlocks = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()"
        what, before = Race(shop, vendor), api_server.query(deadlocks)
        headers = dict(shop.api.headers)
        apis = [client(shop.base_url, headers=headers) for _ in range(CLIENTS)]
        wanted = {"claim", "reallocate", "turn", "cancel", "pay", "apply"}
        race(
            lambda until: [Claimant(what, api, until) for api in apis],
            lambda: bool(what.faults) or what.done >= wanted,
        )
        for api in apis:
            api.close()
        assert what.faults == []
        assert {status for _, status in what.answers} <= {200, 201, 409, 422}
        assert what.done >= wanted
        assert api_server.query(deadlocks) == before
        for bill in what.bills:
            assert read(shop, BILLS, bill)["outstanding_balance"] >= 0
