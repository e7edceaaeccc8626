"""update_invoice_payment and update_bill_payment: what changes, and when it is posted."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.trade import PAID, PURCHASES, SALES, Record, Trade
from tests.clock import today
from tests.partner import Business

TODAY = str(today())
MOVED = "2025-03-15"
TEXTS = {
    SALES: ("note", "payment_reference", "bank_reference", "processor_reference"),
    PURCHASES: ("memo", "payment_reference", "check_number"),
}
"""What describes a payment."""
OWN: dict[Trade, Record] = {SALES: {"references": {"order": "1"}}, PURCHASES: {}}
"""What else one side alone takes."""
TOLD: dict[Trade, Record] = {SALES: {}, PURCHASES: {"description": "stays"}}
"""What one side alone says of a part."""
UNDONE = {SALES: SALES.not_live, PURCHASES: ("failed",)}
"""What a completed payment can become, so that its money goes back."""


class Updating:
    def test_an_update_changes_given_fields_only(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        old = {**dict.fromkeys(TEXTS[trade], "old"), "transaction_tags": ["old"], **OWN[trade]}
        payment = before = trade.pay(shop, party, 100, metadata={"m": 1}, **old)
        assert {name: before[name] for name in old} == old
        news = {**dict.fromkeys(TEXTS[trade], "new"), "transaction_tags": ["t"]}
        for version, (name, value) in enumerate(news.items(), 2):
            after = trade.change(shop, payment, **{name: value})
            older = {"notes": value} if name == "note" else {}
            assert after == {**before, name: value, **older, "updated_at": after["updated_at"]}
            read = shop.api.get(trade.of_payment(payment))
            assert (read.json(), read.headers["etag"]) == (after, f'"{version}"')
            before = after
        assert len(ledger.entries(payment)) == 1

    def test_null_and_an_empty_list_or_object_clear(
        self, shop: Business, trade: Trade, party: Record
    ) -> None:
        given = {**dict.fromkeys((*TEXTS[trade], "external_id"), "x"), **OWN[trade]}
        given |= {"transaction_tags": ["c"], "metadata": {"d": 1}}
        payment = trade.pay(shop, party, 100, **given)
        assert {name: payment[name] for name in given} == given
        empty = {name: None if value == "x" else type(value)() for name, value in given.items()}
        cleared = trade.change(shop, payment, **empty)
        assert {name: cleared[name] for name in given} == empty

    def test_nothing_changed_is_no_new_version(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        parts = [trade.part(trade.open(shop, party, 100), 60, **TOLD[trade])]
        said = {trade.note: "same", "allocations": parts}
        payment = trade.pay(shop, party, 100, **said)
        for changes in ({}, {**said, "status": "completed", trade.total: 100}):
            with ledger.untouched():
                answer = shop.api.patch(trade.of_payment(payment), json=changes)
            assert answer.json()["payment"] == payment
            assert answer.headers["etag"] == '"1"'

    def test_a_list_of_allocations_replaces_the_list_today(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        first, second, third = (trade.open(shop, party, 100) for _ in range(3))
        payment = trade.pay(shop, party, 250, trade.part(first, 100), trade.part(second, 50))
        wanted = [trade.part(second, 50, **TOLD[trade]), trade.part(third, 70)]
        after = trade.change(shop, payment, allocations=wanted)
        assert [
            (each["amount_cents"], each["allocation_date"], each.get("description"))
            for each in after["allocations"]
        ] == [(50, PAID, TOLD[trade].get("description")), (70, TODAY, None)]
        assert ledger.postings(payment)[1:] == [(TODAY, trade.posted_payment(0, -30))]
        assert trade.status_of(shop, first) == (trade.opened, 100)
        assert trade.status_of(shop, second) == ("partially_paid", 50)
        assert trade.status_of(shop, third) == ("partially_paid", 30)
        assert shop.api.get(trade.of_payment(payment)).json() == after

    def test_an_empty_list_releases_everything(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        payment = trade.pay(shop, party, 100, trade.part(document, 100))
        after = trade.change(shop, payment, allocations=[])
        assert (after["allocations"], after[trade.remaining]) == ([], 100)
        assert ledger.postings(payment)[1:] == [(TODAY, trade.posted_payment(0, -100))]
        shown = trade.read(shop, document)
        assert (shown["status"], shown["paid_at"]) == (trade.opened, None)

    def test_money_in_advance_is_applied_later(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        payment = trade.pay(shop, party, 100)
        document = trade.open(shop, party, 80)
        trade.change(shop, payment, allocations=[trade.part(document, 80)])
        assert ledger.postings(payment) == [
            (PAID, trade.posted_payment(100)),
            (TODAY, trade.posted_payment(0, 80)),
        ]
        assert trade.read(shop, document)["paid_at"] == f"{TODAY}T00:00:00Z"

    def test_a_pending_one_is_posted_on_its_own_date_when_it_completes(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        payment = trade.pay(shop, party, 100, trade.part(document, 100), status="pending")
        assert trade.change(shop, payment, status="processing")["allocated_amount_cents"] == 100
        assert ledger.entries(payment) == []
        after = trade.change(shop, payment, status="completed")
        assert after["allocations"][0]["allocation_date"] == PAID
        assert ledger.postings(payment) == [(PAID, trade.posted_payment(100, 100))]
        assert trade.status_of(shop, document) == ("paid", 0)

    def test_a_payment_that_is_no_longer_live_is_reversed_today_with_its_fee(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        for status in UNDONE[trade]:
            document = trade.open(shop, party, 100)
            parts = trade.part(document, 100)
            payment = trade.pay(shop, party, 150, parts, processing_fee_cents=5)
            after = trade.change(shop, payment, status=status, **{trade.note: "account closed"})
            assert (after["status"], after[trade.note]) == (status, "account closed")
            assert (after["allocations"], after["allocated_amount_cents"]) == ([], 0)
            assert ledger.postings(payment)[2:] == [
                (TODAY, trade.posted_payment(-150, -100)),
                (TODAY, {trade.fee: -5, "1100": 5}),
            ]
            assert trade.status_of(shop, document) == (trade.opened, 100)
            # What was released does not come back by itself.
            assert trade.change(shop, payment, status="pending")["allocations"] == []
            again = trade.change(shop, payment, status="completed")
            assert (again["allocations"], again[trade.remaining]) == ([], 150)
            advance = sum(entry.amounts.get(trade.advance, 0) for entry in ledger.entries(payment))
            assert advance == -trade.sign * 150

    def test_facts_are_corrected_on_the_payments_date(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        payment = trade.pay(shop, party, 100, processing_fee_cents=3)
        trade.change(shop, payment, **{trade.total: 120})
        trade.change(shop, payment, payment_method="cash", processing_fee_cents=0)
        trade.change(shop, payment, payment_date=MOVED)
        assert ledger.postings(payment) == [
            (PAID, trade.posted_payment(100)),
            (PAID, {trade.fee: 3, "1100": -3}),
            (PAID, trade.posted_payment(20)),
            (PAID, trade.signed({"1100": -120, "1000": 120})),
            (PAID, {trade.fee: -3, "1100": 3}),
            (PAID, trade.posted_payment(-120, account="1000")),
            (MOVED, trade.posted_payment(120, account="1000")),
        ]

    def test_a_changed_date_is_taken_back_there_and_posted_anew(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        document = trade.open(shop, party, 100)
        payment = trade.pay(shop, party, 100, trade.part(document, 100))
        after = trade.change(shop, payment, payment_date=MOVED)
        assert after["allocations"][0]["allocation_date"] == MOVED
        assert ledger.postings(payment)[1:] == [
            (PAID, trade.posted_payment(-100, -100)),
            (MOVED, trade.posted_payment(100, 100)),
        ]
        assert trade.read(shop, document)["paid_at"] == f"{MOVED}T00:00:00Z"

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        payment = trade.pay(shop, party, 100)
        with ledger.locked("2025-03-31"):
            trade.change(shop, payment, **{trade.total: 130})
            moved = ledger.refused(
                "PATCH", trade.of_payment(payment), json={"payment_date": "2025-03-30"}
            )
            later = trade.change(shop, payment, payment_date="2025-04-02")
        assert moved == (409, "period_locked")
        assert later["payment_date"] == "2025-04-02"
        assert ledger.postings(payment)[1:] == [
            ("2025-04-01", trade.posted_payment(30)),
            ("2025-04-01", trade.posted_payment(-130)),
            ("2025-04-02", trade.posted_payment(130)),
        ]

    def test_a_pending_one_does_not_complete_into_a_locked_period(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        path = trade.of_payment(trade.pay(shop, party, 100, status="pending"))
        with ledger.locked("2025-03-31"):
            fault = ledger.refused("PATCH", path, json={"status": "completed"})
        assert fault == (409, "period_locked")

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        path = f"{trade.of_payment(trade.pay(shop, party, 100))}?preview=true"
        with ledger.untouched():
            seen = shop.api.patch(path, json={"status": "failed"}).json()
        assert seen["payment"]["status"] == "failed"
        [entry] = seen["journal_entries"]
        assert (entry["entry_date"], entry["sequence_number"]) == (TODAY, None)


class TestUpdateInvoicePayment(Updating):
    trade = SALES

    def test_an_older_name_of_the_note_still_works(self, shop: Business, buyer: Record) -> None:
        payment = SALES.pay(shop, buyer, 100, note="old")
        assert SALES.change(shop, payment, notes="newer")["note"] == "newer"
        cleared = SALES.change(shop, payment, note=None)
        assert (cleared["note"], cleared["notes"]) == (None, None)
        assert SALES.change(shop, payment, note="wins", notes="loses")["note"] == "wins"

    def test_a_payment_is_applied_while_it_is_completed_and_allocated(
        self, shop: Business, buyer: Record
    ) -> None:
        invoice = SALES.open(shop, buyer, 100)
        payment = SALES.pay(shop, buyer, 150, SALES.part(invoice, 100), status="pending")
        for changes, applied in (
            ({"status": "completed"}, 100),
            ({"status": "pending"}, 0),
            ({"status": "completed"}, 100),
            ({"allocations": []}, 0),
            ({"allocations": [SALES.part(invoice, 60)]}, 60),
            ({"status": "failed"}, 0),
            ({"status": "completed"}, 0),
        ):
            after = SALES.change(shop, payment, **changes)
            shown = after["applied_amount_cents"], after["unapplied_amount_cents"]
            assert shown == (applied, 150 - applied)

    def test_back_to_pending_takes_the_money_back_and_keeps_the_claim(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = SALES.open(shop, buyer, 100)
        payment = SALES.pay(shop, buyer, 100, SALES.part(invoice, 100))
        after = SALES.change(shop, payment, status="pending")
        assert (after["allocated_amount_cents"], after["applied_amount_cents"]) == (100, 0)
        assert SALES.status_of(shop, invoice) == ("sent", 100)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1100": -100, "1200": 100})]

    def test_a_processor_moves_the_money_to_clearing_and_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = SALES.pay(shop, buyer, 100)
        SALES.change(shop, payment, payment_processor="mollie")
        SALES.change(shop, payment, payment_processor=None)
        assert ledger.postings(payment)[1:] == [
            (PAID, {"1150": 100, "1100": -100}),
            (PAID, {"1150": -100, "1100": 100}),
        ]


class TestUpdateBillPayment(Updating):
    trade = PURCHASES

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_money_of_a_vendor_that_is_not_active_is_still_put_right(
        self, shop: Business, status: str
    ) -> None:
        doubtful = shop.vendor()
        bill = PURCHASES.open(shop, doubtful, 100)
        payment = PURCHASES.pay(shop, doubtful, 100, PURCHASES.part(bill, 100))
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": status})
        after = PURCHASES.change(shop, payment, allocations=[])
        assert after["unallocated_amount_cents"] == 100
        assert PURCHASES.change(shop, payment, status="failed")["status"] == "failed"
