"""Stored documents: uploaded, listed, and fetched by a signed link."""

from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.builders.files import (
    CSV,
    KINDS,
    PDF,
    XML,
    follow,
    in_json,
    names,
    records,
    target,
    upload,
)
from tests.builders.sales import sent
from tests.builders.trade import NOBODY, Record
from tests.partner import Business, Partner

MIB = 1024 * 1024


LINKED = {
    "customer": "customer_document",
    "invoice": "invoice_document",
    "invoice_refund": "refund",
    "customer_credit": "customer_credit_document",
    "vendor": "vendor_document",
    "bill": "bill_document",
    "vendor_credit": "vendor_credit_document",
    "vendor_refund": "vendor_refund",
    "invoice_payment": "invoice_payment_document",
    "bill_payment": "bill_payment_document",
    "bank_transaction": "bank_transaction_document",
    "journal_entry": "journal_entry_document",
}
"""The types of objects with documents, and the document type of each."""


class TestCreateDocument:
    def test_a_file_is_stored_byte_for_byte_with_its_fields(self, shop: Business) -> None:
        facts = {
            "document_type": "contract",
            "upload_source": "mail",
            "metadata": '{"pages": [1, {"x": null}]}',
            "tags": ["signed", "2025"],
        }
        answer = upload(shop, PDF, "Terms 7.pdf", **facts)
        assert answer.status_code == 201
        made = answer.json()
        assert (made["document_id"], made["file_name"]) == (made["id"], "Terms 7.pdf")
        assert (made["file_size"], made["mime_type"]) == (len(PDF), "application/pdf")
        assert (made["document_type"], made["upload_source"]) == ("contract", "mail")
        assert made["metadata"] == {"pages": [1, {"x": None}]}
        assert made["tags"] == ["signed", "2025"]
        assert (made["linked_type"], made["linked_id"], made["expires_in"]) == (None, None, 900)
        assert follow(shop, made["url"]).content == PDF

    def test_absent_fields_are_empty(self, shop: Business) -> None:
        made = upload(shop).json()
        assert (made["document_type"], made["upload_source"]) == ("document", None)
        assert (made["metadata"], made["tags"]) == ({}, [])

    @pytest.mark.parametrize("kind", KINDS)
    def test_the_media_type_follows_from_the_content_and_not_from_the_name(
        self, shop: Business, kind: str
    ) -> None:
        made = upload(shop, KINDS[kind], "holiday.exe")
        assert made.status_code == 201
        assert (made.json()["mime_type"], made.json()["file_name"]) == (kind, "holiday.exe")

    @pytest.mark.parametrize(
        "content",
        [
            b"MZ" + bytes(100),
            b"<!doctype html><html><script>alert(1)</script></html>",
            b"<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
            b" ",
        ],
    )
    def test_another_media_type_is_refused_under_any_name(
        self, api_server: ApiServer, shop: Business, content: bytes
    ) -> None:
        before = names(api_server, shop), records(api_server, shop)
        answer = upload(shop, content, "paper.pdf")
        assert (answer.status_code, answer.json()["error_code"]) == (415, "unsupported_media_type")
        for word in ("PDF", "PNG", "JPEG", "CSV", "XML"):
            assert word in answer.json()["message"]
        assert (names(api_server, shop), records(api_server, shop)) == before

    def test_ten_mebibytes_are_taken_and_not_one_byte_more(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        largest = PDF.ljust(10 * MIB, b" ")
        made = upload(shop, largest)
        assert (made.status_code, made.json()["file_size"]) == (201, 10 * MIB)
        assert follow(shop, made.json()["url"]).content == largest
        before = names(api_server, shop)
        answer = upload(shop, largest + b" ")
        assert (answer.status_code, answer.json()["error_code"]) == (413, "payload_too_large")
        assert answer.json()["detail"] == {"limit_bytes": 10 * MIB}
        assert names(api_server, shop) == before

    @pytest.mark.parametrize("linked_type", LINKED)
    def test_a_document_is_linked_to_an_existing_object(
        self, shop: Business, buyer: Record, linked_type: str
    ) -> None:
        resource = target(shop, buyer, linked_type)
        answer = upload(shop, linked_type=linked_type, linked_id=resource["id"])
        assert answer.status_code == 201
        made = answer.json()
        assert (made["linked_type"], made["linked_id"]) == (linked_type, resource["id"])
        assert made["document_type"] == LINKED[linked_type]

    @pytest.mark.parametrize("linked_type", LINKED)
    def test_a_link_to_an_unknown_object_is_refused(
        self, api_server: ApiServer, shop: Business, buyer: Record, linked_type: str
    ) -> None:
        before = names(api_server, shop)
        other = buyer["id"] if linked_type != "customer" else sent(shop, buyer)["id"]
        for nothing in (NOBODY, other):
            answer = upload(shop, linked_type=linked_type, linked_id=nothing)
            assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
        assert names(api_server, shop) == before

    def test_a_link_without_type_or_id_is_400(self, shop: Business, buyer: Record) -> None:
        for half in ({"linked_type": "customer"}, {"linked_id": buyer["id"]}):
            answer = upload(shop, **half)
            assert answer.status_code == 400
            assert "linked_id" in answer.json()["detail"]["field_errors"]

    @pytest.mark.parametrize(
        ("name", "shown"),
        [
            ("../../etc/passwd", "passwd"),
            ("..\\..\\boot.ini", "boot.ini"),
            ("/abs/olute.pdf", "olute.pdf"),
            ("C:\\temp\\bill.pdf", "bill.pdf"),
            ("a\x01b\x1f\x7f\u200b\u202ecod.pdf", "abcod.pdf"),
            ("  two  blanks .pdf ", "two blanks .pdf"),
            ("Rechnung Müller №5 咖啡.pdf", "Rechnung Müller №5 咖啡.pdf"),
            ("line\r\nSet-Cookie: a=b.pdf", "line Set-Cookie: a=b.pdf"),
            ("e\u0301.pdf", "é.pdf"),
            ("...", "document.pdf"),
            (".", "document.pdf"),
            ("a/", "document.pdf"),
            ("\u200b", "document.pdf"),
            ("x" * 300 + ".pdf", "x" * 251 + ".pdf"),
            ("'; DROP TABLE stored_document; --", "'; DROP TABLE stored_document; --"),
        ],
    )
    def test_a_name_is_kept_for_display_and_leads_nowhere(
        self, api_server: ApiServer, shop: Business, name: str, shown: str
    ) -> None:
        if len(name) <= 255:
            body = {"company_name": "N", "document": in_json(PDF, name)}
            [document] = shop.made("customers/", body)["documents"]
        else:
            document = upload(shop, PDF, name).json()
        assert document["file_name"] == shown
        assert all(len(each) == 32 and each.isalnum() for each in names(api_server, shop))
        answer = follow(shop, document["url"])
        assert (answer.status_code, answer.content) == (200, PDF)
        assert answer.headers["content-disposition"].startswith('attachment; filename="')

    def test_a_key_stores_the_file_once(self, api_server: ApiServer, shop: Business) -> None:
        key = {"Idempotency-Key": "a document"}
        first = upload(shop, CSV, "a.csv", headers=key)
        before = names(api_server, shop), records(api_server, shop)
        again = upload(shop, CSV, "a.csv", headers=key)
        assert (again.status_code, again.content) == (201, first.content)
        assert again.headers["idempotent-replayed"] == "true"
        assert (names(api_server, shop), records(api_server, shop)) == before
        for content, name in ((XML, "a.csv"), (CSV, "b.csv")):
            other = upload(shop, content, name, headers=key)
            refused = (other.status_code, other.json()["error_code"])
            assert refused == (422, "idempotency_key_reused")
        assert (names(api_server, shop), records(api_server, shop)) == before

    def test_a_link_of_an_archived_business_is_valid(self, acme: Partner) -> None:
        closed = acme.business()
        made = upload(closed).json()
        closed.partner.api.post(f"/v1/platform/businesses/{closed.id}/archive/")
        assert follow(closed, made["url"]).content == PDF


Archive = tuple[Business, Record, list[Record]]


@pytest.fixture(scope="module")
def archive(acme: Partner) -> Archive:
    shop = acme.business()
    buyer = shop.customer()
    made = [
        upload(shop, PDF, "Beta 50%.pdf").json(),
        upload(shop, PDF, "alpha_1.pdf", document_type="contract").json(),
        upload(shop, PDF, "gamma.pdf", linked_type="customer", linked_id=buyer["id"]).json(),
    ]
    return shop, buyer, made


class TestListDocuments:
    @pytest.mark.parametrize(
        ("query", "places"),
        [
            ({}, [2, 1, 0]),
            ({"sort": "created_at"}, [0, 1, 2]),
            ({"sort": "file_name"}, [1, 0, 2]),
            ({"sort": "-file_name"}, [2, 0, 1]),
            ({"document_type": "contract"}, [1]),
            ({"document_type": "contr"}, []),
            ({"linked_type": "customer"}, [2]),
            ({"linked_type": "invoice"}, []),
            ({"search": "BETA"}, [0]),
            ({"search": "0%"}, [0]),
            ({"search": "a_1"}, [1]),
            ({"search": "a"}, [2, 1, 0]),
            ({"search": "TRACT"}, [1]),
            ({"search": "tomer_doc"}, [2]),
        ],
    )
    def test_filters_select_documents(
        self, archive: Archive, query: Any, places: list[int]
    ) -> None:
        shop, _, made = archive
        listed = shop.api.get("documents/", params=query).json()["results"]
        assert [each["id"] for each in listed] == [made[place]["id"] for place in places]

    def test_a_filter_by_linked_id_selects_documents_of_the_object(self, archive: Archive) -> None:
        shop, buyer, made = archive
        query = {"linked_id": buyer["id"]}
        [shown] = shop.api.get("documents/", params=query).json()["results"]
        assert shown["id"] == made[2]["id"]
        assert follow(shop, shown["url"]).content == PDF


class TestGetDocument:
    def test_a_document_is_shown_with_a_fresh_link(self, shop: Business) -> None:
        made = upload(shop, tags=["a"]).json()
        shown = shop.api.get(f"documents/{made['id']}/").json()
        assert {**shown, "url": ""} == {**made, "url": ""}
        assert follow(shop, shown["url"]).content == PDF
