"""The type of the event of each change: the most telling word."""

from dataclasses import fields, replace
from datetime import date
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from accounting.events.changes import PaymentsOf, change_of, word_of_status
from accounting.trade.refunds import RefundAllocation
from tests.accounting.events.records import KINDS, made, statuses_of, words_of_contract
from tests.accounting.samples import BORN, context_of

NOW = context_of("07-10")
DAY = date(2026, 6, 30)
OPEN = {"state": "open", "total_amount": 100}
LATE = {**OPEN, "due_at": BORN}
# A record before a change, what the change sets, and the type of its event.
EXAMPLES: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    ("account", {}, {"name": "Cash"}, "updated"),
    ("account", {}, {"archived_at": BORN}, "archived"),
    ("account", {"archived_at": BORN}, {"archived_at": None}, "unarchived"),
    ("bank_account", {}, {"mask": "1234"}, "updated"),
    ("bank_reconciliation", {"status": "open"}, {"closing_balance": 100}, "updated"),
    ("bank_reconciliation", {"status": "open"}, {"status": "closed"}, "closed"),
    ("bank_reconciliation", {"status": "closed"}, {"status": "open"}, "reopened"),
    ("bank_rule", {}, {"priority": 2}, "updated"),
    ("bank_rule", {}, {"deleted_at": BORN}, "deleted"),
    ("bank_transaction", {"amount": 100}, {"linked": 100}, "matched"),
    ("bank_transaction", {"amount": 100, "linked": 60}, {"linked": 100}, "matched"),
    ("bank_transaction", {"amount": 100, "linked": 100}, {"linked": 40}, "unmatched"),
    ("bank_transaction", {"amount": 100}, {"categorized": 100}, "categorized"),
    ("bank_transaction", {"amount": 100, "categorized": 9}, {"categorized": 0}, "uncategorized"),
    ("bank_transaction", {"after_closing": True}, {"after_closing": False}, "updated"),
    ("bank_transfer", {}, {"in_transaction_id": UUID(int=7)}, "updated"),
    ("bank_transfer", {}, {"ended_at": BORN}, "deleted"),
    *(
        example
        for kind, sent in (("invoice", "sent"), ("bill", "received"))
        for example in (
            (kind, {"state": "draft"}, {"memo": "Thanks"}, "updated"),
            (kind, {**OPEN, "state": "draft"}, {"state": "open"}, sent),
            # A draft that is opened after its due day, or of nothing, is sent all the same.
            (kind, {**LATE, "state": "draft"}, {"state": "open"}, sent),
            (kind, {"state": "draft"}, {"state": "open"}, sent),
            (kind, OPEN, {"paid": 40}, "partially_paid"),
            (kind, {**OPEN, "paid": 40}, {"paid": 70}, "updated"),
            (kind, {**OPEN, "paid": 40}, {"paid": 0}, "updated"),
            (kind, {**OPEN, "paid": 40}, {"paid": 100}, "paid"),
            (kind, LATE, {"paid": 100}, "paid"),
            (kind, OPEN, {"reserved": 100}, "updated"),
            (kind, OPEN, {"written_off": 40}, "partially_written_off"),
            (kind, OPEN, {"written_off": 100}, "written_off"),
            (kind, {**OPEN, "paid": 100}, {"refunded": 100}, "refunded"),
            (kind, {**OPEN, "paid": 100}, {"paid": 0}, "reopened"),
            (kind, {**LATE, "paid": 100}, {"paid": 40}, "reopened"),
            (kind, {**OPEN, "written_off": 100}, {"written_off": 0}, "reopened"),
            (kind, {**OPEN, "paid": 100, "refunded": 100}, {"paid": 0}, "reopened"),
            (kind, OPEN, {"state": "void"}, "voided"),
        )
    ),
    *(
        example
        for kind in ("invoice_payment", "bill_payment", "vendor_refund_payment")
        for example in (
            (kind, {"status": "pending"}, {"memo" if "refund" in kind else "note": "x"}, "updated"),
            (kind, {"status": "failed"}, {"status": "pending"}, "pending"),
            (kind, {"status": "pending"}, {"status": "processing"}, "processing"),
            (kind, {"status": "processing"}, {"status": "completed"}, "completed"),
            (kind, {"status": "completed"}, {"status": "failed"}, "failed"),
            (kind, {"status": "pending"}, {"status": "cancelled"}, "cancelled"),
            (kind, {"status": "completed"}, {"linked": 100}, "updated"),
        )
    ),
    ("invoice_payment", {"status": "completed"}, {"status": "refunded"}, "refunded"),
    ("business", {}, {"name": "Tide"}, "updated"),
    ("business", {}, {"archived_at": BORN}, "archived"),
    ("business", {"archived_at": BORN}, {"archived_at": None}, "unarchived"),
    ("business", {}, {"lock_date": DAY}, "period_locked"),
    ("business", {"lock_date": DAY}, {"lock_date": date(2026, 7, 31)}, "period_locked"),
    ("business", {"lock_date": DAY}, {"lock_date": date(2026, 5, 31)}, "period_unlocked"),
    ("business", {"lock_date": DAY}, {"lock_date": None}, "period_unlocked"),
    *(
        example
        for kind in ("customer", "vendor")
        for example in (
            (kind, {}, {"company_name": "Mill"}, "updated"),
            (kind, {}, {"archived_at": BORN}, "archived"),
            (kind, {"archived_at": BORN}, {"archived_at": None}, "unarchived"),
        )
    ),
    ("vendor", {}, {"standing": "BLOCKED"}, "updated"),
    *(
        example
        for kind, sent in (("customer_credit", "sent"), ("vendor_credit", "received"))
        for example in (
            (kind, {"state": "draft"}, {"memo": "Sorry"}, "updated"),
            (kind, {**OPEN, "state": "draft"}, {"state": "open"}, sent),
            (kind, OPEN, {"refunded": 40}, "partially_applied"),
            (kind, {**OPEN, "refunded": 40}, {"refunded": 100}, "applied"),
            (kind, {**OPEN, "refunded": 100}, {"refunded": 0}, "updated"),
            (kind, OPEN, {"state": "void"}, "voided"),
        )
    ),
    ("invoice_refund", {"amount": 100}, {"memo": "Sorry"}, "updated"),
    ("invoice_refund", {"amount": 100}, {"paid": 40}, "processing"),
    ("invoice_refund", {"amount": 100}, {"paid": 100}, "paid"),
    ("invoice_refund", {"amount": 100}, {"cancelled_at": BORN}, "cancelled"),
    ("invoice_refund", {"amount": 100, "paid": 100}, {"paid": 0}, "updated"),
    ("invoice_refund_payment", {"status": "completed"}, {"linked": 100}, "updated"),
    ("invoice_refund_payment", {"status": "completed"}, {"status": "cancelled"}, "cancelled"),
    ("journal_entry", {"status": "draft"}, {"description": "Rent"}, "updated"),
    ("journal_entry", {"status": "draft"}, {"status": "rejected"}, "rejected"),
    ("opening_balance", {}, {"reversed_at": BORN}, "reversed"),
    ("revaluation", {}, {"reversed_at": BORN}, "reversed"),
    ("payout", {"status": "pending"}, {"memo": "July"}, "updated"),
    ("payout", {"status": "failed"}, {"status": "pending"}, "pending"),
    ("payout", {"status": "pending"}, {"status": "processing"}, "processing"),
    ("payout", {"status": "pending"}, {"status": "paid"}, "paid"),
    ("payout", {"status": "paid"}, {"status": "failed"}, "failed"),
    ("payout", {"status": "pending"}, {"status": "cancelled"}, "cancelled"),
    ("payout", {"paid_out": 100}, {"linked": 40}, "updated"),
    ("payout", {"paid_out": 100, "linked": 40}, {"linked": 100}, "reconciled"),
    ("payout", {"paid_out": 100, "linked": 100}, {"linked": 0}, "updated"),
    ("payout", {}, {"deleted_at": BORN}, "deleted"),
    ("tax_code", {}, {"name": "Reduced"}, "updated"),
    ("tax_code", {}, {"archived_at": BORN}, "archived"),
    ("tax_code", {"archived_at": BORN}, {"archived_at": None}, "unarchived"),
    ("tax_return", {"status": "draft"}, {"reference": "Q2"}, "updated"),
    ("tax_return", {"status": "draft"}, {"status": "filed"}, "filed"),
    ("tax_return", {"status": "filed"}, {"status": "superseded"}, "superseded"),
    ("vendor_refund", {"amount": 100}, {"memo": "Bags"}, "updated"),
    ("vendor_refund", {"amount": 100}, {"cancelled_at": BORN}, "cancelled"),
    *(
        example
        for kind in ("write_off", "bill_write_off")
        for example in (
            # A line of the document moves to another account.
            (kind, {"amount": 100}, {"lines": ((UUID(int=8), (100,)),)}, "updated"),
            (kind, {}, {"reversed_at": BORN}, "reversed"),
        )
    ),
]
# Records that are deleted, not only ended.
DELETED = ("invoice", "bill", "tax_return", "bank_transaction", "bank_reconciliation")
# Types that other rules make, with their tests.
ELSEWHERE = {
    # tests/handlers/platform/test_event_types.py
    *("bank_transactions.imported", "journal_entry.posted", "journal_entry.reversed"),
    # TestVendorRefund
    *("vendor_refund.partially_allocated", "vendor_refund.allocated", "vendor_refund.completed"),
    # The day makes them: upkeep.
    *("invoice.overdue", "bill.overdue"),
}


def type_of(kind: str, before: dict[str, Any], changes: dict[str, Any]) -> str:
    """Return the type of the event of a record that changes."""
    record = made(kind, **before)
    return change_of(kind, record, replace(record, **changes), NOW).type


class TestChangeOf:
    @pytest.mark.parametrize(("kind", "before", "changes", "word"), EXAMPLES)
    def test_the_most_telling_word(
        self, kind: str, before: dict[str, Any], changes: dict[str, Any], word: str
    ) -> None:
        assert type_of(kind, before, changes) == f"{kind}.{word}"

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_new_record_is_created_whatever_its_status(self, kind: str) -> None:
        status = statuses_of(kind)[-1:]
        settable = any(each.name == "status" for each in fields(KINDS[kind]))
        record = made(kind, **({"status": status[0]} if status and settable else {}))
        change = change_of(kind, None, record, NOW)
        assert (change.type, change.kind) == (f"{kind}.created", "created")
        assert (change.previous_status, change.fields) == (None, None)

    @pytest.mark.parametrize("kind", DELETED)
    def test_a_deleted_record_keeps_the_status_that_it_had(self, kind: str) -> None:
        record = made(kind, **({"state": "draft"} if kind in ("invoice", "bill") else {}))
        change = change_of(kind, record, None, NOW)
        assert (change.type, change.kind, change.status) == (f"{kind}.deleted", "deleted", None)
        if kind in ("invoice", "bill"):
            assert change.previous_status == "draft"

    def test_an_ended_record_is_deleted(self) -> None:
        record = made("bank_rule")
        change = change_of("bank_rule", record, replace(record, deleted_at=BORN), NOW)
        assert (change.kind, change.status, change.fields) == ("deleted", None, None)

    def test_a_payment_of_60_pays_an_invoice_with_40_of_100_paid(self) -> None:
        record = made("invoice", **OPEN, paid=40, currency="GBP")
        change = change_of("invoice", record, replace(record, paid=100), NOW)
        assert (change.previous_status, change.status) == ("partially_paid", "paid")
        assert change.fields == (
            *("base_outstanding_cents", "outstanding_balance", "payment_allocations", "status"),
        )

    def test_a_saved_record_has_an_event_even_if_its_answer_is_the_same(self) -> None:
        record = made("vendor_refund", amount=100)
        later = replace(record, updated_at=NOW.now)
        assert change_of("vendor_refund", record, later, NOW).fields == ()


class TestVendorRefund:
    """A vendor refund of 100, all of it allocated: its status depends on its payments."""

    allocation = RefundAllocation(
        id=UUID(int=3), kind="payment", target_id=UUID(int=4), target_number=None, amount=100,
        split=(),
    )  # fmt: skip
    refund = made("vendor_refund", amount=100, allocations=(allocation,))

    def change(self, before: str, after: str) -> tuple[str, str | None, str | None]:
        """Return the type and the statuses after one of two payments moved on."""
        other = made("vendor_refund_payment", status="completed")
        one, two = (made("vendor_refund_payment", status=each) for each in (before, after))
        paying = PaymentsOf((other, one), (other, two))
        found = change_of("vendor_refund", self.refund, replace(self.refund), NOW, paying)
        return found.type, found.previous_status, found.status

    def test_it_is_completed_with_its_last_payment(self) -> None:
        told = self.change("pending", "completed")
        assert told == ("vendor_refund.completed", "allocated", "completed")
        assert self.change("pending", "processing") == (
            *("vendor_refund.updated", "allocated", "allocated"),
        )

    def test_it_is_allocated_again_when_a_payment_fails(self) -> None:
        told = self.change("completed", "failed")
        assert told == ("vendor_refund.allocated", "completed", "allocated")

    def test_40_of_100_allocated_are_a_part(self) -> None:
        none = replace(self.refund, allocations=())
        part = replace(self.refund, allocations=(replace(self.allocation, amount=40),))
        open_ = PaymentsOf(*[(made("vendor_refund_payment", status="pending"),)] * 2)
        told = change_of("vendor_refund", none, part, NOW, open_)
        assert told.type == "vendor_refund.partially_allocated"
        assert change_of("vendor_refund", part, self.refund, NOW, open_).type == (
            "vendor_refund.allocated"
        )


class TestVocabulary:
    def test_each_type_of_the_contract_comes_about_and_no_other(self) -> None:
        created = {f"{kind}.created" for kind in KINDS if kind != "bank_transaction"}
        changed = {f"{kind}.{word}" for kind, _, _, word in EXAMPLES}
        deleted = {f"{kind}.deleted" for kind in DELETED}
        assert created | changed | deleted | ELSEWHERE == words_of_contract()

    @pytest.mark.parametrize("kind", KINDS)
    def test_each_move_between_two_statuses_has_a_type(self, kind: str) -> None:
        moves = product(statuses_of(kind), repeat=2)
        words = {word_of_status(kind, was, now) for was, now in moves} - {"updated"}
        assert {f"{kind}.{word}" for word in words} <= words_of_contract()
