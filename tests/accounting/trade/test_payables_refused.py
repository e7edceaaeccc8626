"""What bills and bill payments refuse, and with which codes."""

from dataclasses import replace
from typing import Any

import pytest

from accounting.errors import Malformed
from accounting.trade import drawing_up
from accounting.trade.documents import left
from accounting.trade.parties import Party
from accounting.trade.sides import PAYABLE
from tests.accounting.purchases import INACTIVE, NOT_ACTIVE, Purchases, to_bills
from tests.accounting.trade import (
    ACCOUNTS,
    ACME,
    OTHER,
    account_named,
    day,
    line,
    moment,
    refused,
)


class TestBillRefusals:
    @pytest.mark.parametrize(
        ("party", "body", "code"),
        [
            *((each, {}, "vendor_not_active") for each in NOT_ACTIVE),
            *((each, {"received_at": None}, "vendor_not_active") for each in NOT_ACTIVE),
            (ACME, {"vendor_external_id": "other"}, "reference_mismatch"),
            (ACME, {"currency": "EUR"}, "currency_mismatch"),
            (ACME, {"additional_discount": 601}, "negative_amount"),
            (ACME, {"bill_date": day("7")}, "period_locked"),
            (ACME, {"received_at": moment("7")}, "period_locked"),
        ],
    )
    def test_a_bill(self, party: Party, body: dict[str, Any], code: str) -> None:
        trade = Purchases("9", lock="7")
        assert refused(trade.bill, 600, party=party, **body).code == code

    def test_who_is_not_active_is_told(self) -> None:
        refusal = refused(Purchases().bill, 600, party=INACTIVE)
        assert refusal.detail == {"status": "INACTIVE", "vendor_id": str(ACME.id)}

    def test_a_control_account_is_not_given(self) -> None:
        refusal = refused(Purchases().bill, line(600, account_identifier=account_named("2000")))
        assert refusal.code == "control_account"

    def test_receipt_of_a_draft(self) -> None:
        trade = Purchases("9", lock="7")
        bill = trade.bill(600, received_at=None, bill_date=day("5"))
        assert refused(trade.send, bill).code == "period_locked"
        trade.documents[bill] = replace(trade.documents[bill], party=INACTIVE)
        assert refused(trade.send, bill).code == "vendor_not_active"

    def test_receipt_twice_tells_what_may_follow(self) -> None:
        trade = Purchases("9")
        bill = trade.bill(600)
        refusal = refused(trade.send, bill)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail == {"current_state": "received", "allowed_next_states": ["voided"]}
        trade.void(bill)
        assert refused(trade.void, bill).detail["current_state"] == "voided"

    def test_a_new_date_inside_the_lock(self) -> None:
        trade = Purchases("9")
        bill = trade.bill(600)
        trade.lock = "7"
        assert refused(trade.replace, bill, 500, bill_date=day("7")).code == "period_locked"
        assert refused(trade.void, bill, "7").code == "period_locked"

    def test_what_money_or_credits_touch_stays_as_it_is(self) -> None:
        trade = Purchases("9")
        reserved, paid, credited = (trade.bill(600) for _ in range(3))
        trade.pay(5, (reserved, 5), status="pending")
        trade.pay(5, (paid, 5))
        trade.credit(5, to=[(credited, 5)])
        for bill in (reserved, paid, credited):
            assert refused(trade.replace, bill, 500).code == "bill_has_allocations"
            assert refused(trade.void, bill).code == "bill_has_allocations"

    def test_a_replaced_bill_of_an_inactive_vendor_may_be_corrected(self) -> None:
        trade = Purchases("9")
        bill = trade.bill(600)
        trade.documents[bill] = replace(trade.documents[bill], party=INACTIVE)
        trade.replace(bill, 500)
        assert trade.documents[bill].total_amount == 500
        facts = {"line_items": [line(5)], "received_at": moment("9")}
        refusal = refused(
            drawing_up.redraw,
            PAYABLE,
            trade.documents[bill],
            facts,
            replace(OTHER, status="BLOCKED"),
            ACCOUNTS,
            trade.context(),
        )
        assert refusal.code == "vendor_not_active"


class TestBillPaymentRefusals:
    @pytest.mark.parametrize(
        ("total", "part", "body", "code"),
        [
            (700, 601, {}, "allocation_exceeds_outstanding"),
            (500, 501, {}, "allocation_exceeds_total"),
            (500, 5, {"party": OTHER}, "bill_vendor_mismatch"),
            (500, 5, {"status": "failed"}, "payment_not_live"),
            (500, 5, {"currency": "EUR"}, "currency_mismatch"),
            (500, 5, {"vendor_external_id": "other"}, "reference_mismatch"),
            (500, 5, {"payment_date": day("7")}, "period_locked"),
            *((500, 5, {"party": each}, "vendor_not_active") for each in NOT_ACTIVE),
        ],
    )
    def test_on_create(self, total: int, part: int, body: dict[str, Any], code: str) -> None:
        trade = Purchases("9", lock="7")
        assert refused(trade.pay, total, (trade.bill(600), part), **body).code == code

    def test_one_bill_twice_a_draft_and_one_that_nobody_knows(self) -> None:
        trade = Purchases("9")
        bill, draft = trade.bill(600), trade.bill(600, received_at=None)
        twice = refused(trade.pay, 500, (bill, 1), (bill, 2))
        assert isinstance(twice, Malformed)
        assert twice.detail["field_errors"] == {
            "allocations.1.bill_id": ["repeats the bill of an earlier item"]
        }
        refusal = refused(trade.pay, 5, (draft, 5))
        assert refusal.code == "bill_not_open"
        assert refusal.detail == {"bill_id": str(draft), "current_state": "draft"}
        assert refused(trade.pay, 5, (ACME.id, 5)).code == "reference_not_found"

    @pytest.mark.parametrize(
        ("changes", "code"),
        [
            ({"amount_cents": 399}, "total_below_allocated"),
            ({"vendor_id": OTHER.id}, "immutable_field"),
            ({"currency": "EUR"}, "immutable_field"),
            ({"payment_date": day("7")}, "period_locked"),
            ({"status": "cancelled"}, "invalid_state_transition"),
            ({"status": "failed", "allocations": to_bills((ACME.id, 5))}, "payment_not_live"),
        ],
    )
    def test_on_change(self, changes: dict[str, Any], code: str) -> None:
        trade = Purchases("9", lock="7")
        payment = trade.pay(500, (trade.bill(400), 400))
        assert refused(trade.change, payment, **changes).code == code

    @pytest.mark.parametrize(
        ("before", "allowed"),
        [("processing", ["completed", "failed"]), ("completed", ["failed"]), ("cancelled", [])],
    )
    def test_only_pending_or_failed_is_cancelled(self, before: str, allowed: list[str]) -> None:
        trade = Purchases("5")
        payment = trade.pay(500, status=before)
        refusal = refused(trade.cancel, payment)
        assert refusal.code == "invalid_state_transition"
        assert refusal.detail == {"current_state": before, "allowed_next_states": allowed}

    @pytest.mark.parametrize("before", ["pending", "failed"])
    def test_cancelled_it_reserves_nothing(self, before: str) -> None:
        trade = Purchases("5")
        bill = trade.bill(600)
        parts = [(bill, 500)] if before == "pending" else []
        payment = trade.pay(500, *parts, status=before)
        trade.cancel(payment)
        assert trade.payments[payment].status == "cancelled"
        assert left(trade.documents[bill]) == 600
