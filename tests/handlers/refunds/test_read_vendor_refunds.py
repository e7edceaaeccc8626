"""Vendor refunds agreed by themselves, described, listed and found; and their payments."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.files import PDF, follow, in_json
from tests.builders.purchases import bill_paid, settled
from tests.builders.trade import Record, read
from tests.builders.vendor_refunds import (
    AGREED,
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    agreed_in_parts,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
)
from tests.clock import today
from tests.partner import Business, Partner


class TestCreateVendorRefund:
    def test_left_out_there_is_one_pending_payment_of_its_money(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        body = {
            "vendor_id": vendor["id"],
            "total_refunded_amount_cents": 900,
            "currency": "GBP",
            "reference_number": "GBI-R-4",
            "expected_completion_date": "2025-05-01",
            "allocations": [of_bill(bill, 500), as_credit(100)],
        }
        answer = shop.api.post(REFUNDS, json=body)
        made = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (201, '"1"')
        assert answer.headers["location"].endswith(f"/{REFUNDS}{made['id']}/")
        [payment] = made["vendor_refund_payments"]
        assert (payment["refunded_amount"], payment["status"]) == (800, "pending")
        assert payment["payment_method"] == "bank_transfer"
        assert (made["refund_date"], made["reference_number"]) == (today().isoformat(), "GBI-R-4")
        assert made["expected_completion_date"] == "2025-05-01"
        [entry] = ledger.entries(made)
        assert (entry.reference, entry.amounts) == (
            "GBI-R-4",
            {"1270": 800, "6000": -500, "1900": -300},
        )
        assert read(shop, REFUNDS, made) == made

    def test_its_payments_are_as_they_say(self, shop: Business, vendor: Record) -> None:
        told = {
            "amount_cents": 300,
            "payment_method": "check",
            "payment_date": "2025-04-30",
            "processor": "post",
            "processor_payment_id": "p-1",
            "payment_reference": "cheque 7",
            "description": "half",
            "memo": "m",
            "transaction_tags": ["a"],
            "metadata": {"x": 1},
        }
        fee = {"processing_fee_cents": 10}
        body = {"vendor_id": vendor["id"], "total_refunded_amount_cents": 700, "currency": "GBP"}
        made = shop.made(REFUNDS, {**body, "payments": [{**told, **fee}, {"amount_cents": 400}]})
        first, second = made["vendor_refund_payments"]
        amount = told.pop("amount_cents")
        assert {name: first[name] for name in told} == told
        assert (first["refunded_amount"], first["processing_fee"]) == (amount, 10)
        assert (second["refunded_amount"], second["payment_method"]) == (400, "bank_transfer")
        assert (second["description"], second["transaction_tags"]) == (None, [])

    def test_a_vendor_refund_is_returned_with_its_document(
        self, shop: Business, vendor: Record
    ) -> None:
        body = {"vendor_id": vendor["id"], "total_refunded_amount_cents": 7, "currency": "GBP"}
        made = shop.made(REFUNDS, {**body, "document": in_json(name="claim.pdf")})
        assert made["document"]["file_name"] == "claim.pdf"
        assert follow(shop, made["document"]["url"]).content == PDF
        [stored] = shop.api.get("documents/", params={"linked_id": made["id"]}).json()["results"]
        assert (stored["document_type"], stored["linked_type"]) == ("vendor_refund",) * 2


class TestUpdateVendorRefund:
    def test_an_update_changes_descriptions_and_posts_nothing(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, reason="old", description="old")["refund"]
        entries = len(ledger.entries())
        facts = {
            "description": "new",
            "memo": "m",
            "reason": None,
            "metadata": {"a": [1]},
            "expected_completion_date": "2025-06-01",
        }
        answer = shop.api.patch(f"{REFUNDS}{made['id']}/", json=facts)
        after = answer.json()
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert {name: after[name] for name in facts} == facts
        moved = {*facts, "updated_at"}
        kept = {name: value for name, value in made.items() if name not in moved}
        assert {name: after[name] for name in kept} == kept
        assert (read(shop, REFUNDS, made), len(ledger.entries())) == (after, entries)

    def test_an_update_without_changes_keeps_the_etag(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, memo="m")["refund"]
        with ledger.untouched():
            for body in ({}, {"memo": "m"}):
                answer = shop.api.patch(f"{REFUNDS}{made['id']}/", json=body)
                assert (answer.json(), answer.headers["etag"]) == (made, '"1"')

    def test_a_file_comes_in_either_form(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 500)["refund"]
        path = f"{REFUNDS}{made['id']}/"
        by_json = shop.api.patch(path, json={"document": in_json(name="one.pdf")})
        assert by_json.json()["document"]["file_name"] == "one.pdf"
        assert by_json.headers["etag"] == '"2"'
        parts = {"document": ("two.pdf", PDF, "application/pdf")}
        facts = {
            "memo": "by mail",
            "expected_completion_date": "2025-06-02",
            "metadata": '{"a": 1}',
            "document_type": "letter",
            "upload_source": "mail",
            "document_metadata": '{"b": 2}',
            "document_tags": ["c"],
        }
        answer = shop.api.patch(path, data=facts, files=parts)
        after = answer.json()
        assert answer.status_code == 200, answer.text
        assert (after["memo"], after["metadata"]) == ("by mail", {"a": 1})
        assert after["expected_completion_date"] == "2025-06-02"
        assert after["document"]["file_name"] == "two.pdf"
        stored = shop.api.get(f"documents/{after['document']['document_id']}/").json()
        assert (stored["document_type"], stored["upload_source"]) == ("letter", "mail")
        assert (stored["metadata"], stored["tags"]) == ({"b": 2}, ["c"])

    def test_a_wrong_kind_of_file_is_not_taken(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500)["refund"]
        path = f"{REFUNDS}{made['id']}/"
        with ledger.untouched():
            parts = {"document": ("two.pdf", b"MZ" + bytes(60), "application/pdf")}
            for options in (
                {"json": {"document": in_json(b"MZ" + bytes(60)), "memo": "x"}},
                {"data": {"memo": "x"}, "files": parts},
            ):
                answer = shop.api.patch(path, **options)
                assert answer.status_code == 415

    def test_a_cancelled_one_may_still_be_described(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 500)
        cancelled(shop, made["payment"])
        answer = shop.api.patch(f"{REFUNDS}{made['refund']['id']}/", json={"memo": "never came"})
        assert (answer.json()["memo"], answer.json()["status"]) == ("never came", "cancelled")


@pytest.fixture(scope="module")
def store(acme: Partner) -> Business:
    return acme.business()


@pytest.fixture(scope="module")
def every(store: Business) -> dict[str, Record]:
    """One refund of every status, each told apart by every filter."""
    roaster = store.vendor(company_name="Tall Ship")
    other = store.vendor(company_name="Small Boat")
    bill = settled(store, roaster, 2_000)
    money = bill_paid(store, other, 900)
    by_check = {"payment_method": "check", "payment_reference": "CHQ-9"}
    made = {
        "pending": agreed(store, roaster, 100, external_id="fifty_%", refund_date="2025-04-01"),
        "partially_allocated": agreed(
            store, roaster, 200, of_bill(bill, 50), memo="Torn sail", refund_date="2025-04-02"
        ),
        "allocated": agreed(
            store, other, 300, of_payment(money, 300), refund_date="2025-04-03", **by_check
        ),
        "completed": agreed(
            store, other, 400, as_credit(400), refund_type="goods_return", refund_date="2025-04-04"
        ),
        "cancelled": agreed(
            store, roaster, 500, of_bill(bill, 500), reason="Leak", refund_date="2025-04-05"
        ),
    }
    changed(store, made["completed"]["payment"], status="completed", payment_date="2025-04-09")
    cancelled(store, made["cancelled"]["payment"])
    return made


def found(store: Business, every: dict[str, Record], path: str, **asked: Any) -> list[str]:
    """The names of what a list shows, in its order."""
    kind = "refund" if path == REFUNDS else "payment"
    names = {record[kind]["id"]: name for name, record in every.items()}
    answer = store.api.get(path, params=asked)
    assert answer.status_code == 200, answer.text
    return [names[each["id"]] for each in answer.json()["results"]]


ALL = ["cancelled", "completed", "allocated", "partially_allocated", "pending"]
OF_TALL_SHIP = ["cancelled", "partially_allocated", "pending"]


class TestListVendorRefunds:
    def test_the_status_shown_is_the_status_filtered_by(
        self, store: Business, every: dict[str, Record]
    ) -> None:
        shown = store.api.get(REFUNDS).json()["results"]
        assert [each["status"] for each in shown] == ALL
        for status in ALL:
            assert found(store, every, REFUNDS, status=status) == [status]
        both = found(store, every, REFUNDS, status="pending,allocated")
        assert both == ["allocated", "pending"]

    def test_a_listed_refund_equals_the_single_refund(
        self, store: Business, every: dict[str, Record]
    ) -> None:
        for shown in store.api.get(REFUNDS).json()["results"]:
            assert read(store, REFUNDS, shown) == shown

    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({"refund_type": "goods_return"}, ["completed"]),
            ({"refund_date_from": "2025-04-04"}, ["cancelled", "completed"]),
            ({"refund_date_to": "2025-04-01"}, ["pending"]),
            ({"min_amount": 400}, ["cancelled", "completed"]),
            ({"max_amount": 100}, ["pending"]),
            ({"currency": "GBP"}, ALL),
            ({"currency": "EUR"}, []),
            ({"is_fully_allocated": True}, ["completed", "allocated"]),
            ({"is_fully_allocated": False}, OF_TALL_SHIP),
            ({"external_id": "fifty_%"}, ["pending"]),
            ({"external_id": "fifty"}, []),
            ({"search": "y_%"}, ["pending"]),
            ({"search": "torn SAIL"}, ["partially_allocated"]),
            ({"search": "leak"}, ["cancelled"]),
            ({"search": "boat"}, ["completed", "allocated"]),
            ({"created_at_to": "2001-01-01T00:00:00Z"}, []),
            ({"updated_at_from": "2001-01-01T00:00:00Z"}, ALL),
            ({"sort": "amount"}, ALL[::-1]),
            ({"sort": "-refund_date"}, ALL),
            ({"sort": "created_at", "page_size": 2, "page": 2}, ["allocated", "completed"]),
        ],
    )
    def test_each_filter_and_order(
        self, store: Business, every: dict[str, Record], asked: Record, names: list[str]
    ) -> None:
        assert found(store, every, REFUNDS, **asked) == names

    def test_by_vendors(self, store: Business, every: dict[str, Record]) -> None:
        ids = [every[name]["refund"]["vendor_id"] for name in ("pending", "allocated")]
        assert found(store, every, REFUNDS, vendor_id=ids[0]) == OF_TALL_SHIP
        assert found(store, every, REFUNDS, vendor_id=",".join(ids)) == ALL


class TestListVendorRefundPayments:
    @pytest.mark.parametrize(
        ("asked", "names"),
        [
            ({}, ALL),
            ({"status": "completed"}, ["completed"]),
            ({"status": "cancelled"}, ["cancelled"]),
            ({"payment_method": "check"}, ["allocated"]),
            ({"payment_date_from": "2025-04-09"}, ["completed"]),
            ({"payment_date_to": "2025-04-08"}, []),
            ({"min_amount": 300}, ["cancelled", "allocated"]),
            ({"max_amount": 0}, ["completed"]),
            ({"search": "chq-9"}, ["allocated"]),
            ({"search": "ship"}, OF_TALL_SHIP),
            ({"updated_at_from": "2099-01-01T00:00:00Z"}, []),
            ({"sort": "-amount"}, ["cancelled", "allocated", *OF_TALL_SHIP[1:], "completed"]),
            ({"sort": "-payment_date", "page_size": 1}, ["completed"]),
        ],
    )
    def test_each_filter_and_order(
        self, store: Business, every: dict[str, Record], asked: Record, names: list[str]
    ) -> None:
        assert found(store, every, REFUND_PAYMENTS, **asked) == names

    def test_by_vendor_and_by_refund(self, store: Business, every: dict[str, Record]) -> None:
        one = every["allocated"]["refund"]
        of_vendor = found(store, every, REFUND_PAYMENTS, vendor_id=one["vendor_id"])
        assert of_vendor == ["completed", "allocated"]
        assert found(store, every, REFUND_PAYMENTS, vendor_refund_id=one["id"]) == ["allocated"]

    def test_a_cursor_walks_through_payments_that_have_no_date(
        self, store: Business, every: dict[str, Record]
    ) -> None:
        asked = {"sort": "payment_date", "page_size": 2}
        seen, cursor = [], None
        while True:
            given = {**asked, "cursor": cursor} if cursor else asked
            page = store.api.get(REFUND_PAYMENTS, params=given).json()
            seen += [each["id"] for each in page["results"]]
            cursor = page["page_info"]["next_cursor"]
            if cursor is None:
                break
        assert len(seen) == len(set(seen)) == 5
        assert seen[-1] == every["completed"]["payment"]["id"]

    def test_a_listed_payment_equals_the_single_payment(
        self, store: Business, every: dict[str, Record]
    ) -> None:
        for shown in store.api.get(REFUND_PAYMENTS).json()["results"]:
            alone = store.api.get(f"{REFUND_PAYMENTS}{shown['id']}/").json()
            assert alone["payment"] == shown
            assert alone["refund"]["id"] == shown["vendor_refund_id"]
            assert alone["allocations"] == alone["refund"]["allocations"]

    def test_the_tag_of_one_is_its_own(self, shop: Business, vendor: Record) -> None:
        first, second = agreed_in_parts(shop, vendor, 500, 300, 200)["vendor_refund_payments"]
        changed(shop, first, memo="x")
        tags = [
            shop.api.get(f"{REFUND_PAYMENTS}{each['id']}/").headers["etag"]
            for each in (first, second)
        ]
        assert tags == ['"2"', '"1"']

    def test_the_day_of_a_refund_is_not_that_of_its_money(
        self, store: Business, every: dict[str, Record]
    ) -> None:
        assert every["pending"]["refund"]["refund_date"] != AGREED
        assert every["pending"]["payment"]["payment_date"] is None
