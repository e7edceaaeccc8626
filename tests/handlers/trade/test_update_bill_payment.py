"""update_bill_payment and cancel_bill_payment: what changes, when it is posted, what is refused."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import (
    BILLS,
    PAYMENTS,
    bill_paid,
    bill_payment_body,
    part,
    received,
    status_of,
)
from tests.builders.trade import NOBODY, PAID, Record, read
from tests.clock import today
from tests.handlers.promises import keeps_its_key_and_version
from tests.partner import Business

TODAY = str(today())
STATUSES = ("pending", "processing", "completed", "failed", "cancelled")
MOVES = {
    "pending": {"processing", "completed", "failed", "cancelled"},
    "processing": {"completed", "failed"},
    "completed": {"failed"},
    "failed": {"pending", "completed", "cancelled"},
    "cancelled": set(),
}


def patch(shop: Business, payment: Record, **changes: object) -> Record:
    answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
    assert answer.status_code == 200, answer.text
    changed: Record = answer.json()["payment"]
    return changed


class TestUpdateBillPayment:
    def test_it_changes_what_is_supplied_and_nothing_else(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        before = bill_paid(shop, vendor, 100, memo="old", check_number="1", metadata={"m": 1})
        given = {"memo": "new", "payment_reference": "R", "check_number": "2"}
        after = patch(shop, before, **given)
        assert after == {**before, **given, "updated_at": after["updated_at"]}
        assert len(ledger.entries(before)) == 1
        assert read(shop, PAYMENTS, before) == after

    def test_null_clears(self, shop: Business, vendor: Record) -> None:
        facts = {"memo": "x", "payment_reference": "x", "check_number": "x"}
        before = bill_paid(shop, vendor, 100, external_id=f"x-{uuid4()}", **facts)
        named = (*facts, "external_id")
        cleared = patch(shop, before, **dict.fromkeys(named))
        assert [cleared[name] for name in named] == [None] * 4

    def test_nothing_changed_is_no_new_version(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 60, description="d"), memo="same")
        same = {
            "memo": "same",
            "status": "completed",
            "amount_cents": 100,
            "allocations": [part(bill, 60, description="d")],
        }
        for changes in ({}, same):
            with ledger.untouched():
                answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
            assert answer.json()["payment"] == payment
            assert answer.headers["etag"] == '"1"'

    def test_a_list_of_allocations_replaces_the_list_today(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first, second, third = (received(shop, vendor, 100) for _ in range(3))
        payment = bill_paid(shop, vendor, 250, part(first, 100), part(second, 50))
        wanted = [part(second, 50, description="stays"), part(third, 70)]
        after = patch(shop, payment, allocations=wanted)
        assert [
            (each["amount_cents"], each["allocation_date"], each["description"])
            for each in after["allocations"]
        ] == [(50, PAID, "stays"), (70, TODAY, None)]
        assert ledger.postings(payment)[1:] == [(TODAY, {"2000": -30, "1250": 30})]
        assert status_of(shop, first) == ("received", 100)
        assert status_of(shop, second) == ("partially_paid", 50)
        assert status_of(shop, third) == ("partially_paid", 30)
        assert read(shop, PAYMENTS, payment) == after

    def test_an_empty_list_releases_everything(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 100))
        after = patch(shop, payment, allocations=[])
        assert (after["allocations"], after["unallocated_amount_cents"]) == ([], 100)
        assert ledger.postings(payment)[1:] == [(TODAY, {"2000": -100, "1250": 100})]
        shown = read(shop, BILLS, bill)
        assert (shown["status"], shown["paid_at"]) == ("received", None)

    def test_money_in_advance_is_applied_later(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100)
        bill = received(shop, vendor, 80)
        patch(shop, payment, allocations=[part(bill, 80)])
        assert ledger.postings(payment) == [
            (PAID, {"1250": 100, "1100": -100}),
            (TODAY, {"2000": 80, "1250": -80}),
        ]
        assert read(shop, BILLS, bill)["paid_at"] == f"{TODAY}T00:00:00Z"

    def test_a_pending_one_is_posted_on_its_own_date_when_it_completes(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 100), status="pending")
        assert patch(shop, payment, status="processing")["allocated_amount_cents"] == 100
        assert ledger.entries(payment) == []
        after = patch(shop, payment, status="completed")
        assert after["allocations"][0]["allocation_date"] == PAID
        assert ledger.postings(payment) == [(PAID, {"2000": 100, "1100": -100})]
        assert status_of(shop, bill) == ("paid", 0)

    def test_one_that_came_back_is_taken_back_today_with_its_fee(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 150, part(bill, 100), processing_fee_cents=5)
        after = patch(shop, payment, status="failed", memo="account closed")
        assert (after["status"], after["allocations"]) == ("failed", [])
        assert (after["allocated_amount_cents"], after["memo"]) == (0, "account closed")
        assert ledger.postings(payment)[2:] == [
            (TODAY, {"2000": -100, "1250": -50, "1100": 150}),
            (TODAY, {"6300": -5, "1100": 5}),
        ]
        assert status_of(shop, bill) == ("received", 100)
        again = patch(shop, payment, status="completed")
        assert (again["allocations"], again["unallocated_amount_cents"]) == ([], 150)
        assert sum(entry.amounts.get("1250", 0) for entry in ledger.entries(payment)) == 150

    def test_facts_are_corrected_on_the_payments_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100, processing_fee_cents=3)
        patch(shop, payment, amount_cents=120)
        patch(shop, payment, payment_method="cash", processing_fee_cents=0)
        patch(shop, payment, payment_date="2025-03-15")
        assert ledger.postings(payment)[2:] == [
            (PAID, {"1250": 20, "1100": -20}),
            (PAID, {"1100": 120, "1000": -120}),
            (PAID, {"6300": -3, "1100": 3}),
            (PAID, {"1250": -120, "1000": 120}),
            ("2025-03-15", {"1250": 120, "1000": -120}),
        ]

    def test_a_changed_date_moves_the_day_on_which_its_bill_was_paid(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 100))
        after = patch(shop, payment, payment_date="2025-03-15")
        assert after["allocations"][0]["allocation_date"] == "2025-03-15"
        assert read(shop, BILLS, bill)["paid_at"] == "2025-03-15T00:00:00Z"

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100)
        pending = bill_paid(shop, vendor, 100, status="pending")
        with ledger.locked("2025-03-31"):
            patch(shop, payment, amount_cents=130)
            for each, changes in (
                (payment, {"payment_date": "2025-03-30"}),
                (pending, {"status": "completed"}),
            ):
                with ledger.untouched():
                    answer = shop.api.patch(f"{PAYMENTS}{each['id']}/", json=changes)
                assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
        assert ledger.postings(payment)[1:] == [("2025-04-01", {"1250": 30, "1100": -30})]

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100)
        with ledger.untouched():
            seen = shop.api.patch(
                f"{PAYMENTS}{payment['id']}/?preview=true", json={"status": "failed"}
            ).json()
        [entry] = seen["journal_entries"]
        assert seen["payment"]["status"] == "failed"
        assert (entry["entry_date"], entry["sequence_number"]) == (TODAY, None)

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        path = f"{PAYMENTS}{bill_paid(shop, vendor, 100)['id']}/"
        keeps_its_key_and_version(shop, ledger, "PATCH", path, "memo")

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_money_of_a_vendor_that_is_not_active_is_still_put_right(
        self, shop: Business, ledger: Ledger, status: str
    ) -> None:
        doubtful = shop.vendor()
        bill = received(shop, doubtful, 100)
        payment = bill_paid(shop, doubtful, 100, part(bill, 100))
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": status})
        assert patch(shop, payment, allocations=[])["unallocated_amount_cents"] == 100
        assert patch(shop, payment, status="failed")["status"] == "failed"


class TestMovesOfUpdateBillPayment:
    @pytest.mark.parametrize("after", STATUSES)
    @pytest.mark.parametrize("before", STATUSES)
    def test_a_status_goes_where_the_table_says(
        self, shop: Business, ledger: Ledger, vendor: Record, before: str, after: str
    ) -> None:
        payment = bill_paid(shop, vendor, 100, status=before)
        path = f"{PAYMENTS}{payment['id']}/"
        if after == before:
            with ledger.untouched():
                answer = shop.api.patch(path, json={"status": after})
            assert (answer.status_code, answer.json()["payment"]) == (200, payment)
        elif after in MOVES[before]:
            assert patch(shop, payment, status=after)["status"] == after
        else:
            with ledger.untouched():
                answer = shop.api.patch(path, json={"status": after})
            assert answer.status_code == 409
            assert answer.json()["error_code"] == "invalid_state_transition"
            detail = answer.json()["detail"]
            assert detail["current_state"] == before
            assert set(detail["allowed_next_states"]) == MOVES[before]

    def test_every_move_that_stays_live_keeps_what_it_holds(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 100), status="pending")
        for status in ("processing", "completed"):
            assert patch(shop, payment, status=status)["allocated_amount_cents"] == 100
        assert patch(shop, payment, status="failed")["allocated_amount_cents"] == 0
        # What was released does not come back by itself.
        assert patch(shop, payment, status="pending")["allocated_amount_cents"] == 0

    @pytest.mark.parametrize("status", ["failed", "cancelled"])
    def test_one_that_stops_being_live_gives_its_claim_back(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = bill_paid(shop, vendor, 100, part(bill, 100), status="pending")
        assert patch(shop, payment, status=status)["allocations"] == []
        assert ledger.entries(payment) == []
        assert bill_paid(shop, vendor, 100, part(bill, 100))["is_fully_allocated"] is True


class TestCancelBillPayment:
    @pytest.mark.parametrize("status", ["pending", "failed"])
    def test_what_did_not_move_is_cancelled_and_releases_its_bills(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        bill = received(shop, vendor, 100)
        parts = [part(bill, 100)] if status == "pending" else []
        payment = bill_paid(shop, vendor, 100, *parts, status=status)
        answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        shown = answer.json()["payment"]
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert (shown["status"], shown["allocations"]) == ("cancelled", [])
        assert ledger.entries(payment) == []
        assert read(shop, PAYMENTS, payment) == shown
        assert bill_paid(shop, vendor, 100, part(bill, 100))["status"] == "completed"

    @pytest.mark.parametrize("status", ["processing", "completed", "cancelled"])
    def test_another_one_is_not(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        payment = bill_paid(shop, vendor, 100, status=status)
        with ledger.untouched():
            answer = shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert answer.status_code == 409
        assert answer.json()["error_code"] == "invalid_state_transition"
        assert answer.json()["detail"]["current_state"] == status

    def test_one_that_came_back_leaves_its_entries(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100)
        patch(shop, payment, status="failed")
        posted = ledger.entries(payment)
        shop.api.post(f"{PAYMENTS}{payment['id']}/delete/")
        assert [entry.on for entry in posted] == [PAID, TODAY]
        assert ledger.entries(payment) == posted

    def test_a_stale_version_is_not_cancelled(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        payment = bill_paid(shop, vendor, 100, status="pending")
        path = f"{PAYMENTS}{payment['id']}/delete/"
        with ledger.untouched():
            stale = shop.api.post(path, headers={"If-Match": '"2"'})
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")
        assert shop.api.post(path, headers={"If-Match": '"1"'}).status_code == 200


class TestRefusalsOfUpdateBillPayment:
    @pytest.mark.parametrize(
        ("changes", "status", "code"),
        [
            ({"amount_cents": 99}, 422, "total_below_allocated"),
            ({"amount_cents": 0}, 400, "validation_error"),
            ({"status": "failed", "allocations": "same"}, 409, "payment_not_live"),
            ({"allocations": [part({"id": NOBODY}, 1)]}, 422, "reference_not_found"),
            ({"external_id": "taken"}, 409, "duplicate_external_id"),
            ({"vendor_id": NOBODY}, 400, "validation_error"),
            ({"currency": "EUR"}, 400, "validation_error"),
            ({"status": "refunded"}, 400, "validation_error"),
            ({"status": "cancelled"}, 409, "invalid_state_transition"),
        ],
    )
    def test_it_refuses_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        changes: Record,
        status: int,
        code: str,
    ) -> None:
        bill = received(shop, vendor, 100)
        shop.api.post(PAYMENTS, json=bill_payment_body(vendor, 1, external_id="taken"))
        payment = bill_paid(shop, vendor, 150, part(bill, 100))
        if changes.get("allocations") == "same":
            changes = {**changes, "allocations": [part(bill, 100)]}
        with ledger.untouched():
            answer = shop.api.patch(f"{PAYMENTS}{payment['id']}/", json=changes)
        assert (answer.status_code, answer.json()["error_code"]) == (status, code)
