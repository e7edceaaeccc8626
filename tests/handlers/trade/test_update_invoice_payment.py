"""update_invoice_payment: what a PATCH changes, when it is posted, and what it refuses."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.sales import paid, part, sent
from tests.builders.trade import NOBODY, PAID, Record
from tests.clock import today
from tests.handlers.promises import keeps_its_key_and_version
from tests.partner import Business

PAYMENTS = "invoices/payments/"
TODAY = str(today())


def patch(shop: Business, payment: Record, **changes: object) -> Record:
    answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()["payment"]
    return changed


def status_of(shop: Business, invoice: Record) -> tuple[str, int]:
    shown = shop.api.get(f"invoices/{invoice['id']}/").json()
    return shown["status"], shown["outstanding_balance"]


class TestUpdateInvoicePayment:
    def test_it_changes_what_is_supplied_and_nothing_else(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        before = paid(
            shop,
            buyer,
            100,
            note="old",
            bank_reference="B",
            references={"a": "1"},
            metadata={"m": 1},
        )
        given = {"note": "new", "payment_reference": "R", "transaction_tags": ["t"]}
        after = patch(shop, before, **given)
        moving = {*given, "notes", "updated_at"}
        assert {k: v for k, v in after.items() if k not in moving} == {
            k: v for k, v in before.items() if k not in moving
        }
        assert {name: after[name] for name in given} == given
        assert len(ledger.entries(before)) == 1
        assert shop.api.get(f"{PAYMENTS}{before['id']}/").json() == after

    def test_null_clears_and_an_older_name_still_works(self, shop: Business, buyer: Record) -> None:
        before = paid(shop, buyer, 100, note="old", external_id=f"x-{uuid4()}")
        assert patch(shop, before, notes="newer")["note"] == "newer"
        cleared = patch(shop, before, note=None, external_id=None)
        assert (cleared["note"], cleared["notes"], cleared["external_id"]) == (None, None, None)
        assert patch(shop, before, note="wins", notes="loses")["note"] == "wins"

    def test_an_empty_list_or_object_clears_what_is_one(
        self, shop: Business, buyer: Record
    ) -> None:
        given: Record = {"references": {"a": "b"}, "transaction_tags": ["c"], "metadata": {"d": 1}}
        empty: Record = {"references": {}, "transaction_tags": [], "metadata": {}}
        before = paid(shop, buyer, 100, **given)
        assert {name: before[name] for name in given} == given
        after = patch(shop, before, **empty)
        assert {name: after[name] for name in given} == empty

    def test_nothing_changed_is_no_new_version(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 60), note="same")
        same = {
            "note": "same",
            "status": "completed",
            "total_amount_cents": 100,
            "currency": "GBP",
            "customer_id": buyer["id"],
            "allocations": [part(invoice, 60)],
        }
        for changes in ({}, same):
            with ledger.untouched():
                answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
            assert answer.json()["payment"] == payment
            assert answer.headers["etag"] == '"1"'

    def test_a_list_of_allocations_replaces_the_list_today(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        first, second, third = (sent(shop, buyer, 100) for _ in range(3))
        payment = paid(shop, buyer, 250, part(first, 100), part(second, 50))
        after = patch(shop, payment, allocations=[part(second, 50), part(third, 70)])
        assert [each["amount_cents"] for each in after["allocations"]] == [50, 70]
        assert [each["allocation_date"] for each in after["allocations"]] == [PAID, TODAY]
        assert ledger.postings(payment)[1:] == [(TODAY, {"1200": 30, "2100": -30})]
        assert status_of(shop, first) == ("sent", 100)
        assert status_of(shop, second) == ("partially_paid", 50)
        assert status_of(shop, third) == ("partially_paid", 30)

    def test_an_empty_list_releases_everything(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100))
        after = patch(shop, payment, allocations=[])
        assert (after["allocations"], after["unapplied_amount_cents"]) == ([], 100)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1200": 100, "2100": -100})]
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert (shown["status"], shown["paid_at"]) == ("sent", None)

    def test_a_pending_one_is_posted_on_its_own_date_when_it_completes(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100), status="pending")
        assert patch(shop, payment, status="processing")["allocated_amount_cents"] == 100
        assert ledger.entries(payment) == []
        after = patch(shop, payment, status="completed")
        assert after["applied_amount_cents"] == 100
        assert ledger.postings(payment) == [(PAID, {"1100": 100, "1200": -100})]
        assert status_of(shop, invoice) == ("paid", 0)

    @pytest.mark.parametrize("status", ["failed", "cancelled", "refunded"])
    def test_one_that_is_no_longer_live_is_taken_back_today_with_its_fee(
        self, shop: Business, ledger: Ledger, buyer: Record, status: str
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 150, part(invoice, 100), processing_fee_cents=5)
        after = patch(shop, payment, status=status)
        assert (after["status"], after["allocations"]) == (status, [])
        assert ledger.postings(payment)[2:] == [
            (TODAY, {"1100": -150, "2100": 50, "1200": 100}),
            (TODAY, {"6100": -5, "1100": 5}),
        ]
        assert status_of(shop, invoice) == ("sent", 100)
        again = patch(shop, payment, status="completed")
        assert (again["allocations"], again["unapplied_amount_cents"]) == ([], 150)
        assert ledger.balances().get("2100", 0) <= -150

    def test_back_to_pending_takes_the_money_back_and_keeps_the_claim(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100))
        after = patch(shop, payment, status="pending")
        assert (after["allocated_amount_cents"], after["applied_amount_cents"]) == (100, 0)
        assert status_of(shop, invoice) == ("sent", 100)
        assert ledger.postings(payment)[1:] == [(TODAY, {"1100": -100, "1200": 100})]

    def test_facts_are_corrected_on_the_payments_date(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100, processing_fee_cents=3)
        patch(shop, payment, total_amount_cents=120)
        patch(shop, payment, payment_method="cash", processing_fee_cents=0)
        assert ledger.postings(payment) == [
            (PAID, {"1100": 100, "2100": -100}),
            (PAID, {"6100": 3, "1100": -3}),
            (PAID, {"1100": 20, "2100": -20}),
            (PAID, {"1100": -120, "1000": 120}),
            (PAID, {"6100": -3, "1100": 3}),
        ]

    def test_a_changed_date_is_taken_back_there_and_posted_anew(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        invoice = sent(shop, buyer, 100)
        payment = paid(shop, buyer, 100, part(invoice, 100))
        after = patch(shop, payment, payment_date="2025-03-15")
        assert after["allocations"][0]["allocation_date"] == "2025-03-15"
        assert ledger.postings(payment)[1:] == [
            (PAID, {"1100": -100, "1200": 100}),
            ("2025-03-15", {"1100": 100, "1200": -100}),
        ]
        shown = shop.api.get(f"invoices/{invoice['id']}/").json()
        assert shown["paid_at"] == "2025-03-15T00:00:00Z"

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100)
        with ledger.locked("2025-03-31"):
            patch(shop, payment, total_amount_cents=130)
            with ledger.untouched():
                moved = shop.api.patch(
                    f"{PAYMENTS}{payment['id']}/", json={"payment_date": "2025-03-30"}
                )
            later = patch(shop, payment, payment_date="2025-04-02")
        assert (moved.status_code, moved.json()["error_code"]) == (409, "period_locked")
        assert later["payment_date"] == "2025-04-02"
        assert ledger.postings(payment)[1:] == [
            ("2025-04-01", {"1100": 30, "2100": -30}),
            ("2025-04-01", {"1100": -130, "2100": 130}),
            ("2025-04-02", {"1100": 130, "2100": -130}),
        ]

    def test_a_pending_one_does_not_complete_into_a_locked_period(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100, status="pending")
        with ledger.locked("2025-03-31"), ledger.untouched():
            answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "completed"})
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")

    def test_a_processor_moves_the_money_to_clearing_and_back(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100)
        patch(shop, payment, payment_processor="mollie")
        patch(shop, payment, payment_processor=None)
        assert ledger.postings(payment)[1:] == [
            (PAID, {"1150": 100, "1100": -100}),
            (PAID, {"1150": -100, "1100": 100}),
        ]

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        payment = paid(shop, buyer, 100)
        with ledger.untouched():
            seen = shop.api.patch(
                f"{PAYMENTS}{payment['id']}/?preview=true", json={"status": "failed"}
            ).json()
        assert seen["payment"]["status"] == "failed"
        [entry] = seen["journal_entries"]
        assert (entry["entry_date"], entry["sequence_number"]) == (TODAY, None)

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        path = f"{PAYMENTS}{paid(shop, buyer, 100)['id']}/"
        keeps_its_key_and_version(shop, ledger, "PATCH", path, "note")


class TestRefusalsOfUpdateInvoicePayment:
    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"customer_id": NOBODY}, 422, "immutable_field"),
            ({"currency": "EUR"}, 422, "immutable_field"),
            ({"total_amount_cents": 99}, 422, "total_below_allocated"),
            ({"total_amount_cents": 0}, 400, "validation_error"),
            ({"status": "failed", "allocations": "same"}, 409, "payment_not_live"),
            ({"allocations": [{"invoice_id": NOBODY, "amount_cents": 1}]}, 422,
             "reference_not_found"),
            ({"external_id": "taken"}, 409, "duplicate_external_id"),
            ({"amount": 5}, 400, "validation_error"),
            ({"customer_external_id": "x"}, 400, "validation_error"),
        ],
    )  # fmt: skip
    def test_it_refuses_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        buyer: Record,
        changes: Record,
        status: int,
        code: str,
    ) -> None:
        invoice = sent(shop, buyer, 100)
        shop.api.post(
            PAYMENTS,
            json={
                "customer_id": buyer["id"],
                "total_amount_cents": 1,
                "payment_date": PAID,
                "currency": "GBP",
                "payment_method": "cash",
                "external_id": "taken",
            },
        )
        payment = paid(shop, buyer, 150, part(invoice, 100))
        if changes.get("allocations") == "same":
            changes = {**changes, "allocations": [part(invoice, 100)]}
        with ledger.untouched():
            answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
