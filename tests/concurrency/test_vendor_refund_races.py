"""Vendor refunds, bills, bill payments and vendor credits change one another concurrently."""

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

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
from tests.concurrency.races import (
    DEADLOCKS,
    Contest,
    Racer,
    race_for_one_key,
    race_for_one_name,
    race_until_done,
    statuses,
    together,
)
from tests.partner import Business

pytestmark = pytest.mark.usefixtures("ledger")


class TestOneKey:
    def test_forty_at_once_are_one_refund(self, shop: Business, vendor: Record) -> None:
        bill = settled(shop, vendor, 1_000)
        body = refund_body(vendor, 1_000, of_bill(bill, 600), as_credit(400))
        race_for_one_key(shop, REFUND_PAYMENTS, body)
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
    @pytest.mark.parametrize("amounts", [(1_000,), ()], ids=["allocated", "unallocated"])
    def test_forty_at_once_are_one_refund(
        self, shop: Business, vendor: Record, amounts: tuple[int, ...]
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        body = refund_body(vendor, 1_000, *(of_bill(bill, amount) for amount in amounts))
        ran = race_for_one_name(shop, REFUND_PAYMENTS, body, times=40)
        assert len({each.answer.content for each in ran}) == 1


class TestRefundsOfOneTarget:
    @pytest.mark.usefixtures("rounds")
    def test_a_bill_is_refunded_as_far_as_it_is_paid(self, shop: Business, vendor: Record) -> None:
        bill = settled(shop, vendor, 1_000)
        body = refund_body(vendor, 300, of_bill(bill, 300))
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 12)
        assert statuses(ran) == {201: 3, 422: 9}

    def test_a_payment_is_refunded_as_far_as_it_suffices(
        self, shop: Business, vendor: Record
    ) -> None:
        bills = [received(shop, vendor, 250) for _ in range(4)]
        payment = bill_paid(shop, vendor, 1_000, *(part(each, 250) for each in bills))
        body = refund_body(vendor, 300, of_payment(payment, 300))
        ran = together([partial(shop.api.post, REFUND_PAYMENTS, json=body)] * 12)
        assert statuses(ran) == {201: 3, 422: 9}
        owed = sum(status_of(shop, each)[1] for each in bills)
        assert (owed, read(shop, PAYMENTS, payment)["refunded_amount_cents"]) == (900, 900)

    def test_a_refund_is_cancelled_while_its_allocations_change(
        self, shop: Business, vendor: Record
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


@dataclass
class Claims(Contest):
    """The records that all clients change; the races add to `payments` and the lists below it."""

    vendor: Record
    bills: list[Record]
    payments: list[Record]
    claims: list[Record]
    credits: list[Record]

    @classmethod
    def begin(cls, shop: Business, vendor: Record) -> "Claims":
        bills = [received(shop, vendor, 1_000) for _ in range(5)]
        payments = [bill_paid(shop, vendor, 600, part(each, 500)) for each in bills]
        made = agreed(shop, vendor, 500, as_credit(300))
        credit = {"id": made["allocations"][0]["vendor_credit_id"]}
        return cls(vendor, bills, payments, [made["payment"]], [credit])


class Claimant(Racer):
    """A client that pays, credits, claims a refund and changes each of them."""

    contest: Claims
    moves: ClassVar = {
        **{"claim": 2, "reallocate": 1, "turn": 1, "cancel": 1},
        **{"pay": 1, "repay": 1, "release": 1, "bounce": 1, "apply": 1},
    }

    def items(self) -> list[Record]:
        dice, contest = self.dice, self.contest
        items = [
            of_bill(each, dice.randint(1, 80))
            for each in dice.sample(contest.bills, dice.randint(0, 2))
        ]
        items += [
            of_payment(each, dice.randint(1, 120))
            for each in dice.sample(contest.payments, dice.randint(0, 2))
        ]
        return items + [as_credit(dice.randint(1, 40))] * dice.randint(0, 2)

    def one(self, made: list[Record]) -> Record:
        return self.dice.choice(made)

    def claim(self) -> httpx.Response:
        answer = self.api.post(
            REFUND_PAYMENTS, json=refund_body(self.contest.vendor, 400, *self.items())
        )
        if answer.status_code == 201:
            made = answer.json()
            self.contest.claims.append(made["payment"])
            self.contest.credits += [
                {"id": each["vendor_credit_id"]}
                for each in made["allocations"]
                if each["vendor_credit_id"]
            ]
        return answer

    def change(self, **changes: Any) -> httpx.Response:
        path = f"{REFUND_PAYMENTS}{self.one(self.contest.claims)['id']}/"
        return self.api.patch(path, json=changes)

    def reallocate(self) -> httpx.Response:
        return self.change(allocations=self.items())

    def turn(self) -> httpx.Response:
        return self.change(status=self.dice.choice(("processing", "completed", "failed")))

    def cancel(self) -> httpx.Response:
        return self.api.post(f"{REFUND_PAYMENTS}{self.one(self.contest.claims)['id']}/delete/")

    def pay(self) -> httpx.Response:
        amount = self.dice.randint(1, 200)
        parts = [part(self.one(self.contest.bills), amount)]
        body = bill_payment_body(self.contest.vendor, amount, allocations=parts)
        answer = self.api.post(PAYMENTS, json=body)
        if answer.status_code == 201:
            self.contest.payments.append(answer.json()["payment"])
        return answer

    def repay(self) -> httpx.Response:
        parts = [part(each, self.dice.randint(1, 90)) for each in self.contest.bills[:3]]
        return self.settle(allocations=parts)

    def release(self) -> httpx.Response:
        return self.settle(allocations=[])

    def bounce(self) -> httpx.Response:
        return self.settle(status=self.dice.choice(("failed", "completed")))

    def settle(self, **changes: Any) -> httpx.Response:
        return self.api.patch(f"{PAYMENTS}{self.one(self.contest.payments)['id']}/", json=changes)

    def apply(self) -> httpx.Response:
        parts = [share(self.one(self.contest.bills), self.dice.randint(1, 20))]
        body = {"allocations": parts if self.dice.random() < 0.7 else []}
        return self.api.put(f"{CREDITS}{self.one(self.contest.credits)['id']}/", json=body)


class TestAllMoves:
    def test_the_books_agree_after_all_moves_at_once_without_a_deadlock(
        self, api_server: ApiServer, shop: Business, vendor: Record
    ) -> None:
        contest, before = Claims.begin(shop, vendor), api_server.query(DEADLOCKS)
        wanted = {"claim", "reallocate", "turn", "cancel", "pay", "apply"}
        race_until_done(Claimant, contest, shop, clients=16, wanted=wanted)
        assert api_server.query(DEADLOCKS) == before
        for bill in contest.bills:
            assert read(shop, BILLS, bill)["outstanding_balance"] >= 0
