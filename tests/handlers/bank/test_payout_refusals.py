"""What payouts refuse, what they hold others to, and that nothing changes then."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import PAYOUT, Bank, open_account
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


def refused(shop: Business, body: Record) -> tuple[int, str]:
    answer = shop.api.post(PAYOUTS, json=body)
    return answer.status_code, answer.json()["error_code"]


class TestRefusalsOfCreatePayout:
    @pytest.mark.parametrize(("make", "status", "code"), ITEMS)
    def test_of_an_item(
        self, shop: Business, ledger: Ledger, buyer: Record, make: Make, status: int, code: str
    ) -> None:
        good, bad = by_card(shop, buyer), make(shop, buyer)
        with ledger.untouched():
            answer = shop.api.post(PAYOUTS, json=payout_body(100, good, bad))
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
        assert answer.json()["detail"]["item_id"] == bad["id"]

    @pytest.mark.parametrize(("make", "status", "code"), ITEMS)
    def test_of_an_item_that_joins_later(
        self, shop: Business, ledger: Ledger, buyer: Record, make: Make, status: int, code: str
    ) -> None:
        good, bad = by_card(shop, buyer), make(shop, buyer)
        paid_out(shop, 100, good, external_id=f"late {bad['id']}")
        body = payout_body(100, good, bad, external_id=f"late {bad['id']}")
        with ledger.untouched():
            assert refused(shop, body) == (status, code)

    @pytest.mark.parametrize("name", ["payment_ids", "refund_payment_ids"])
    def test_of_an_item_that_is_not_there(self, shop: Business, ledger: Ledger, name: str) -> None:
        with ledger.untouched():
            answer = shop.api.post(PAYOUTS, json=payout_body(1, **{name: [NOBODY]}))
        assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
        assert answer.json()["detail"]["reference"] == NOBODY

    def test_of_another_currency(self, shop: Business, ledger: Ledger) -> None:
        with ledger.untouched():
            assert refused(shop, payout_body(1, currency="EUR")) == (422, "currency_mismatch")

    def test_of_a_day_inside_the_lock(self, shop: Business, ledger: Ledger) -> None:
        paid_out(shop, 1, external_id="open", completed_at="2025-05-02T00:00:00Z")
        with ledger.locked("2025-04-30"), ledger.untouched():
            assert refused(shop, payout_body(1)) == (409, "period_locked")
            moved_there = payout_body(1, external_id="open")
            assert refused(shop, moved_there) == (409, "period_locked")

    def test_a_pending_payout_may_be_dated_in_a_locked_period(
        self, shop: Business, ledger: Ledger
    ) -> None:
        with ledger.locked("2025-04-30"):
            made = paid_out(shop, 1, status="pending", external_id="due")
            assert made["completed_at"] == AT
            late = payout_body(1, status="paid", external_id="due")
            assert refused(shop, late) == (409, "period_locked")

    def test_of_items_taken_by_another_when_it_is_live_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="revived")
        shop.made(PAYOUTS, body)
        upserted(shop, {**body, "status": "failed"})
        paid_out(shop, 100, card)
        with ledger.untouched():
            for status in ("paid", "pending"):
                again = {**body, "status": status}
                assert refused(shop, again) == (409, "already_in_payout")
        assert upserted(shop, {**body, "status": "paid", "payment_ids": []})["status"] == "paid"

    def test_of_items_that_bounced_when_it_is_live_again(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="bounced meanwhile")
        shop.made(PAYOUTS, {**body, "status": "failed"})
        moved(shop, card, "failed")
        with ledger.untouched():
            assert refused(shop, {**body, "status": "paid"}) == (409, "item_not_completed")

    def test_a_payout_of_other_takes_items_of_all_processors(
        self, shop: Business, buyer: Record
    ) -> None:
        items = (
            by_card(shop, buyer),
            of_another_processor(shop, buyer),
            paid(shop, buyer, 100, payment_method="debit_card"),
        )
        made = paid_out(shop, 300, *items, processor="other")
        assert made["amount_variance_cents"] == 0

    def test_a_processor_other_than_that_of_its_items_is_refused(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = payout_body(100, by_card(shop, buyer), external_id="whose")
        shop.made(PAYOUTS, body)
        with ledger.untouched():
            assert refused(shop, {**body, "processor": "adyen"}) == (422, "processor_mismatch")
        assert upserted(shop, {**body, "processor": "other"})["processor"] == "other"

    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"processor": "acme"}, "processor"),
            ({"paid_out_amount_cents": 1.5}, "paid_out_amount_cents"),
            ({"fee_cents": 0.5}, "fee_cents"),
            ({"additional_refunds_amount_cents": -1}, "additional_refunds_amount_cents"),
            ({"status": "reconciled"}, "status"),
            ({"external_id": ""}, "external_id"),
            ({"external_id": "x" * 256}, "external_id"),
            ({"payment_ids": ["pay-1"]}, "payment_ids.0"),
            ({"payment_ids": [NOBODY] * 1_001}, "payment_ids"),
            ({"settlement_file_id": NOBODY}, "settlement_file_id"),
        ],
    )
    def test_of_a_body_that_cannot_be_right(
        self, shop: Business, facts: dict[str, Any], field: str
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

    def test_changes_again_once_it_is_free(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        made = paid_out(shop, 100, card)
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        path = f"{PAYMENTS}{card['id']}/"
        changed = shop.api.patch(path, json={"total_amount_cents": 90})
        assert changed.json()["payment"]["total_amount_cents"] == 90

    def test_may_have_another_date_and_be_described(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        path = f"{PAYMENTS}{card['id']}/"
        shop.api.patch(path, json={"note": "Late", "payment_date": "2025-04-02"})
        assert payment(shop, card)["payment_date"] == "2025-04-02"
        # Its fee is posted on another day now, and until then the payout bears it.
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
        with ledger.untouched():
            answer = shop.api.post(path)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "in_payout")
        shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert shop.api.post(path).json()["status"] == "cancelled"

    def test_a_failed_payout_holds_no_payment(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        card = by_card(shop, buyer)
        body = payout_body(100, card, external_id="holds nothing")
        shop.made(PAYOUTS, {**body, "status": "failed"})
        changed = shop.api.patch(f"{PAYMENTS}{card['id']}/", json={"total_amount_cents": 90})
        assert changed.status_code == 200
        again = upserted(shop, {**body, "status": "paid"})
        assert again["gross_payments_amount_cents"] == 90


class TestLinkedPayouts:
    """What a bank line shows stays as it is, until it is unlinked."""

    def test_a_linked_payout_cannot_be_changed_or_deleted(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        bank = Bank(shop, open_account(shop))
        body = payout_body(100, by_card(shop, buyer), external_id="linked")
        made = shop.made(PAYOUTS, body)
        line = bank.line(40)
        bank.match(line, PAYOUT, made)
        same = upserted(shop, body)
        assert same["reconciliation_status"] == "partially_reconciled"
        assert [each["reconciled_amount_cents"] for each in same["reconciled_bank_transactions"]]
        with ledger.untouched():
            for change in ({"memo": "new"}, {"payment_ids": []}, {"status": "failed"}):
                assert refused(shop, {**body, **change}) == (409, "payout_reconciled")
            answer = shop.api.delete(f"{PAYOUTS}{made['id']}/")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "payout_reconciled")
        assert answer.json()["detail"]["linked_amount_cents"] == 40
        bank.unmatch(line)
        assert upserted(shop, {**body, "memo": "new"})["reconciliation_status"] == "unreconciled"
        assert shop.api.delete(f"{PAYOUTS}{made['id']}/").status_code == 200

    def test_an_item_of_it_may_still_bounce(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        bank, card = Bank(shop, open_account(shop)), by_card(shop, buyer, 100, fee=3)
        made = paid_out(shop, 97, card)
        bank.match(bank.line(97), PAYOUT, made)
        moved(shop, card, "failed")
        after = shop.api.get(f"{PAYOUTS}{made['id']}/").json()
        assert (after["amount_variance_cents"], after["reconciliation_status"]) == (
            100,
            "fully_reconciled",
        )

    def test_lists_find_it_by_how_much_is_shown(self, shop: Business) -> None:
        bank = Bank(shop, open_account(shop))
        for number, shown in enumerate((0, 4, 10)):
            made = paid_out(shop, -10, external_id=f"shown {number}", processor="square")
            if shown:
                bank.match(bank.line(-shown), PAYOUT, made)
        for number, status in enumerate(
            ("unreconciled", "partially_reconciled", "fully_reconciled")
        ):
            asked = {"reconciliation_status": status, "processor": "square"}
            [found] = shop.api.get(PAYOUTS, params=asked).json()["results"]
            assert (found["external_id"], found["reconciliation_status"]) == (
                f"shown {number}",
                status,
            )
