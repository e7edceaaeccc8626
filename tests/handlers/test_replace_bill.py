"""replace_bill: what a PUT keeps, clears, posts and refuses."""

from uuid import uuid4

import pytest

from tests.bookkeeping import Ledger, today
from tests.handlers.bodies import NOBODY, PAID, Record, line
from tests.handlers.buying import (
    BILLED,
    BILLS,
    CREDITS,
    PAYMENTS,
    RECEIVED,
    bill_body,
    paid_out,
    part,
    read,
    received,
    returned,
    share,
)
from tests.partnership import Business


def put(shop: Business, bill: Record, **body: object) -> Record:
    answer = shop.api.put(f"{BILLS}{bill['id']}/", json=body)
    assert answer.status_code == 200, answer.text
    replaced: Record = answer.json()
    return replaced


def refused(shop: Business, ledger: Ledger, bill: Record, **body: object) -> tuple[int, str]:
    given = {"line_items": [line(1_100)], **body}
    with ledger.untouched():
        answer = shop.api.put(f"{BILLS}{bill['id']}/", json=given)
    return answer.status_code, answer.json()["error_code"]


class TestReplaceBill:
    def test_it_keeps_identity_and_date_and_clears_what_else_is_absent(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        before = received(
            shop,
            vendor,
            1_000,
            external_id="kept",
            bill_number="K-1",
            vendor_bill_number="K-2",
            due_at="2025-04-01T00:00:00Z",
            terms="gone",
            memo="gone",
            transaction_tags=["gone"],
            metadata={"gone": 1},
            additional_discount=100,
        )
        after = put(shop, before, line_items=[line(1_000)])
        kept = (
            *("id", "external_id", "bill_number", "vendor_bill_number", "bill_date"),
            *("received_at", "vendor", "currency", "created_at"),
        )
        assert {name: after[name] for name in kept} == {name: before[name] for name in kept}
        cleared = ("due_at", "terms", "memo", "metadata")
        assert {name: after[name] for name in cleared} == dict.fromkeys(cleared)
        assert (after["transaction_tags"], after["additional_discount"]) == ([], 0)
        assert (before["status"], after["status"]) == ("overdue", "received")
        assert after["updated_at"] > before["updated_at"]
        assert after["line_items"][0]["id"] == before["line_items"][0]["id"]
        assert read(shop, BILLS, before) == after

    def test_it_takes_every_field_anew(self, shop: Business, vendor: Record) -> None:
        other = shop.vendor(company_name="Someone else")
        draft = shop.made(BILLS, bill_body(vendor))
        given = {
            "external_id": "given-later",
            "bill_number": "Given-1",
            "vendor_bill_number": "Given-2",
            "bill_date": "2025-03-02",
            "due_at": "2025-05-01T00:00:00Z",
            "terms": "at once",
            "memo": "new",
            "transaction_tags": ["new"],
            "metadata": {"new": True},
            "additional_discount": 5,
        }
        after = put(shop, draft, vendor_id=other["id"], line_items=[line(7, 3), line(1)], **given)
        assert {name: after[name] for name in given} == given
        assert after["vendor"]["name"] == "Someone else"
        assert (after["total_amount"], after["status"]) == (17, "draft")

    def test_null_clears_its_date_and_the_vendors_number(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 70, vendor_bill_number="N-1")
        after = put(shop, bill, line_items=[line(70)], bill_date=None, vendor_bill_number=None)
        assert (after["bill_date"], after["vendor_bill_number"]) == (None, None)
        # Without a date of its own it stands on the day on which it was received.
        assert ledger.postings(bill)[1:] == [
            (BILLED, {"6000": -70, "2000": 70}),
            ("2025-03-03", {"6000": 70, "2000": -70}),
        ]

    def test_a_change_posts_its_difference_on_the_bills_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        put(shop, bill, line_items=[line(800, tax_rate=10)], received_at=RECEIVED)
        put(shop, bill, line_items=[line(1_000)], additional_discount=1)
        assert ledger.postings(bill) == [
            (BILLED, {"6000": 1_000, "2000": -1_000}),
            (BILLED, {"6000": -200, "1300": 80, "2000": 120}),
            (BILLED, {"6000": 199, "1300": -80, "2000": -119}),
        ]
        assert not any(entry.reversal_of for entry in ledger.entries(bill))

    def test_a_changed_date_is_taken_back_there_and_posted_anew(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        put(shop, bill, line_items=[line(1_000)], bill_date="2025-03-02")
        assert ledger.postings(bill)[1:] == [
            (BILLED, {"6000": -1_000, "2000": 1_000}),
            ("2025-03-02", {"6000": 1_000, "2000": -1_000}),
        ]

    def test_another_moment_of_receipt_moves_nothing_under_a_date(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        after = put(shop, bill, line_items=[line()], received_at="2025-03-08T00:00:00Z")
        assert after["received_at"] == "2025-03-08T00:00:00Z"
        assert len(ledger.entries(bill)) == 1

    def test_a_correction_inside_the_lock_lands_on_the_day_after_it(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        with ledger.locked("2025-03-31"):
            put(shop, bill, line_items=[line(1_100)])
            assert refused(shop, ledger, bill, bill_date="2025-03-20") == (409, "period_locked")
            # The same day again is no new day.
            put(shop, bill, line_items=[line(1_100)], bill_date=BILLED)
        assert ledger.postings(bill)[1:] == [("2025-04-01", {"6000": 100, "2000": -100})]

    def test_a_moment_receives_a_draft(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        draft = shop.made(BILLS, bill_body(vendor, bill_date=BILLED))
        after = put(shop, draft, line_items=[line(50)], received_at=RECEIVED)
        assert (after["status"], after["received_at"]) == ("received", RECEIVED)
        assert after["bill_number"].startswith("BILL-")
        assert ledger.postings(draft) == [(BILLED, {"6000": 50, "2000": -50})]

    def test_the_same_again_changes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, memo="same", terms="same", vendor_bill_number="S-1")
        with ledger.untouched():
            answer = shop.api.put(
                f"{BILLS}{bill['id']}/", json=bill_body(vendor, memo="same", terms="same")
            )
        assert (answer.json(), answer.headers["etag"]) == (bill, '"1"')

    def test_it_is_free_again_once_nothing_is_allocated(
        self, shop: Business, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 1_000)
        payment = paid_out(shop, vendor, 500, part(bill, 500))
        credit = returned(shop, vendor, 500, share(bill, 500))
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"allocations": []})
        shop.api.put(f"{CREDITS}{credit['id']}/", json={"allocations": []})
        assert put(shop, bill, line_items=[line(900)])["total_amount"] == 900

    def test_what_was_applied_before_a_change_of_date_stays_on_its_day(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        payment = paid_out(shop, vendor, 100, part(bill, 100))
        shop.api.patch(f"{PAYMENTS}{payment['id']}/", json={"status": "failed"})
        put(shop, bill, line_items=[line(100)], bill_date="2025-05-01")
        assert ledger.postings(payment) == [
            (PAID, {"2000": 100, "1100": -100}),
            (str(today()), {"2000": -100, "1100": 100}),
        ]

    def test_a_preview_shows_the_difference_and_writes_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor, 100)
        with ledger.untouched():
            seen = shop.api.put(
                f"{BILLS}{bill['id']}/?preview=true", json={"line_items": [line(130)]}
            ).json()
        [entry] = seen["journal_entries"]
        assert (seen["total_amount"], entry["entry_date"]) == (130, BILLED)
        assert [each["account_code"] for each in entry["lines"]] == ["6000", "2000"]

    def test_a_key_and_a_version_are_held(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        path, body = f"{BILLS}{bill['id']}/", {"line_items": [line(2)]}
        headers = {"Idempotency-Key": str(uuid4()), "If-Match": '"1"'}
        first = shop.api.put(path, json=body, headers=headers)
        with ledger.untouched():
            again = shop.api.put(path, json=body, headers=headers)
            stale = shop.api.put(path, json=body, headers={"If-Match": '"1"'})
        assert (first.headers["etag"], again.content) == ('"2"', first.content)
        assert (stale.status_code, stale.json()["error_code"]) == (412, "precondition_failed")


class TestRefusalsOfReplaceBill:
    @pytest.mark.parametrize("status", ["completed", "pending", "processing"])
    def test_not_while_money_is_allocated(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        bill = received(shop, vendor)
        paid_out(shop, vendor, 10, part(bill, 10), status=status)
        assert refused(shop, ledger, bill) == (409, "bill_has_allocations")

    def test_not_while_it_is_credited(self, shop: Business, ledger: Ledger, vendor: Record) -> None:
        bill = received(shop, vendor)
        returned(shop, vendor, 10, share(bill, 10))
        assert refused(shop, ledger, bill) == (409, "bill_has_allocations")

    def test_a_void_one_stays_as_it_is(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = received(shop, vendor)
        shop.api.post(f"{BILLS}{bill['id']}/void/")
        assert refused(shop, ledger, bill) == (409, "invalid_state_transition")

    def test_numbers_and_external_ids_of_others_are_taken(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        names = {"external_id": "taken", "bill_number": "T-1", "vendor_bill_number": "T-2"}
        received(shop, vendor, **names)
        bill = received(shop, vendor)
        for name, value in names.items():
            code = "duplicate_external_id" if name == "external_id" else "duplicate_bill_number"
            assert refused(shop, ledger, bill, **{name: value}) == (409, code)
        # What another vendor wrote is in nobody's way, until the bill becomes that vendor's.
        other = received(shop, shop.vendor(), vendor_bill_number="T-2")
        assert refused(shop, ledger, other, vendor_id=vendor["id"]) == (
            409,
            "duplicate_bill_number",
        )

    @pytest.mark.parametrize("status", ["INACTIVE", "BLOCKED"])
    def test_another_vendor_has_to_be_active_and_its_own_does_not(
        self, shop: Business, ledger: Ledger, vendor: Record, status: str
    ) -> None:
        doubtful = shop.vendor()
        bill, own = received(shop, vendor), received(shop, doubtful)
        shop.api.patch(f"vendors/{doubtful['id']}/", json={"status": status})
        assert refused(shop, ledger, bill, vendor_id=doubtful["id"]) == (409, "vendor_not_active")
        assert put(shop, own, line_items=[line(5)])["total_amount"] == 5

    @pytest.mark.parametrize(
        ("facts", "status", "code"),
        [
            ({"vendor_id": NOBODY}, 422, "reference_not_found"),
            ({"vendor_external_id": "x", "vendor_id": "own"}, 422, "reference_mismatch"),
            ({"currency": "EUR"}, 422, "currency_mismatch"),
            ({"additional_discount": 1_101}, 422, "negative_amount"),
            ({"line_items": []}, 400, "validation_error"),
            ({"received_at": None}, 400, "validation_error"),
            ({"bill_number": None}, 400, "validation_error"),
        ],
    )
    def test_it_refuses_and_changes_nothing(
        self,
        shop: Business,
        ledger: Ledger,
        vendor: Record,
        facts: Record,
        status: int,
        code: str,
    ) -> None:
        own = {"vendor_id": vendor["id"]} if facts.get("vendor_id") == "own" else {}
        assert refused(shop, ledger, received(shop, vendor), **{**facts, **own}) == (status, code)

    def test_one_that_is_not_there(self, shop: Business, ledger: Ledger) -> None:
        assert refused(shop, ledger, {"id": NOBODY}) == (404, "bill_not_found")
