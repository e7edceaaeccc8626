"""Refusals of payouts, and of changes of the money in them."""

from collections.abc import Callable

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import PAYOUT, Bank
from tests.builders.payouts import (
    AT,
    ON,
    PAYMENTS,
    PAYOUTS,
    by_card,
    given_back,
    moved,
    paid_out,
    payment,
    payout_body,
    upserted,
)
from tests.builders.sales import paid, refunded
from tests.builders.trade import NOBODY, Record
from tests.partner import Business

Make = Callable[[Business, Record], Record]


def waiting(shop: Business, buyer: Record) -> Record:
    return by_card(shop, buyer, status="pending")


def bounced(shop: Business, buyer: Record) -> Record:
    return moved(shop, by_card(shop, buyer), "failed")


def at_the_bank(shop: Business, buyer: Record) -> Record:
    return paid(shop, buyer, 100)


def given_back_by_transfer(shop: Business, buyer: Record) -> Record:
    refund = refunded(shop, paid(shop, buyer, 20), amount_cents=20, completed_at=AT)
    payment: Record = refund["refund_payments"][0]
    return payment


def taken_back(shop: Business, buyer: Record) -> Record:
    back = given_back(shop, buyer)
    path = f"invoices/refunds/{back['refund_id']}/payments/{back['id']}/delete/"
    cancelled: Record = shop.api.post(path).json()
    return cancelled


def of_another_processor(shop: Business, buyer: Record) -> Record:
    return by_card(shop, buyer, payment_processor="Adyen")


def paid_out_already(shop: Business, buyer: Record) -> Record:
    card = by_card(shop, buyer)
    paid_out(shop, 100, card)
    return card


def given_back_already(shop: Business, buyer: Record) -> Record:
    back = given_back(shop, buyer)
    paid_out(shop, -20, back)
    return back


def waits_in_another(shop: Business, buyer: Record) -> Record:
    card = by_card(shop, buyer)
    paid_out(shop, 100, card, status="pending")
    return card


ITEMS: list[tuple[Make, int, str]] = [
    (waiting, 409, "item_not_completed"),
    (bounced, 409, "item_not_completed"),
    (taken_back, 409, "item_not_completed"),
    (at_the_bank, 422, "item_not_in_clearing"),
    (given_back_by_transfer, 422, "item_not_in_clearing"),
    (of_another_processor, 422, "processor_mismatch"),
    (paid_out_already, 409, "already_in_payout"),
    (given_back_already, 409, "already_in_payout"),
    (waits_in_another, 409, "already_in_payout"),
]


class TestRefusalsOfCreatePayout:
    @pytest.mark.parametrize("later", [False, True], ids=["new", "known"])
    @pytest.mark.parametrize(("make", "status", "code"), ITEMS)
    def test_of_an_item(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        make: Make,
        status: int,
        code: str,
        later: bool,
    ) -> None:
        good, bad = by_card(shop, buyer), make(shop, buyer)
        name = f"refused {bad['id']}"
        if later:
            paid_out(shop, 100, good, external_id=name)
        with ledger.untouched():
            answer = shop.api.post(PAYOUTS, json=payout_body(100, good, bad, external_id=name))
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
        assert answer.json()["detail"]["item_id"] == bad["id"]

    @pytest.mark.parametrize("name", ["payment_ids", "refund_payment_ids"])
    def test_of_an_item_that_is_not_there(self, shop: Business, ledger: Ledger, name: str) -> None:
        with ledger.untouched():
            answer = shop.api.post(PAYOUTS, json=payout_body(1, **{name: [NOBODY]}))
        assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
        assert answer.json()["detail"]["reference"] == NOBODY

    def test_of_items_taken_by_another_when_it_is_live_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="revived")
        shop.made(PAYOUTS, body)
        upserted(shop, {**body, "status": "failed"})
        paid_out(shop, 100, card)
        for status in ("paid", "pending"):
            refused = ledger.refused("POST", PAYOUTS, json={**body, "status": status})
            assert refused == (409, "already_in_payout")
        assert upserted(shop, {**body, "status": "paid", "payment_ids": []})["status"] == "paid"

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"processor": "acme"}, "processor"),
            ({"external_id": ""}, "external_id"),
            ({"payment_ids": [NOBODY] * 1_001}, "payment_ids"),
            ({"settlement_file_id": NOBODY}, "settlement_file_id"),
        ],
    )
    def test_of_a_body_that_cannot_be_right(
        self, shop: Business, facts: Record, field: str
    ) -> None:
        answer = shop.api.post(PAYOUTS, json=payout_body(1, **facts))
        assert answer.status_code == 400
        assert list(answer.json()["detail"]["field_errors"]) == [field]


class TestMoneyInAPayout:
    @pytest.mark.parametrize(
        "change",
        [
            {"total_amount_cents": 90},
            {"processing_fee_cents": 1},
            {"payment_method": "paypal"},
            {"payment_processor": "adyen"},
        ],
    )
    @pytest.mark.parametrize("method", ["PATCH", "PUT"])
    def test_stays_as_the_payout_counted_it(
        self, shop: Business, ledger: Ledger, buyer: Record, change: Record, method: str
    ) -> None:
        card = by_card(shop, buyer)
        made = paid_out(shop, 100, card)
        with ledger.untouched():
            answer = shop.api.request(method, f"{PAYMENTS}{card['id']}/", json=change)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "in_payout")
        assert answer.json()["detail"]["payout_id"] == made["id"]
        assert set(change) <= set(answer.json()["detail"]["fields"])

    def test_may_have_another_date_and_be_described(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        path = f"{PAYMENTS}{card['id']}/"
        shop.api.patch(path, json={"note": "Late", "payment_date": "2025-04-02"})
        assert payment(shop, card)["payment_date"] == "2025-04-02"
        # Its fee is now posted on another day; until then the payout bears it.
        assert ledger.postings(made)[1:] == [
            (ON, {"6100": 3, "1150": -3}),
            ("2025-04-02", {"6100": -3, "1150": 3}),
        ]

    def test_a_refund_payment_is_not_cancelled(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        back = given_back(shop, buyer)
        made = paid_out(shop, -20, back)
        path = f"invoices/refunds/{back['refund_id']}/payments/{back['id']}/delete/"
        assert ledger.refused("POST", path) == (409, "in_payout")
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert shop.api.post(path).json()["status"] == "cancelled"

    def test_a_failed_payout_holds_no_payment(self, shop: Business, buyer: Record) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="holds nothing")
        shop.made(PAYOUTS, {**body, "status": "failed"})
        changed = shop.api.patch(f"{PAYMENTS}{card['id']}/", json={"total_amount_cents": 90})
        assert changed.status_code == 200
        again = upserted(shop, {**body, "status": "paid"})
        assert again["gross_payments_amount_cents"] == 90


class TestLinkedPayouts:
    def test_an_item_of_it_may_still_bounce(
        self, shop: Business, buyer: Record, bank: Bank
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        bank.match(bank.line(97), PAYOUT, made)
        moved(shop, card, "failed")
        after = shop.api.get(f"{PAYOUTS}{made['id']}/").json()
        assert after["amount_variance_cents"] == 100
        assert after["reconciliation_status"] == "fully_reconciled"

    @pytest.mark.parametrize(
        ("shown", "status"),
        [(0, "unreconciled"), (4, "partially_reconciled"), (10, "fully_reconciled")],
    )
    def test_a_list_selects_by_reconciliation_status(
        self, shop: Business, bank: Bank, shown: int, status: str
    ) -> None:
        made = paid_out(shop, -10, processor="square")
        if shown:
            bank.match(bank.line(-shown), PAYOUT, made)
        query = {"reconciliation_status": status, "processor": "square"}
        [found] = shop.api.get(PAYOUTS, params=query).json()["results"]
        assert (found["id"], found["reconciliation_status"]) == (made["id"], status)
