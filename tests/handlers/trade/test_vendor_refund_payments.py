"""update_vendor_refund_payment: pending, completed and returned money, and its postings."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import Record
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    agreed_in_parts,
    as_credit,
    changed,
    of_bill,
    refund_of,
    taxed,
    whole_refund_body,
)
from tests.clock import today
from tests.partner import Business

COME = "2025-03-28"


def completed(shop: Business, made: Record, **facts: Any) -> Record:
    given = {"status": "completed", "payment_date": COME, **facts}
    return changed(shop, made["payment"], **given)


class TestUpdateVendorRefundPayment:
    def test_a_completed_payment_is_posted_with_its_fee_in_one_entry(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 5_000, of_bill(taxed(shop, vendor), 5_000))
        after = completed(shop, made, processing_fee_cents=100)
        [entry] = ledger.entries(after["payment"])
        assert (entry.on, entry.source_type) == (COME, "vendor_refund_payment")
        assert entry.amounts == {"1100": 4_900, "6300": 100, "1270": -5_000}
        assert entry.description == "Refund payment from Raw Coffee Traders"
        assert (after["payment"]["status"], after["payment"]["net_amount"]) == ("completed", 4_900)
        assert after["refund"]["status"] == refund_of(shop, made)["status"] == "completed"
        assert after["payment"]["completed_at"] == after["payment"]["updated_at"]

    def test_without_a_date_it_is_dated_by_the_day_on_which_it_completes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, payment_method="cash")
        after = changed(shop, made["payment"], status="completed")
        assert after["payment"]["payment_date"] == today().isoformat()
        posted = [(today().isoformat(), {"1000": 500, "1270": -500})]
        assert ledger.postings(after["payment"]) == posted
        assert after["refund"]["status"] == "pending"

    @pytest.mark.parametrize("method", ["ach", "wire", "check", "credit_card", "other"])
    def test_a_method_other_than_cash_posts_to_the_bank(
        self, shop: Business, ledger: Ledger, vendor: Record, method: str
    ) -> None:
        made = agreed(shop, vendor, 500, payment_method=method, processor="stripe")
        after = completed(shop, made)
        assert ledger.postings(after["payment"]) == [(COME, {"1100": 500, "1270": -500})]

    def test_a_payment_that_is_processing_posts_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        after = changed(shop, made["payment"], status="processing")
        assert after["payment"]["submitted_at"] == after["payment"]["updated_at"]
        assert (after["refund"]["status"], ledger.entries(made["payment"])) == ("pending", [])

    def test_a_failed_payment_reverses_its_money_and_keeps_the_claim(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, of_bill(taxed(shop, vendor), 500))
        posted = ledger.postings(made["refund"])
        completed(shop, made, processing_fee_cents=5)
        after = changed(shop, made["payment"], status="failed", failure_reason="no such account")
        payment, on = after["payment"], today().isoformat()
        assert payment["failed_at"] == payment["updated_at"]
        assert (payment["completed_at"], payment["failure_reason"]) == (None, "no such account")
        come = {"1100": 495, "6300": 5, "1270": -500}
        gone = {code: -amount for code, amount in come.items()}
        assert ledger.postings(payment) == [(COME, come), (on, gone)]
        assert (ledger.postings(made["refund"]), after["refund"]["status"]) == (posted, "allocated")
        again = changed(shop, payment, status="completed")["refund"]
        assert ledger.postings(payment)[2:] == [(on, come)]
        assert again["status"] == "completed"

    def test_a_corrected_date_method_or_fee_is_dated_as_the_money_is(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)
        payment = completed(shop, made)["payment"]
        changed(shop, payment, payment_date="2025-03-30", payment_method="cash")
        assert ledger.postings(payment) == [
            (COME, {"1100": 500, "1270": -500}),
            (COME, {"1100": -500, "1270": 500}),
            ("2025-03-30", {"1000": 500, "1270": -500}),
        ]
        changed(shop, payment, processing_fee_cents=9)
        assert ledger.postings(payment)[3:] == [("2025-03-30", {"1000": -9, "6300": 9})]

    def test_descriptions_can_change_and_null_clears_them(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, memo="old", payment_reference="old")
        facts = {
            "payment_reference": "new",
            "processor_payment_id": "po_1",
            "processor": "stripe",
            "description": "told",
            "transaction_tags": ["a"],
            "metadata": {"x": 1},
            "memo": None,
        }
        after = changed(shop, made["payment"], **facts)["payment"]
        assert {name: after[name] for name in facts} == facts
        assert ledger.entries(after) == []

    def test_an_update_without_changes_keeps_the_etag(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, as_credit(200), memo="old")
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        with ledger.untouched():
            same = {"status": "pending", "memo": "old", "allocations": [as_credit(200)]}
            answer = shop.api.patch(path, json=same)
            assert (answer.json(), answer.headers["etag"]) == (made, '"1"')


MOVES: dict[str, set[str]] = {
    "pending": {"processing", "completed", "failed", "cancelled"},
    "processing": {"completed", "failed"},
    "completed": {"failed"},
    "failed": {"pending", "completed", "cancelled"},
    "cancelled": set(),
}


class TestMovesOfAVendorRefundPayment:
    @pytest.mark.parametrize("before", MOVES)
    @pytest.mark.parametrize("after", MOVES)
    def test_each_move_is_made_or_refused_as_the_table_says(
        self, shop: Business, ledger: Ledger, vendor: Record, before: str, after: str
    ) -> None:
        made = agreed(shop, vendor, 100)
        if before != "pending":
            changed(shop, made["payment"], status=before)
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        if after in MOVES[before]:
            assert changed(shop, made["payment"], status=after)["payment"]["status"] == after
            return
        with ledger.untouched():
            answer = shop.api.patch(path, json={"status": after})
        if after == before:
            assert answer.json()["payment"]["status"] == after
        else:
            detail = answer.json()["detail"]
            assert (answer.status_code, detail["current_state"]) == (409, before)
            assert set(detail["allowed_next_states"]) == MOVES[before]


class TestSeveralPayments:
    def test_several_payments_add_up_to_the_money_of_the_refund(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        refund = agreed_in_parts(shop, vendor, 900, 500, 300, allocations=[as_credit(100)])
        shown = [each["refunded_amount"] for each in refund["vendor_refund_payments"]]
        assert (shown, refund["status"]) == ([500, 300], "partially_allocated")
        for amounts in ((500, 301), (500, 299), (900,)):
            payments = [{"amount_cents": amount} for amount in amounts]
            body = whole_refund_body(vendor, 900, as_credit(100), payments=payments)
            refusal = ledger.refused("POST", REFUNDS, json=body)
            assert refusal == (422, "allocation_exceeds_total")

    def test_a_claim_of_a_cancelled_payment_stays_until_the_refund_is_agreed_anew(
        self, shop: Business, vendor: Record
    ) -> None:
        bill = taxed(shop, vendor)
        owed = shop.balance("1270")
        refund = agreed_in_parts(shop, vendor, 900, 500, 400, allocations=[of_bill(bill, 900)])
        first, second = refund["vendor_refund_payments"]
        changed(shop, first, status="cancelled")
        assert shop.balance("1270") == owed + 900
        changed(shop, second, status="cancelled")
        assert shop.balance("1270") == owed
        again = agreed_in_parts(shop, vendor, 900, 900, allocations=[of_bill(bill, 900)])
        [payment] = again["vendor_refund_payments"]
        assert changed(shop, payment, status="completed")["refund"]["status"] == "completed"
        assert shop.balance("1270") == owed
