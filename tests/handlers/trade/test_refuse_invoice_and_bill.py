"""create_invoice and create_bill: what they refuse; what is in braces is a word of the trade."""

import pytest

from tests.bookkeeping import Ledger
from tests.builders.purchases import BILLS, bill_body, received
from tests.builders.sales import invoice_body, sent
from tests.builders.trade import NOBODY, PURCHASES, RECEIVED, SALES, Record, Trade, line
from tests.partner import Business, Partner

CHART = "general-ledger/chart-of-accounts/"
HUGE = 99_999_999_999_999


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


def faults(shop: Business, ledger: Ledger, path: str, body: Record) -> Record:
    """The fields of a body that is malformed."""
    with ledger.untouched():
        answer = shop.api.post(path, json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
    found: Record = answer.json()["detail"]["field_errors"]
    return found


class RefusingToCreate:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"line_items": []}, "line_items"),
            ({"line_items": [line(quantity=0)]}, "line_items.0.quantity"),
            ({"line_items": [line(quantity=-1)]}, "line_items.0.quantity"),
            ({"line_items": [line(quantity="1.0000001")]}, "line_items.0.quantity"),
            ({"line_items": [line(), line(discount_amount=-1)]}, "line_items.1.discount_amount"),
            ({"line_items": [line(tax_rate=101)]}, "line_items.0.tax_rate"),
            ({"line_items": [line(tax_rate=20, sales_taxes=[{"amount": 1}])]},
             "line_items.0.tax_rate"),
            ({"line_items": [line(), line(sales_taxes=[{"amount": -1}])]},
             "line_items.1.sales_taxes.0.amount"),
            ({"additional_discount": -1}, "additional_discount"),
            ({"{party}_id": "7"}, "{party}_id"),
            ({"{party}_id": None}, "{party}_id"),
            ({"{dated}": "2025-02-30"}, "{dated}"),
            ({"{moment}": "yesterday"}, "{moment}"),
            ({"status": "paid"}, "status"),
        ],
    )  # fmt: skip
    def test_a_malformed_body_names_its_fields(
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        party: Record,
        facts: Record,
        field: str,
    ) -> None:
        body = {**trade.body(party), **trade.named(facts)}
        assert field.format(**trade.words) in faults(shop, ledger, trade.path, body)

    def test_a_document_without_a_party_is_refused(
        self, shop: Business, ledger: Ledger, trade: Trade
    ) -> None:
        body = {"line_items": [line()]}
        assert f"{trade.party}_id" in faults(shop, ledger, trade.path, body)

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"currency": "EUR"}, "currency_mismatch"),
            ({"line_items": [line(100, discount_amount=101)]}, "negative_amount"),
            ({"line_items": [line(-1)]}, "negative_amount"),
            ({"additional_discount": 1_001}, "negative_amount"),
            ({"line_items": [line(HUGE, 2)]}, "amount_too_large"),
            ({"line_items": [line(HUGE), line(1)]}, "amount_too_large"),
            ({"line_items": [line(HUGE, tax_rate=1)]}, "amount_too_large"),
            ({"{party}_id": NOBODY}, "reference_not_found"),
            ({"{party}_external_id": "somebody else"}, "reference_mismatch"),
            ({"line_items": [line(account_identifier=account("1200"))]}, "control_account"),
            ({"line_items": [line(account_identifier=account("9999"))]}, "reference_not_found"),
            ({"line_items": [line(sales_taxes=[{"amount": 1, "tax_account": account("2000")}])]},
             "control_account"),
        ],
    )  # fmt: skip
    def test_a_broken_rule_is_refused_and_nothing_is_kept(
        self,
        shop: Business,
        ledger: Ledger,
        trade: Trade,
        party: Record,
        facts: Record,
        code: str,
    ) -> None:
        body = {**trade.body(party, **{trade.moment: trade.at}), **trade.named(facts)}
        assert ledger.refused("POST", trade.path, json=body) == (422, code)

    def test_a_party_of_another_business_does_not_exist_here(
        self, shop: Business, ledger: Ledger, rival: Partner, trade: Trade
    ) -> None:
        body = trade.body(trade.somebody(rival.business()))
        fault = ledger.refused("POST", trade.path, json=body)
        assert fault == (422, "reference_not_found")

    def test_an_archived_account_takes_no_line(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        code = f"{trade.line}.99"
        income = {"account_type": "revenue", "account_subtype": "revenue"}
        shop.made(CHART, {"code": code, "name": "Old income", **income})
        shop.api.delete(f"{CHART}{code}/")
        body = trade.body(party, line(account_identifier=account(code)))
        fault = ledger.refused("POST", trade.path, json=body)
        assert fault == (409, "account_archived")

    def test_a_number_is_taken_once(
        self, shop: Business, ledger: Ledger, trade: Trade, party: Record
    ) -> None:
        number = {trade.number: "A-1"}
        shop.made(trade.path, trade.body(party, **number))
        body = trade.body(trade.somebody(shop), **number, **{trade.moment: trade.at})
        fault = ledger.refused("POST", trade.path, json=body)
        assert fault == (409, f"duplicate_{trade.noun}_number")


class TestRefusalsOfCreateInvoice(RefusingToCreate):
    trade = SALES

    def test_an_archived_customer_takes_no_invoice(self, shop: Business, ledger: Ledger) -> None:
        gone = shop.customer()
        shop.api.post(f"customers/{gone['id']}/archive/")
        fault = ledger.refused("POST", "invoices/", json=invoice_body(gone))
        assert fault == (409, "customer_archived")

    def test_nothing_is_sent_into_a_locked_period(
        self, shop: Business, ledger: Ledger, buyer: Record
    ) -> None:
        body = invoice_body(buyer, sent_at="2025-03-31T23:59:59Z")
        with ledger.locked("2025-03-31"):
            with ledger.untouched():
                answer = shop.api.post("invoices/", json=body)
            draft = shop.made("invoices/", invoice_body(buyer, issue_date="2025-03-31"))
            after = sent(shop, buyer, sent_at="2025-04-01T00:00:00Z")
        assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
        assert answer.json()["detail"]["lock_date"] == "2025-03-31"
        assert (draft["status"], after["status"]) == ("draft", "sent")


class TestRefusalsOfCreateBill(RefusingToCreate):
    trade = PURCHASES

    @pytest.mark.parametrize(
        "facts",
        [
            {"terms": "x" * 101},
            {"vendor_bill_number": ""},
            {"sent_at": RECEIVED},
            {"payments": []},
        ],
    )
    def test_a_malformed_bill_names_its_field(
        self, shop: Business, ledger: Ledger, vendor: Record, facts: Record
    ) -> None:
        [field] = facts
        assert field in faults(shop, ledger, BILLS, bill_body(vendor, **facts))

    def test_a_bill_of_the_same_vendor_comes_once(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        first = received(shop, vendor, vendor_bill_number="GBI-7")
        for given in (
            bill_body(vendor, vendor_bill_number="GBI-7"),
            bill_body(vendor, vendor_bill_number="GBI-7", received_at=RECEIVED),
        ):
            fault = ledger.refused("POST", BILLS, json=given)
            assert fault == (409, "duplicate_bill_number")
        assert shop.api.post(BILLS, json=given).json()["detail"] == {"id": first["id"]}
        # Another vendor may count alike, and one without a number is told by nothing.
        assert received(shop, shop.vendor(), vendor_bill_number="GBI-7")["status"] == "received"
        assert received(shop, vendor)["vendor_bill_number"] is None
        shop.api.post(f"{BILLS}{first['id']}/void/")
        assert received(shop, vendor, vendor_bill_number="GBI-7")["status"] == "received"

    def test_nothing_is_received_into_a_locked_period(
        self, shop: Business, ledger: Ledger, vendor: Record
    ) -> None:
        with ledger.locked("2025-03-31"):
            for facts in (
                {"received_at": "2025-03-31T23:59:59Z"},
                {"received_at": "2025-04-02T09:00:00Z", "bill_date": "2025-03-31"},
            ):
                with ledger.untouched():
                    answer = shop.api.post(BILLS, json=bill_body(vendor, **facts))
                assert (answer.status_code, answer.json()["error_code"]) == (409, "period_locked")
                assert answer.json()["detail"]["date"] == "2025-03-31"
            draft = shop.made(BILLS, bill_body(vendor, bill_date="2025-03-31"))
            after = received(shop, vendor, received_at="2025-03-30T09:00:00Z",
                             bill_date="2025-04-01")  # fmt: skip
        assert (draft["status"], after["status"]) == ("draft", "received")
