"""Vendor refunds by which an existing vendor credit comes in cash."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    CREDITS,
    received,
    share,
    vendor_credit_body,
    vendor_credited,
)
from tests.builders.trade import NOBODY, Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_credit,
    refund_body,
    refund_of,
    whole_refund_body,
)
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
TAXED = [{"amount": 8_333, "tax_amount_cents": 1_667}]


def amounts(shop: Business, credit: Record) -> tuple[str, int, int, int]:
    """What a credit says of itself: its status, and what is applied, refunded and left of it."""
    shown = read(shop, CREDITS, credit)
    names = ("applied_amount", "refunded_amount", "unapplied_amount")
    applied, paid_out, left = (shown[name] for name in names)
    return shown["status"], applied, paid_out, left


class TestCreateVendorRefund:
    def test_a_credit_comes_in_cash(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 0, line_items=TAXED)
        items = [of_credit(credit, 3_333, description="In cash")]
        refund = agreed_refund(shop, vendor, 3_333, allocations=items)
        [allocation] = refund["allocations"]
        number = credit["vendor_credit_number"]
        shown = ("allocation_type", "vendor_credit_id", "target_description", "description")
        assert [allocation[name] for name in shown] == [
            "vendor_credit",
            credit["id"],
            f"Vendor credit {number}",
            "In cash",
        ]
        assert (allocation["bill_id"], allocation["bill_payment_id"]) == (None, None)
        assert read(shop, REFUNDS, refund) == refund
        assert ledger.postings(refund) == [(AGREED, {"1270": 3_333, "1260": -3_333})]
        assert amounts(shop, credit) == ("partially_applied", 0, 3_333, 6_667)
        [payment] = refund["vendor_refund_payments"]
        changed(shop, payment, status="completed", payment_date=AGREED)
        assert ledger.postings(payment) == [(AGREED, {"1100": 3_333, "1270": -3_333})]
        splits = ledger.ask(
            "SELECT l.split FROM journal_line l WHERE l.business_id = %(business)s"
            " AND l.settles_id IN (%(credit)s, %(refund)s)",
            credit=credit["id"],
            refund=refund["id"],
        )
        assert [sorted(part for _, part in split) for (split,) in splits] == [[-2_777, -556]] * 2

    def test_beside_other_allocations(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 500)
        items = [of_credit(credit, 500), as_credit(200)]
        refund = agreed_refund(shop, vendor, 800, allocations=items)
        assert (refund["status"], refund["allocated_amount"]) == ("partially_allocated", 700)
        [payment] = refund["vendor_refund_payments"]
        assert payment["refunded_amount"] == 600
        assert ledger.postings(refund) == [(AGREED, {"1270": 600, "1260": -500, "1900": -100})]

    @pytest.mark.parametrize("state", ["draft", "void"])
    def test_only_a_received_credit(
        self, shop: Business, ledger: Ledger, vendor: Record, state: str
    ) -> None:
        credit = shop.made(CREDITS, vendor_credit_body(vendor))
        if state == "void":
            credit = vendor_credited(shop, vendor, 50)
            shop.api.post(f"{CREDITS}{credit['id']}/void/")
        body = whole_refund_body(vendor, 50, of_credit(credit, 5))
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (409, "credit_not_sent")
        assert answer.json()["detail"] == {"current_state": state}

    def test_at_most_what_is_left_of_it_and_of_this_vendor(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500, share(received(shop, vendor, 200), 200))
        for item, fault in (
            (of_credit(credit, 301), (422, "refund_exceeds_refundable")),
            (of_credit({"id": NOBODY}, 5), (422, "reference_not_found")),
            (
                of_credit(vendor_credited(shop, shop.vendor(), 50), 5),
                (422, "bill_vendor_mismatch"),
            ),
        ):
            body = whole_refund_body(vendor, 500, item)
            assert ledger.refused("POST", REFUNDS, json=body) == fault

    def test_each_type_comes_with_its_own_id(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        bare = {"allocation_type": "vendor_credit", "amount_cents": 5}
        mixed = {**of_credit(credit, 5), "bill_id": NOBODY}
        other = {**of_bill({"id": NOBODY}, 5), "vendor_credit_id": credit["id"]}
        named = {**as_credit(5), "vendor_credit_id": credit["id"]}
        for item in (bare, mixed, other, named):
            with ledger.untouched():
                answer = shop.api.post(REFUNDS, json=whole_refund_body(vendor, 50, item))
            assert answer.status_code == 400, item
            assert list(answer.json()["detail"]["field_errors"]) == [
                "allocations.0.allocation_type"
            ]

    def test_each_credit_once(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        credit = vendor_credited(shop, vendor, 500)
        body = whole_refund_body(vendor, 50, of_credit(credit, 5), of_credit(credit, 6))
        with ledger.untouched():
            answer = shop.api.post(REFUNDS, json=body)
        assert answer.json()["detail"]["field_errors"] == {
            "allocations.1.vendor_credit_id": ["repeats the target of an earlier item"]
        }


class TestCreateVendorRefundPayment:
    def test_a_refund_payment_can_refund_a_vendor_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        made = agreed(shop, vendor, 500, of_credit(credit, 500))
        [allocation] = made["allocations"]
        assert allocation["allocation_type"] == "vendor_credit"
        assert amounts(shop, credit) == ("applied", 0, 500, 0)
        draft = shop.made(CREDITS, vendor_credit_body(vendor))
        body = refund_body(vendor, 50, of_credit(draft, 5))
        assert ledger.refused("POST", REFUND_PAYMENTS, json=body) == (409, "credit_not_sent")


class TestUpdateVendorRefundPayment:
    def test_allocated_anew_it_takes_more_or_less_of_the_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        made = agreed(shop, vendor, 500, of_credit(credit, 500))
        changed(shop, made["payment"], allocations=[of_credit(credit, 200)])
        assert amounts(shop, credit) == ("partially_applied", 0, 200, 300)
        assert ledger.postings(made["refund"])[1:] == [
            (TODAY, {"1260": 300, "1900": -300, "1270": 0})
        ]
        changed(shop, made["payment"], allocations=[])
        assert amounts(shop, credit) == ("received", 0, 0, 500)
        draft = shop.made(CREDITS, vendor_credit_body(vendor))
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        body = {"allocations": [of_credit(draft, 5)]}
        assert ledger.refused("PATCH", path, json=body) == (409, "credit_not_sent")


class TestCancelVendorRefundPayment:
    def test_a_cancelled_payment_restores_the_vendor_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        made = agreed(shop, vendor, 500, of_credit(credit, 500))
        cancelled(shop, made["payment"])
        assert amounts(shop, credit) == ("received", 0, 0, 500)
        first, mirror = ledger.entries(made["refund"])
        assert (mirror.reversal_of, mirror.amounts) == (first.id, {"1270": -500, "1260": 500})

    def test_a_credit_that_it_made_is_not_withdrawn_while_it_is_paid_out(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, as_credit(500))
        credit = {"id": refund_of(shop, made)["allocations"][0]["vendor_credit_id"]}
        out = agreed(shop, vendor, 100, of_credit(credit, 100))
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/delete/"
        assert ledger.refused("POST", path) == (409, "credit_applied")
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        body = {"allocations": []}
        assert ledger.refused("PATCH", path, json=body) == (409, "credit_applied")
        cancelled(shop, out["payment"])
        cancelled(shop, made["payment"])
        assert read(shop, CREDITS, credit)["status"] == "void"


class TestVoidVendorCredit:
    def test_a_refunded_vendor_credit_cannot_be_voided(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        agreed(shop, vendor, 100, of_credit(credit, 100))
        fault = ledger.refused("POST", f"{CREDITS}{credit['id']}/void/")
        assert fault == (409, "credit_applied")
