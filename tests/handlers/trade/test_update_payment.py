"""update_invoice_payment and update_bill_payment: changed fields, and days of postings."""

import pytest

from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade
from tests.clock import today
from tests.handlers.trade.side import Side

TODAY = str(today())
MOVED = "2025-03-15"
TEXTS = {
    SALES: ("note", "payment_reference", "bank_reference", "processor_reference"),
    PURCHASES: ("memo", "payment_reference", "check_number"),
}
"""The texts of a payment."""
OWN: dict[Trade, Record] = {SALES: {"references": {"order": "1"}}, PURCHASES: {}}
"""Further fields that only one side accepts."""
OF_ALLOCATION: dict[Trade, Record] = {SALES: {}, PURCHASES: {"description": "stays"}}
"""Fields of an allocation that only one side accepts."""
UNDONE = {SALES: SALES.not_live, PURCHASES: ("failed",)}
"""Statuses that reverse a completed payment."""


class Update:
    def test_an_update_changes_given_fields_only(self, side: Side) -> None:
        old: Record = dict.fromkeys(TEXTS[side.trade], "old")
        old |= {"transaction_tags": ["old"], **OWN[side.trade]}
        payment = before = side.pay(100, metadata={"m": 1}, **old)
        assert {name: before[name] for name in old} == old
        news = {**dict.fromkeys(TEXTS[side.trade], "new"), "transaction_tags": ["t"]}
        for version, (name, value) in enumerate(news.items(), 2):
            after = side.change(payment, **{name: value})
            older = {"notes": value} if name == "note" else {}
            assert after == {**before, name: value, **older, "updated_at": after["updated_at"]}
            read = side.api.get(side.trade.of_payment(payment))
            assert (read.json(), read.headers["etag"]) == (after, f'"{version}"')
            before = after
        assert len(side.ledger.entries(payment)) == 1

    def test_null_and_an_empty_list_or_object_clear(self, side: Side) -> None:
        given = {**dict.fromkeys((*TEXTS[side.trade], "external_id"), "x"), **OWN[side.trade]}
        given |= {"transaction_tags": ["c"], "metadata": {"d": 1}}
        payment = side.pay(100, **given)
        assert {name: payment[name] for name in given} == given
        empty = {name: None if value == "x" else type(value)() for name, value in given.items()}
        cleared = side.change(payment, **empty)
        assert {name: cleared[name] for name in given} == empty

    def test_nothing_changed_is_no_new_version(self, side: Side) -> None:
        parts = [side.trade.part(side.open(100), 60, **OF_ALLOCATION[side.trade])]
        same = {side.trade.note: "same", "allocations": parts}
        payment = side.pay(100, **same)
        for changes in ({}, {**same, "status": "completed", side.trade.total: 100}):
            with side.ledger.untouched():
                answer = side.api.patch(side.trade.of_payment(payment), json=changes)
            assert answer.json()["payment"] == payment
            assert answer.headers["etag"] == '"1"'

    def test_a_list_of_allocations_replaces_the_list_today(self, side: Side) -> None:
        first, second, third = (side.open(100) for _ in range(3))
        payment = side.pay(250, side.trade.part(first, 100), side.trade.part(second, 50))
        wanted = [
            side.trade.part(second, 50, **OF_ALLOCATION[side.trade]),
            side.trade.part(third, 70),
        ]
        after = side.change(payment, allocations=wanted)
        assert [
            (each["amount_cents"], each["allocation_date"], each.get("description"))
            for each in after["allocations"]
        ] == [(50, PAID, OF_ALLOCATION[side.trade].get("description")), (70, TODAY, None)]
        assert side.ledger.postings(payment)[1:] == [(TODAY, side.trade.posted_payment(0, -30))]
        assert side.status_of(first) == (side.trade.opened, 100)
        assert side.status_of(second) == ("partially_paid", 50)
        assert side.status_of(third) == ("partially_paid", 30)
        assert side.api.get(side.trade.of_payment(payment)).json() == after

    def test_an_empty_list_releases_everything(self, side: Side) -> None:
        document = side.open(100)
        payment = side.pay(100, side.trade.part(document, 100))
        after = side.change(payment, allocations=[])
        assert (after["allocations"], after[side.trade.remaining]) == ([], 100)
        assert side.ledger.postings(payment)[1:] == [(TODAY, side.trade.posted_payment(0, -100))]
        shown = side.read(document)
        assert (shown["status"], shown["paid_at"]) == (side.trade.opened, None)

    def test_money_in_advance_is_applied_later(self, side: Side) -> None:
        payment = side.pay(100)
        document = side.open(80)
        side.change(payment, allocations=[side.trade.part(document, 80)])
        assert side.ledger.postings(payment) == [
            (PAID, side.trade.posted_payment(100)),
            (TODAY, side.trade.posted_payment(0, 80)),
        ]
        assert side.read(document)["paid_at"] == f"{TODAY}T00:00:00Z"

    def test_a_pending_one_is_posted_on_its_own_date_when_it_completes(self, side: Side) -> None:
        document = side.open(100)
        payment = side.pay(100, side.trade.part(document, 100), status="pending")
        assert side.change(payment, status="processing")["allocated_amount_cents"] == 100
        assert side.ledger.entries(payment) == []
        after = side.change(payment, status="completed")
        assert after["allocations"][0]["allocation_date"] == PAID
        assert side.ledger.postings(payment) == [(PAID, side.trade.posted_payment(100, 100))]
        assert side.status_of(document) == ("paid", 0)

    def test_a_payment_that_is_no_longer_live_is_reversed_today_with_its_fee(
        self, side: Side
    ) -> None:
        for status in UNDONE[side.trade]:
            document = side.open(100)
            payment = side.pay(150, side.trade.part(document, 100), processing_fee_cents=5)
            after = side.change(payment, status=status, **{side.trade.note: "account closed"})
            assert (after["status"], after[side.trade.note]) == (status, "account closed")
            assert (after["allocations"], after["allocated_amount_cents"]) == ([], 0)
            assert side.ledger.postings(payment)[2:] == [
                (TODAY, side.trade.posted_payment(-150, -100)),
                (TODAY, {side.trade.fee: -5, "1100": 5}),
            ]
            assert side.status_of(document) == (side.trade.opened, 100)
            # The released allocation is not restored automatically.
            assert side.change(payment, status="pending")["allocations"] == []
            again = side.change(payment, status="completed")
            assert (again["allocations"], again[side.trade.remaining]) == ([], 150)
            amounts = [entry.amounts for entry in side.ledger.entries(payment)]
            assert (
                sum(each.get(side.trade.advance, 0) for each in amounts) == -side.trade.sign * 150
            )

    def test_facts_are_corrected_on_the_payments_date(self, side: Side) -> None:
        payment = side.pay(100, processing_fee_cents=3)
        side.change(payment, **{side.trade.total: 120})
        side.change(payment, payment_method="cash", processing_fee_cents=0)
        side.change(payment, payment_date=MOVED)
        assert side.ledger.postings(payment) == [
            (PAID, side.trade.posted_payment(100)),
            (PAID, {side.trade.fee: 3, "1100": -3}),
            (PAID, side.trade.posted_payment(20)),
            (PAID, side.trade.signed({"1100": -120, "1000": 120})),
            (PAID, {side.trade.fee: -3, "1100": 3}),
            (PAID, side.trade.posted_payment(-120, account="1000")),
            (MOVED, side.trade.posted_payment(120, account="1000")),
        ]

    def test_a_changed_date_is_taken_back_there_and_posted_anew(self, side: Side) -> None:
        document = side.open(100)
        payment = side.pay(100, side.trade.part(document, 100))
        after = side.change(payment, payment_date=MOVED)
        assert after["allocations"][0]["allocation_date"] == MOVED
        assert side.ledger.postings(payment)[1:] == [
            (PAID, side.trade.posted_payment(-100, -100)),
            (MOVED, side.trade.posted_payment(100, 100)),
        ]
        assert side.read(document)["paid_at"] == f"{MOVED}T00:00:00Z"

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(self, side: Side) -> None:
        payment = side.pay(100)
        with side.ledger.locked("2025-03-31"):
            side.change(payment, **{side.trade.total: 130})
            path, inside = side.trade.of_payment(payment), {"payment_date": "2025-03-30"}
            moved = side.ledger.refused("PATCH", path, json=inside)
            later = side.change(payment, payment_date="2025-04-02")
        assert moved == (409, "period_locked")
        assert later["payment_date"] == "2025-04-02"
        assert side.ledger.postings(payment)[1:] == [
            ("2025-04-01", side.trade.posted_payment(30)),
            ("2025-04-01", side.trade.posted_payment(-130)),
            ("2025-04-02", side.trade.posted_payment(130)),
        ]


class TestUpdateInvoicePayment(Update):
    trade = SALES

    def test_an_older_name_of_the_note_still_works(self, side: Side) -> None:
        payment = side.pay(100, note="old")
        assert side.change(payment, notes="newer")["note"] == "newer"
        cleared = side.change(payment, note=None)
        assert (cleared["note"], cleared["notes"]) == (None, None)
        assert side.change(payment, note="wins", notes="loses")["note"] == "wins"

    def test_a_payment_is_applied_while_it_is_completed_and_allocated(self, side: Side) -> None:
        invoice = side.open(100)
        payment = side.pay(150, side.trade.part(invoice, 100), status="pending")
        for changes, applied in (
            ({"status": "completed"}, 100),
            ({"status": "pending"}, 0),
            ({"status": "completed"}, 100),
            ({"allocations": []}, 0),
            ({"allocations": [side.trade.part(invoice, 60)]}, 60),
            ({"status": "failed"}, 0),
            ({"status": "completed"}, 0),
        ):
            after = side.change(payment, **changes)
            shown = after["applied_amount_cents"], after["unapplied_amount_cents"]
            assert shown == (applied, 150 - applied)

    def test_back_to_pending_takes_the_money_back_and_keeps_the_claim(self, side: Side) -> None:
        invoice = side.open(100)
        payment = side.pay(100, side.trade.part(invoice, 100))
        after = side.change(payment, status="pending")
        assert (after["allocated_amount_cents"], after["applied_amount_cents"]) == (100, 0)
        assert side.status_of(invoice) == ("sent", 100)
        assert side.ledger.postings(payment)[1:] == [(TODAY, {"1100": -100, "1200": 100})]

    def test_a_processor_moves_the_money_to_clearing_and_back(self, side: Side) -> None:
        payment = side.pay(100)
        side.change(payment, payment_processor="mollie")
        side.change(payment, payment_processor=None)
        assert side.ledger.postings(payment)[1:] == [
            (PAID, {"1150": 100, "1100": -100}),
            (PAID, {"1150": -100, "1100": 100}),
        ]


class TestUpdateBillPayment(Update):
    trade = PURCHASES

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_money_of_a_vendor_that_is_not_active_is_still_put_right(
        self, side: Side, status: str
    ) -> None:
        side = side.with_new_party()
        payment = side.pay(100, side.trade.part(side.open(100), 100))
        side.api.patch(side.trade.of_party(side.counterparty), json={"status": status})
        after = side.change(payment, allocations=[])
        assert after["unallocated_amount_cents"] == 100
        assert side.change(payment, status="failed")["status"] == "failed"
