"""list_journal_entries and get_journal_entry: posted entries and their documents."""

from typing import Any

import pytest

from tests.builders.journal_entries import posted
from tests.builders.sales import (
    credited,
    paid,
    part,
    refund_paid,
    refunded,
    sent,
    share,
    written_off,
)
from tests.builders.trade import NOBODY, PURCHASES, SALES, Record, line, read
from tests.partner import Business, Partner

ENTRIES = "general-ledger/journal-entries/"


@pytest.fixture(scope="module")
def papers(shop: Business) -> dict[str, Record]:
    """An invoice of the last day of 2024, a voided one, and a payment with a fee."""
    buyer = shop.customer(company_name="Tall Ship")
    taxed = line(100, tax_rate=20)
    old = sent(shop, buyer, line_items=[taxed], sent_at="2024-12-31T00:00:00Z")
    void = sent(shop, buyer, 300, external_id="to-void")
    shop.api.post(f"invoices/{void['id']}/void/", json={"voided_at": "2025-03-05T00:00:00Z"})
    facts = {"payment_method": "stripe", "processing_fee_cents": 7, "external_id": "pay_9%"}
    payment = paid(shop, buyer, 500, part(old, 120), **facts)
    return {"old": old, "void": void, "payment": payment}


def numbers(shop: Business, **asked: Any) -> list[str]:
    answer = shop.api.get(ENTRIES, params=asked)
    assert answer.status_code == 200, answer.text
    return [each["sequence_number"] for each in answer.json()["results"]]


@pytest.mark.usefixtures("papers")
class TestListJournalEntries:
    def test_numbers_run_in_each_year_and_the_latest_date_comes_first(self, shop: Business) -> None:
        in_2025 = [f"JE-2025-00000{number}" for number in (4, 3, 2, 1)]
        assert numbers(shop) == [*in_2025, "JE-2024-000001"]

    @pytest.mark.parametrize(
        ("asked", "expected"),
        [
            ({"account": "2200"}, {"JE-2024-000001"}),
            ({"account_id": "6100"}, {"JE-2025-000004"}),
            ({"account": "1200", "account_id": "1150"}, {"JE-2025-000003"}),
            ({"account": "nothing"}, set()),
            ({"account": NOBODY}, set()),
            ({"created_by": "manual"}, set()),
            ({"created_by": "system", "date_to": "2024-12-31"}, {"JE-2024-000001"}),
            ({"date_from": "2025-03-05", "date_to": "2025-03-05"}, {"JE-2025-000002"}),
            ({"date_from": "2025-03-06"}, {"JE-2025-000003", "JE-2025-000004"}),
            ({"is_posted": False}, set()),
            ({"is_posted": True, "search": "FEE OF"}, {"JE-2025-000004"}),
            ({"status": "draft"}, set()),
            ({"status": "rejected"}, set()),
            ({"status": "approved", "search": "je-2024"}, {"JE-2024-000001"}),
            ({"search": "PAY_9%"}, {"JE-2025-000003", "JE-2025-000004"}),
            ({"search": "payX9"}, set()),
        ],
    )
    def test_filters_select_entries(
        self, shop: Business, asked: Record, expected: set[str]
    ) -> None:
        answer = shop.api.get(ENTRIES, params=asked).json()
        assert {each["sequence_number"] for each in answer["results"]} == expected
        assert answer["count"] == len(expected)

    def test_an_account_is_named_by_id_code_or_external_id(self, shop: Business) -> None:
        accounts = "general-ledger/chart-of-accounts/"
        vat = shop.api.patch(f"{accounts}2200/", json={"external_id": "vat-account"}).json()
        for reference in (vat["id"], vat["code"], vat["external_id"]):
            assert numbers(shop, account=reference) == ["JE-2024-000001"]

    @pytest.mark.parametrize("sort", ["entry_date", "created_at", "sequence_number"])
    def test_entries_are_sorted_by_a_field(self, shop: Business, sort: str) -> None:
        found = shop.api.get(ENTRIES, params={"sort": sort}).json()["results"]
        keys = [(each[sort], each["id"]) for each in found]
        assert keys == sorted(keys)


class TestGetJournalEntry:
    def test_an_entry_shows_all_its_fields(self, shop: Business, papers: dict[str, Record]) -> None:
        [listed] = shop.api.get(ENTRIES, params={"search": "JE-2024"}).json()["results"]
        answer = shop.api.get(f"{ENTRIES}{listed['id']}/")
        entry = answer.json()
        old = papers["old"]
        shown = {
            "sequence_number": "JE-2024-000001",
            "entry_date": "2024-12-31",
            "accounting_period": "2024-12",
            "currency": "GBP",
            "description": "Invoice to Tall Ship",
            "reference": old["invoice_number"],
            "source_reference": old["invoice_number"],
            "source_type": "invoice",
            "source_id": old["id"],
            "total_debit": 120,
            "total_credit": 120,
            "is_balanced": True,
            "created_by": "system",
            "created_by_display": "System",
            "status": "approved",
            "status_display": "Approved",
            "is_posted": True,
            "bank_transaction_id": None,
            "reversal_of_id": None,
            "reversed_by_id": None,
        }
        assert {name: entry[name] for name in shown} == shown
        assert entry["posted_at"] == entry["created_at"] == old["created_at"]
        assert {name: entry[name] for name in listed} == listed
        names = ("line_number", "account_code", "account_name", "account_type")
        amounts = ("debit_amount", "credit_amount", "description")
        assert [tuple(each[name] for name in (*names, *amounts)) for each in entry["lines"]] == [
            (1, "1200", "Accounts receivable", "asset", 120, 0, None),
            (2, "4000", "Sales", "revenue", 0, 100, None),
            (3, "2200", "VAT payable", "liability", 0, 20, None),
        ]
        assert len({each["id"] for each in entry["lines"]}) == 3
        assert answer.headers["etag"] == '"1"'

    def test_a_reversed_entry_and_its_reversal_name_each_other(
        self, shop: Business, papers: dict[str, Record]
    ) -> None:
        found = shop.api.get(ENTRIES, params={"search": papers["void"]["invoice_number"]}).json()
        mirror, first = (read(shop, ENTRIES, each) for each in found["results"])
        assert (mirror["reversal_of_id"], mirror["reversed_by_id"]) == (first["id"], None)
        assert (first["reversal_of_id"], first["reversed_by_id"]) == (None, mirror["id"])
        assert mirror["description"] == "Reversal of invoice to Tall Ship"


class TestDocumentOfAnEntry:
    def test_every_entry_names_its_rule_and_leads_to_its_document(self, acme: Partner) -> None:
        shop = acme.business()
        buyer, vendor = shop.customer(), shop.vendor()
        invoice = sent(shop, buyer, 1_000)
        payment = paid(shop, buyer, 600, part(invoice, 400), processing_fee_cents=5)
        SALES.change(shop, payment, allocations=[part(invoice, 500)])
        refund = refunded(shop, invoice, amount_cents=100)
        refund_paid(shop, refund, amount_cents=100)
        credited(shop, buyer, 50, share(invoice, 30))
        given_up = written_off(shop, invoice, amount_cents=20)["write_offs"][0]["id"]
        shop.api.delete(f"invoices/{invoice['id']}/write-offs/{given_up}/")
        bill = PURCHASES.settle(shop, vendor, 800)
        PURCHASES.credit(shop, vendor, 30)
        posted(shop)
        entries = shop.api.get(ENTRIES, params={"page_size": 100}).json()["results"]
        rules = {each["posting_rule"] for each in entries}
        assert rules == {
            *("invoice_sent", "invoice_payment", "invoice_payment_fee"),
            *("invoice_refund_agreed", "invoice_refund_paid", "customer_credit_sent"),
            *("customer_credit_applied", "invoice_written_off", "invoice_write_off_reversed"),
            *("bill_received", "bill_payment", "vendor_credit_received", "manual_entry"),
        }
        leads = {}
        for each in entries:
            document = shop.api.get(f"{shop.partner.url}{each['document_url']}")
            assert document.status_code == 200, each["document_url"]
            leads[each["posting_rule"]] = document.json()["id"]
            assert read(shop, ENTRIES, each)["document_url"] == each["document_url"]
        assert leads["invoice_written_off"] == leads["invoice_sent"] == invoice["id"]
        assert leads["bill_received"] == bill["id"]
        assert leads["invoice_payment"] == payment["id"]

    def test_a_previewed_entry_of_a_new_write_off_has_no_document_url(self, acme: Partner) -> None:
        shop = acme.business()
        invoice = sent(shop, shop.customer(), 1_000)
        answer = shop.api.post(f"invoices/{invoice['id']}/write-offs/?preview=true", json={})
        [entry] = answer.json()["journal_entries"]
        assert (entry["posting_rule"], entry["document_url"]) == ("invoice_written_off", None)
