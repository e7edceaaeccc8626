"""Vendor refunds by which a vendor pays an existing vendor credit in cash."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import CREDITS, vendor_credit_body, vendor_credited
from tests.builders.trade import NOBODY, PURCHASES, Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_credit,
    refund_of,
    whole_refund_body,
)
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
TAXED = [{"amount": 8_333, "tax_amount_cents": 1_667}]


class TestCreateVendorRefund:
    def test_a_vendor_credit_is_refunded_in_cash(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 0, line_items=TAXED)
        items = [of_credit(credit, 3_333, description="In cash")]
        refund = agreed_refund(shop, vendor, 3_333, allocations=items)
        [allocation] = refund["allocations"]
        facts = {
            "allocation_type": "vendor_credit",
            "vendor_credit_id": credit["id"],
            "target_description": f"Vendor credit {credit['vendor_credit_number']}",
            "description": "In cash",
            "bill_id": None,
            "bill_payment_id": None,
        }
        assert {name: allocation[name] for name in facts} == facts
        assert read(shop, REFUNDS, refund) == refund
        assert ledger.postings(refund) == [(AGREED, {"1270": 3_333, "1260": -3_333})]
        assert PURCHASES.credit_amounts(shop, credit) == ("partially_applied", 0, 3_333, 6_667)
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

    @pytest.mark.parametrize("state", ["draft", "void"])
    def test_only_a_received_credit_is_refunded(
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

    def test_only_a_credit_of_this_vendor_is_refunded(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        theirs = vendor_credited(shop, shop.vendor(), 50)
        for credit, code in (
            ({"id": NOBODY}, "reference_not_found"),
            (theirs, "bill_vendor_mismatch"),
        ):
            body = whole_refund_body(vendor, 500, of_credit(credit, 5))
            assert ledger.refused("POST", REFUNDS, json=body) == (422, code)


class TestUpdateVendorRefundPayment:
    def test_a_change_takes_more_or_less_of_the_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        made = agreed(shop, vendor, 500, of_credit(credit, 500))
        assert PURCHASES.credit_amounts(shop, credit) == ("applied", 0, 500, 0)
        changed(shop, made["payment"], allocations=[of_credit(credit, 200)])
        assert PURCHASES.credit_amounts(shop, credit) == ("partially_applied", 0, 200, 300)
        assert ledger.postings(made["refund"])[1:] == [
            (TODAY, {"1260": 300, "1900": -300, "1270": 0})
        ]
        changed(shop, made["payment"], allocations=[])
        assert PURCHASES.credit_amounts(shop, credit) == ("received", 0, 0, 500)


class TestCancelVendorRefundPayment:
    def test_a_cancelled_payment_restores_the_vendor_credit(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        credit = vendor_credited(shop, vendor, 500)
        made = agreed(shop, vendor, 500, of_credit(credit, 500))
        fault = ledger.refused("POST", f"{CREDITS}{credit['id']}/void/")
        assert fault == (409, "credit_applied")
        cancelled(shop, made["payment"])
        assert PURCHASES.credit_amounts(shop, credit) == ("received", 0, 0, 500)
        first, mirror = ledger.entries(made["refund"])
        assert (mirror.reversal_of, mirror.amounts) == (first.id, {"1270": -500, "1260": 500})

    def test_a_credit_of_a_refund_is_not_withdrawn_while_it_is_refunded(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, as_credit(500))
        credit = {"id": refund_of(shop, made)["allocations"][0]["vendor_credit_id"]}
        out = agreed(shop, vendor, 100, of_credit(credit, 100))
        path = f"{REFUND_PAYMENTS}{made['payment']['id']}/"
        assert ledger.refused("POST", f"{path}delete/") == (409, "credit_applied")
        fault = ledger.refused("PATCH", path, json={"allocations": []})
        assert fault == (409, "credit_applied")
        cancelled(shop, out["payment"])
        cancelled(shop, made["payment"])
        assert read(shop, CREDITS, credit)["status"] == "void"
