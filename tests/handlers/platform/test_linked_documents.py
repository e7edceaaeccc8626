"""Documents in the objects that they belong to, and their isolation."""

import hashlib
import json
from typing import Any

import pytest

from tests.api_server import ApiServer
from tests.bookkeeping import Ledger
from tests.builders.bank import LINES, Bank, open_account
from tests.builders.files import (
    CSV,
    PDF,
    XML,
    follow,
    in_json,
    kept,
    names,
    records,
    target,
    upload,
)
from tests.builders.journal_entries import ENTRIES, credit, debit
from tests.builders.sales import invoice_body, paid
from tests.builders.trade import PURCHASES, SALES, Record, Trade
from tests.builders.vendor_refunds import agreed
from tests.partner import Business, Partner


def linked(shop: Business, parties: str = "customers/", **document: Any) -> Record:
    """Create a party with a document; return the document in the response."""
    body = {"company_name": "With paper", "document": document}
    [shown] = shop.made(parties, body)["documents"]
    record: Record = shown
    return record


def stored(shop: Business, document: Record) -> Record:
    """Read a document that a response shows."""
    record: Record = shop.api.get(f"documents/{document['document_id']}/").json()
    return record


class DocumentsOfParties:
    def test_a_party_is_returned_with_its_document(
        self, api_server: ApiServer, shop: Business, trade: Trade
    ) -> None:
        facts = {"upload_source": "mail", "tags": ["x"], "metadata": {"a": 1}}
        sent = in_json(XML, "order.xml", **facts)
        made = shop.made(trade.parties, {"company_name": "With paper", "document": sent})
        [document] = made["documents"]
        assert (document["file_name"], document["mime_type"]) == ("order.xml", "application/xml")
        assert follow(shop, document["url"]).content == XML
        assert hashlib.sha256(XML).hexdigest() in kept(api_server, shop)
        whole = stored(shop, document)
        assert (whole["linked_type"], whole["linked_id"]) == (trade.party, made["id"])
        assert {name: whole[name] for name in facts} == facts
        assert whole["document_type"] == f"{trade.party}_document"

    def test_each_answer_shows_all_documents_newest_first(
        self, shop: Business, trade: Trade
    ) -> None:
        made = shop.made(trade.parties, {"company_name": "C", "document": in_json(PDF, "1.pdf")})
        assert upload(shop, CSV, "2.csv", linked_type=trade.party, linked_id=made["id"]).is_success
        path = trade.of_party(made)
        for shown in (
            shop.api.get(path).json(),
            shop.api.post(f"{path}archive/").json(),
            shop.api.post(f"{path}unarchive/").json(),
            shop.api.patch(path, json={"email": "new@example.com"}).json(),
        ):
            assert [each["file_name"] for each in shown["documents"]] == ["2.csv", "1.pdf"]

    def test_a_known_external_id_keeps_no_second_one(
        self, api_server: ApiServer, shop: Business, trade: Trade
    ) -> None:
        body = {"company_name": "Same", "external_id": "same", "document": in_json()}
        first = shop.made(trade.parties, body)
        before = names(api_server, shop), records(api_server, shop)
        again = shop.api.post(trade.parties, json=body)
        assert again.status_code == 200
        [document], [known] = first["documents"], again.json()["documents"]
        assert known["document_id"] == document["document_id"]
        assert (names(api_server, shop), records(api_server, shop)) == before


class TestDocumentsOfVendors(DocumentsOfParties):
    trade = PURCHASES

    def test_a_list_of_vendors_shows_documents_newest_first(self, acme: Partner) -> None:
        shop = acme.business()
        paper, other = (
            shop.made("vendors/", {"company_name": "V", "document": in_json(content, name)})
            for content, name in ((PDF, "1.pdf"), (XML, "terms.xml"))
        )
        assert upload(shop, PDF, "2.pdf", linked_type="vendor", linked_id=paper["id"]).is_success
        none = shop.vendor()
        listed = shop.api.get("vendors/", params={"sort": "created_at"}).json()["results"]
        assert [each["id"] for each in listed] == [paper["id"], other["id"], none["id"]]
        shown = [[each["file_name"] for each in vendor["documents"]] for vendor in listed]
        assert shown == [["2.pdf", "1.pdf"], ["terms.xml"], []]
        assert follow(shop, listed[1]["documents"][0]["url"]).content == XML
        assert {**listed[1], "documents": other["documents"]} == other


class TestDocumentsOfCustomers(DocumentsOfParties):
    trade = SALES

    @pytest.mark.parametrize("metadata", [0, False, [], "", {}, ["x"]])
    def test_metadata_of_a_document_is_returned_unchanged(
        self, shop: Business, metadata: object
    ) -> None:
        shown = stored(shop, linked(shop, **in_json(metadata=metadata)))["metadata"]
        assert (shown, type(shown)) == (metadata, type(metadata))

    def test_a_file_without_a_name_is_called_by_its_kind(self, shop: Business) -> None:
        assert linked(shop, file=in_json(XML)["file"])["file_name"] == "document.xml"

    def test_in_json_it_has_up_to_750_000_bytes(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        largest = PDF.ljust(750_000, b" ")
        assert follow(shop, linked(shop, **in_json(largest))["url"]).content == largest
        before = names(api_server, shop)
        body = {"company_name": "L", "document": in_json(largest + b" ")}
        answer = shop.api.post("customers/", json=body)
        assert list(answer.json()["detail"]["field_errors"]) == ["document.file"]
        assert (answer.status_code, names(api_server, shop)) == (400, before)

    def test_a_change_adds_one_and_the_newest_comes_first(self, shop: Business) -> None:
        made = shop.made("customers/", {"company_name": "C", "document": in_json(PDF, "1.pdf")})
        path = f"customers/{made['id']}/"
        answer = shop.api.patch(path, json={"document": in_json(CSV, "2.csv")})
        assert (answer.status_code, answer.headers["etag"]) == (200, '"2"')
        assert [each["file_name"] for each in answer.json()["documents"]] == ["2.csv", "1.pdf"]
        assert answer.json()["updated_at"] > made["updated_at"]

    def test_a_list_of_customers_shows_none(self, shop: Business) -> None:
        shop.made("customers/", {"company_name": "Listed", "document": in_json()})
        listed = shop.api.get("customers/", params={"name": "Listed"}).json()["results"]
        assert ["documents" in each for each in listed] == [False]

    @pytest.mark.parametrize(
        "text",
        ["a", "a===", "YQ", "YR==", "YWJ", "YWJj\n", "YW Jj", "YWJ-", "Y=Q=", "====", "é" * 4],
    )
    def test_malformed_base64_is_400_with_its_field(self, shop: Business, text: str) -> None:
        document = {"file": text, "file_name": "a.pdf"}
        answer = shop.api.post("customers/", json={"company_name": "X", "document": document})
        assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
        assert list(answer.json()["detail"]["field_errors"]) == ["document.file"]


class TestDocumentsOfOthers:
    def test_the_latest_one_linked_is_shown(self, shop: Business, buyer: Record) -> None:
        for kind, path in (
            ("invoice", "invoices/"),
            ("invoice_refund", "invoices/refunds/"),
            ("customer_credit", "customer-credits/"),
            ("bill", "bills/"),
            ("vendor_refund", "vendor-refunds/"),
            ("vendor_credit", "vendor-credits/"),
            ("invoice_payment", "invoices/payments/"),
            ("bill_payment", "bills/payments/"),
            ("bank_transaction", LINES),
            ("journal_entry", ENTRIES),
        ):
            resource = target(shop, buyer, kind)
            address = f"{path}{resource['id']}/"
            assert shop.api.get(address).json()["document"] is None
            for name in ("first.pdf", "second.pdf"):
                upload(shop, PDF, name, linked_type=kind, linked_id=resource["id"])
            shown = shop.api.get(address).json()["document"]
            assert shown["file_name"] == "second.pdf"
            assert follow(shop, shown["url"]).content == PDF

    def test_a_payment_is_made_and_changed_with_its_receipt(
        self, shop: Business, buyer: Record, vendor: Record
    ) -> None:
        for trade, party in ((SALES, buyer), (PURCHASES, vendor)):
            payment = trade.pay(shop, party, 100, document=in_json(PDF, "receipt.pdf"))
            assert payment["document"]["file_name"] == "receipt.pdf"
            whole = stored(shop, payment["document"])
            assert (whole["linked_type"], whole["linked_id"]) == (
                f"{trade.noun}_payment",
                payment["id"],
            )
            known = trade.change(shop, payment, transaction_tags=["x"])["document"]
            assert known["document_id"] == payment["document"]["document_id"]
            listed = shop.api.get(trade.payments, params={f"{trade.party}_id": party["id"]}).json()
            shown = [each["document"] for each in listed["results"] if each["id"] == payment["id"]]
            assert [each["document_id"] for each in shown] == [known["document_id"]]

    def test_an_entry_keeps_its_receipt_when_it_is_posted(
        self, shop: Business, ledger: Ledger
    ) -> None:
        lines = [debit("1100", 5), credit("2500", 5)]
        body = {"entry_date": "2025-03-01", "lines": lines}
        made = shop.made(ENTRIES, {**body, "document": in_json(PDF, "first.pdf")})
        assert made["document"]["file_name"] == "first.pdf"
        path = f"{ENTRIES}{made['id']}/"
        assert shop.api.put(path, json=body).json()["document"]["file_name"] == "first.pdf"
        again = shop.api.put(path, json={**body, "document": in_json(PDF, "second.pdf")}).json()
        assert again["document"]["file_name"] == "second.pdf"
        posted = shop.api.post(f"{path}approve/").json()
        assert posted["document"]["file_name"] == "second.pdf"
        upload(shop, PDF, "third.pdf", linked_type="journal_entry", linked_id=made["id"])
        assert shop.api.get(path).json()["document"]["file_name"] == "third.pdf"

    def test_a_bank_transaction_shows_its_receipt_in_each_answer(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        bank, other = Bank(shop, open_account(shop)), Bank(shop, open_account(shop))
        line = bank.line(100)
        upload(shop, PDF, "slip.pdf", linked_type="bank_transaction", linked_id=line["id"])
        payment = paid(shop, buyer, 40)
        answers = [
            bank.match(line, "invoice_payment", payment),
            bank.categorize(line, "4500"),
            bank.uncategorize(line),
            bank.unmatch(line),
            bank.transfer(line, other),
            bank.unmatch(line),
            bank.read(line),
            *shop.api.get(LINES, params={"bank_account_id": bank.account["id"]}).json()["results"],
        ]
        shown = [each["document"]["file_name"] for each in answers]
        assert shown == ["slip.pdf"] * 8

    def test_documents_of_a_deleted_draft_stay(self, shop: Business, buyer: Record) -> None:
        draft = shop.made("invoices/", invoice_body(buyer, document=in_json()))
        assert shop.api.delete(f"invoices/{draft['id']}/").status_code == 200
        shown = stored(shop, draft["document"])
        assert (shown["linked_type"], shown["linked_id"]) == ("invoice", draft["id"])
        assert follow(shop, shown["url"]).content == PDF

    def test_a_form_and_json_come_to_the_same(self, shop: Business, buyer: Record) -> None:
        invoice = target(shop, buyer, "invoice")
        body = {"invoice_id": invoice["id"], "amount_cents": 100}
        facts = {"document_type": "complaint", "upload_source": "mail"}
        document = in_json(PDF, "a.pdf", metadata={"n": 1}, tags=["t"], **facts)
        by_json = shop.made("invoices/refunds/", {**body, "document": document})
        form = {**body, **facts, "document_metadata": '{"n": 1}', "document_tags": ["t"]}
        parts = {"document": ("a.pdf", PDF, "text/html")}
        by_form = shop.api.post("invoices/refunds/", data=form, files=parts)
        assert by_form.status_code == 201
        shown = [stored(shop, made["document"]) for made in (by_json, by_form.json())]
        own = ("id", "document_id", "url", "linked_id", "created_at")
        first, second = ({k: v for k, v in each.items() if k not in own} for each in shown)
        assert first == second
        assert (first["document_type"], first["metadata"]) == ("complaint", {"n": 1})

    @pytest.mark.parametrize("metadata", [{"n": 1}, ["a", 5], "a", "5", 5, 1.5, True, ""])
    def test_a_form_takes_any_json_as_metadata_as_json_does(
        self, shop: Business, buyer: Record, metadata: Any
    ) -> None:
        invoice = target(shop, buyer, "invoice")
        text = json.dumps(metadata)
        form = {"invoice_id": invoice["id"], "amount_cents": 100, "metadata": text}
        parts = {"document": ("a.pdf", PDF, "application/pdf")}
        made = shop.api.post(
            "invoices/refunds/", data={**form, "document_metadata": text}, files=parts
        ).json()
        refund = agreed(shop, shop.vendor(), 500)["refund"]
        changed = shop.api.patch(
            f"vendor-refunds/{refund['id']}/", data={"metadata": text}, files=parts
        )
        document, uploaded = stored(shop, made["document"]), upload(shop, metadata=text).json()
        shown = [each["metadata"] for each in (made, changed.json(), document, uploaded)]
        assert shown == [metadata] * 4

    def test_metadata_of_a_form_that_is_no_json_is_refused(self, shop: Business) -> None:
        for text in ("growth", '{"n": 1', '{"n": 1, "n": 2}', ""):
            answer = upload(shop, metadata=text)
            assert answer.status_code == 400
            assert answer.json()["detail"]["field_errors"] == {"metadata": ["must be JSON text"]}

    @pytest.mark.parametrize(
        "fact",
        [
            {"document_type": "complaint"},
            {"upload_source": "mail"},
            {"document_metadata": '{"n": 1}'},
            {"document_tags": "t"},
        ],
    )
    def test_a_form_that_tells_of_a_file_brings_one(
        self, shop: Business, buyer: Record, ledger: Ledger, fact: Record
    ) -> None:
        invoice = target(shop, buyer, "invoice")
        refund = agreed(shop, shop.vendor(), 500)["refund"]
        for method, path, body in (
            ("POST", "invoices/refunds/", {"invoice_id": invoice["id"]}),
            ("PATCH", f"vendor-refunds/{refund['id']}/", {}),
        ):
            fields = {name: (None, str(value)) for name, value in {**body, **fact}.items()}
            with ledger.untouched():
                answer = shop.api.request(method, path, files=fields)
            assert answer.status_code == 400
            faults = answer.json()["detail"]["field_errors"]
            assert faults == {"document": ["is required when other document fields are given"]}


class TestWall:
    def test_another_business_finds_no_document_list_or_target(
        self, shop: Business, buyer: Record, acme: Partner, rival: Partner
    ) -> None:
        made = upload(shop, linked_type="customer", linked_id=buyer["id"]).json()
        for other in (acme.business(), rival.business()):
            answer = other.api.get(f"documents/{made['id']}/")
            assert (answer.status_code, answer.json()["error_code"]) == (404, "document_not_found")
            assert other.api.get("documents/").json()["results"] == []
            named = other.api.get("documents/", params={"linked_id": buyer["id"]}).json()
            assert named["results"] == []
            answer = upload(other, linked_type="customer", linked_id=buyer["id"])
            assert (answer.status_code, answer.json()["error_code"]) == (422, "reference_not_found")
