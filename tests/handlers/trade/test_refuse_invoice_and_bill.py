"""Refusals of create_invoice and create_bill; braces contain a word of the trade."""

import pytest

from tests.builders.trade import PURCHASES, RECEIVED, SALES, Record, line
from tests.handlers.trade.side import Side

CHART = "general-ledger/chart-of-accounts/"


def account(code: str) -> Record:
    return {"type": "AccountCode", "code": code}


def faults(side: Side, body: Record) -> Record:
    """Return the faults of a malformed body by field."""
    with side.ledger.untouched():
        answer = side.api.post(side.trade.path, json=body)
    assert (answer.status_code, answer.json()["error_code"]) == (400, "validation_error")
    by_field: Record = answer.json()["detail"]["field_errors"]
    return by_field


class RefusingToCreate:
    @pytest.mark.parametrize(
        ("facts", "field"),
        [
            ({"line_items": []}, "line_items"),
            ({"line_items": [line(quantity=-1)]}, "line_items.0.quantity"),
            ({"line_items": [line(quantity="1.0000001")]}, "line_items.0.quantity"),
            ({"line_items": [line(tax_rate=101)]}, "line_items.0.tax_rate"),
            ({"line_items": [line(tax_rate=20, sales_taxes=[{"amount": 1}])]},
             "line_items.0.tax_rate"),
            ({"line_items": [line(), line(sales_taxes=[{"amount": -1}])]},
             "line_items.1.sales_taxes.0.amount"),
            ({"{party}_id": None}, "{party}_id"),
        ],
    )  # fmt: skip
    def test_a_malformed_body_names_its_fields(self, side: Side, facts: Record, field: str) -> None:
        body = {**side.body(), **side.trade.named(facts)}
        assert side.trade.named(field) in faults(side, body)

    def test_a_document_without_a_party_is_refused(self, side: Side) -> None:
        assert f"{side.trade.party}_id" in faults(side, {"line_items": [line()]})

    @pytest.mark.parametrize(
        ("facts", "code"),
        [
            ({"exchange_rate": 2}, "exchange_rate_not_needed"),
            ({"{party}_external_id": "somebody else"}, "reference_mismatch"),
        ],
    )
    def test_a_rate_in_base_and_another_party_are_refused_for_documents_payments_and_credits(
        self, side: Side, facts: Record, code: str
    ) -> None:
        for path, body in (
            (side.trade.path, side.body()),
            (side.trade.payments, side.payment_body()),
            (side.trade.credits, side.credit_body()),
        ):
            given = {**body, **side.trade.named(facts)}
            assert side.ledger.refused("POST", path, json=given) == (422, code)

    def test_an_archived_account_takes_no_line(self, side: Side) -> None:
        code = f"{side.trade.line}.99"
        income = {"account_type": "revenue", "account_subtype": "revenue"}
        side.made(CHART, {"code": code, "name": "Old income", **income})
        side.api.delete(f"{CHART}{code}/")
        body = side.body(line(account_identifier=account(code)))
        fault = side.ledger.refused("POST", side.trade.path, json=body)
        assert fault == (409, "account_archived")

    def test_a_number_is_taken_once(self, side: Side) -> None:
        number = {side.trade.number: "A-1"}
        side.draft(**number)
        body = side.trade.body(side.somebody(), **number, **{side.trade.moment: side.trade.at})
        fault = side.ledger.refused("POST", side.trade.path, json=body)
        assert fault == (409, f"duplicate_{side.trade.noun}_number")

    def test_a_locked_period_takes_drafts_and_the_day_after_it_documents(self, side: Side) -> None:
        with side.ledger.locked("2025-03-31"):
            draft = side.draft(**{side.trade.dated: "2025-03-31"})
            after = side.open(**side.trade.on("2025-04-01"))
        assert (draft["status"], after["status"]) == ("draft", side.trade.opened)


class TestRefusalsOfCreateInvoice(RefusingToCreate):
    trade = SALES


class TestRefusalsOfCreateBill(RefusingToCreate):
    trade = PURCHASES

    @pytest.mark.parametrize("facts", [{"vendor_bill_number": ""}, {"payments": []}])
    def test_a_malformed_bill_names_its_field(self, side: Side, facts: Record) -> None:
        [field] = facts
        assert field in faults(side, side.body(**facts))

    def test_a_bill_of_the_same_vendor_comes_once(self, side: Side) -> None:
        first = side.open(vendor_bill_number="GBI-7")
        for given in (
            side.body(vendor_bill_number="GBI-7"),
            side.body(vendor_bill_number="GBI-7", received_at=RECEIVED),
        ):
            fault = side.ledger.refused("POST", side.trade.path, json=given)
            assert fault == (409, "duplicate_bill_number")
        assert side.api.post(side.trade.path, json=given).json()["detail"] == {"id": first["id"]}
        # Another vendor may use the number, and a bill without a number is no duplicate.
        assert side.trade.open(side.shop, side.somebody(), vendor_bill_number="GBI-7")
        assert side.open()["vendor_bill_number"] is None
        side.api.post(side.trade.of(first, "void"))
        assert side.open(vendor_bill_number="GBI-7")["status"] == "received"
