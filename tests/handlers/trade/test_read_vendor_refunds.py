"""Vendor refunds without an initial payment: created, changed and listed, with their payments."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.files import PDF, follow, in_json
from tests.builders.purchases import bill_paid, settled
from tests.builders.trade import Record, read
from tests.builders.vendor_refunds import (
    REFUND_PAYMENTS,
    REFUNDS,
    agreed,
    agreed_in_parts,
    agreed_refund,
    as_credit,
    cancelled,
    changed,
    of_bill,
    of_payment,
)
from tests.clock import today
from tests.partner import Business


class TestCreateVendorRefund:
    def test_a_refund_without_payments_has_one_pending_payment(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        bill = settled(shop, vendor, 1_000)
        body = {
            "vendor_id": vendor["id"],
            "total_refunded_amount": 900,
            "currency": "GBP",
            "reference_number": "GBI-R-4",
            "expected_completion_date": "2025-05-01",
            "allocations": [of_bill(bill, 500), as_credit(100)],
        }
        answer = shop.api.post(REFUNDS, json=body)
        made = answer.json()
        assert answer.status_code == 201
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

    def test_its_payments_have_the_given_fields(self, shop: Business, vendor: Record) -> None:
        given = {
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
        amounts = {"amount_cents": 300, "processing_fee_cents": 10}
        payments = [{**given, **amounts}, {"amount_cents": 400}]
        made = agreed_refund(shop, vendor, 700, payments=payments)
        first, second = made["vendor_refund_payments"]
        assert {name: first[name] for name in given} == given
        assert (first["refunded_amount"], first["processing_fee"]) == (300, 10)
        assert (second["refunded_amount"], second["payment_method"]) == (400, "bank_transfer")
        assert (second["description"], second["transaction_tags"]) == (None, [])

    def test_a_vendor_refund_is_returned_with_its_document(
        self, shop: Business, vendor: Record
    ) -> None:
        made = agreed_refund(shop, vendor, 7, document=in_json(name="claim.pdf"))
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
        assert after == {**made, **facts, "updated_at": after["updated_at"]}
        assert (read(shop, REFUNDS, made), len(ledger.entries())) == (after, entries)

    def test_an_update_without_changes_keeps_the_etag(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        made = agreed(shop, vendor, 500, memo="m")["refund"]
        with ledger.untouched():
            for body in ({}, {"memo": "m"}):
                answer = shop.api.patch(f"{REFUNDS}{made['id']}/", json=body)
                assert (answer.json(), answer.headers["etag"]) == (made, '"1"')

    def test_a_file_is_added_in_json_or_in_a_form(self, shop: Business, vendor: Record) -> None:
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

    def test_a_cancelled_refund_can_be_described(self, shop: Business, vendor: Record) -> None:
        made = agreed(shop, vendor, 500)
        cancelled(shop, made["payment"])
        answer = shop.api.patch(f"{REFUNDS}{made['refund']['id']}/", json={"memo": "never came"})
        assert (answer.json()["memo"], answer.json()["status"]) == ("never came", "cancelled")


@pytest.fixture(scope="module")
def every(own_shop: Business) -> dict[str, Record]:
    """A refund in every status; each filter distinguishes them."""
    store = own_shop
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


def listed(store: Business, every: dict[str, Record], path: str, **query: Any) -> list[str]:
    """Return the names of the listed records in their order."""
    kind = "refund" if path == REFUNDS else "payment"
    names = {record[kind]["id"]: name for name, record in every.items()}
    answer = store.api.get(path, params=query)
    assert answer.status_code == 200, answer.text
    return [names[each["id"]] for each in answer.json()["results"]]


ALL = ["cancelled", "completed", "allocated", "partially_allocated", "pending"]
OF_TALL_SHIP = ["cancelled", "partially_allocated", "pending"]


class TestListVendorRefunds:
    def test_the_status_shown_is_the_status_filtered_by(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        shown = own_shop.api.get(REFUNDS).json()["results"]
        assert [each["status"] for each in shown] == ALL
        for status in ALL:
            assert listed(own_shop, every, REFUNDS, status=status) == [status]
        both = listed(own_shop, every, REFUNDS, status="pending,allocated")
        assert both == ["allocated", "pending"]

    def test_a_listed_refund_equals_the_single_refund(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        for shown in own_shop.api.get(REFUNDS).json()["results"]:
            assert read(own_shop, REFUNDS, shown) == shown

    @pytest.mark.parametrize(
        ("query", "names"),
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
            ({"sort": "amount"}, ALL[::-1]),
            ({"sort": "-refund_date"}, ALL),
            ({"sort": "created_at", "page_size": 2, "page": 2}, ["allocated", "completed"]),
        ],
    )
    def test_each_filter_and_order(
        self, own_shop: Business, every: dict[str, Record], query: Record, names: list[str]
    ) -> None:
        assert listed(own_shop, every, REFUNDS, **query) == names

    def test_a_filter_by_vendors_selects_their_refunds(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        ids = [every[name]["refund"]["vendor_id"] for name in ("pending", "allocated")]
        assert listed(own_shop, every, REFUNDS, vendor_id=ids[0]) == OF_TALL_SHIP
        assert listed(own_shop, every, REFUNDS, vendor_id=",".join(ids)) == ALL


class TestListVendorRefundPayments:
    @pytest.mark.parametrize(
        ("query", "names"),
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
            ({"sort": "-amount"}, ["cancelled", "allocated", *OF_TALL_SHIP[1:], "completed"]),
            ({"sort": "-payment_date", "page_size": 1}, ["completed"]),
        ],
    )
    def test_each_filter_and_order(
        self, own_shop: Business, every: dict[str, Record], query: Record, names: list[str]
    ) -> None:
        assert listed(own_shop, every, REFUND_PAYMENTS, **query) == names

    def test_filters_by_vendor_and_refund_select_payments(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        one = every["allocated"]["refund"]
        of_vendor = listed(own_shop, every, REFUND_PAYMENTS, vendor_id=one["vendor_id"])
        assert of_vendor == ["completed", "allocated"]
        assert listed(own_shop, every, REFUND_PAYMENTS, vendor_refund_id=one["id"]) == ["allocated"]

    def test_a_cursor_walks_through_payments_that_have_no_date(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        query: Record = {"sort": "payment_date", "page_size": 2}
        seen: list[str] = []
        cursor: Record = {}
        while cursor != {"cursor": None}:
            page = own_shop.api.get(REFUND_PAYMENTS, params={**query, **cursor}).json()
            seen += [each["id"] for each in page["results"]]
            cursor = {"cursor": page["page_info"]["next_cursor"]}
        assert len(seen) == len(set(seen)) == 5
        assert seen[-1] == every["completed"]["payment"]["id"]

    def test_a_listed_payment_equals_the_single_payment(
        self, own_shop: Business, every: dict[str, Record]
    ) -> None:
        for shown in own_shop.api.get(REFUND_PAYMENTS).json()["results"]:
            alone = own_shop.api.get(f"{REFUND_PAYMENTS}{shown['id']}/").json()
            assert alone["payment"] == shown
            assert alone["refund"]["id"] == shown["vendor_refund_id"]
            assert alone["allocations"] == alone["refund"]["allocations"]

    def test_each_payment_has_an_etag_of_its_own(self, shop: Business, vendor: Record) -> None:
        first, second = agreed_in_parts(shop, vendor, 500, 300, 200)["vendor_refund_payments"]
        changed(shop, first, memo="x")
        tags = [
            shop.api.get(f"{REFUND_PAYMENTS}{each['id']}/").headers["etag"]
            for each in (first, second)
        ]
        assert tags == ['"2"', '"1"']
