"""Histories and refusals of bodies that name records by external id only.

`tests/contract/test_external_names.py` compares each field with that for the id.
"""

from typing import Any

import pytest

from tests.builders.trade import PURCHASES, SALES, Record, line
from tests.handlers.trade.side import Side
from tests.partner import Partner


def part(side: Side, external_id: str, amount: int, field: str = "amount_cents") -> Record:
    """Return the allocation to a document by its external id."""
    return {f"{side.trade.noun}_external_id": external_id, field: amount}


def refusal(side: Side, path: str, body: Record) -> Record:
    """Return a refusal without the id of its request."""
    answer = side.api.post(path, json=body)
    assert answer.status_code in (400, 409, 422), answer.text
    told: Record = answer.json()
    return {name: each for name, each in told.items() if name != "request_id"}


class ExternalNames:
    def test_a_history_is_created_without_an_id(self, side: Side) -> None:
        trade, party = side.trade, f"{side.trade.party}_external_id"
        side.made(trade.parties, {"external_id": "somebody", "company_name": "Somebody"})
        opened: Record = {trade.moment: trade.at, "external_id": "first"}
        lines = [{"description": "Beans", "quantity": 1, "unit_price": 1_000}]
        document = side.made(trade.path, {party: "somebody", "line_items": lines, **opened})
        money = side.payment_body(700, external_id="money", allocations=[part(side, "first", 600)])
        del money[f"{trade.party}_id"]
        side.made(trade.payments, {**money, party: "somebody"})
        credit = {
            party: "somebody",
            "external_id": "returned",
            trade.moment: trade.at,
            f"source_{trade.noun}_external_id": "first",
            "line_items": [{"amount": 300}],
            "allocations": [part(side, "first", 250, "amount")],
        }
        shown = side.made(trade.credits, credit)
        assert shown[f"source_{trade.noun}_id"] == document["id"]
        assert side.status_of(document) == ("partially_paid", 150)
        self.refund(side)

    def refund(self, side: Side) -> None:
        """Refund what is left of the payment and of the credit, 100 and 50."""
        raise NotImplementedError

    def test_a_document_named_twice_is_refused_by_the_field_that_was_sent(self, side: Side) -> None:
        document = side.open(1_000, external_id="twice")
        parts = [side.trade.part(document, 100), part(side, "twice", 100)]
        told = refusal(side, side.trade.payments, side.payment_body(allocations=parts))
        field = f"allocations.1.{side.trade.noun}_external_id"
        assert [*told["detail"]["field_errors"]] == [field]
        assert told["message"].startswith(f"{field} repeats")

    def test_a_rule_refuses_as_it_does_by_id(self, side: Side) -> None:
        document = side.open(1_000, external_id="too much")
        refusals = [
            refusal(side, side.trade.payments, side.payment_body(2_000, allocations=[each]))
            for each in (side.trade.part(document, 1_001), part(side, "too much", 1_001))
        ]
        name = f"{side.trade.noun}_id"
        by_id, by_name = refusals
        assert by_name["error_code"] == "allocation_exceeds_outstanding"
        assert by_name["detail"].keys() == by_id["detail"].keys()
        assert str(by_name) == str(by_id).replace(f".{name}", f".{side.trade.noun}_external_id")

    def test_a_record_of_another_business_is_unknown(self, side: Side, acme: Partner) -> None:
        elsewhere = acme.business()
        side.trade.open(elsewhere, side.trade.somebody(elsewhere), external_id="elsewhere")
        body = side.payment_body(allocations=[part(side, "elsewhere", 100)])
        told = refusal(side, side.trade.payments, body)
        assert told["error_code"] == "reference_not_found"
        assert told["detail"]["reference"] == "elsewhere"

    def test_a_repeat_returns_the_record_though_the_name_is_another_by_now(
        self, side: Side
    ) -> None:
        document = side.open(1_000, external_id="before")
        body = side.payment_body(external_id="once", allocations=[part(side, "before", 1_000)])
        first = side.made(side.trade.payments, body)["payment"]
        again = side.api.post(side.trade.payments, json=body)
        assert (again.status_code, again.json()["payment"]["id"]) == (200, first["id"])
        assert again.json()["payment"]["warnings"] == []
        renamed = side.api.patch(side.trade.of(document), json={"external_id": "after"})
        assert renamed.is_success, renamed.text
        again = side.api.post(side.trade.payments, json=body)
        assert (again.status_code, again.json()["payment"]["id"]) == (200, first["id"])
        field = f"allocations.0.{side.trade.noun}_external_id"
        assert [each["field"] for each in again.json()["payment"]["warnings"]] == [field]

    def test_an_account_of_a_line_is_named_by_its_external_id(self, side: Side) -> None:
        kind, other = ("revenue", "6000") if side.trade.sells else ("expense", "4000")
        chart = "general-ledger/chart-of-accounts/"
        accounts = side.api.get(chart, params={"page_size": 100}).json()["results"]
        like = next(each for each in accounts if each["account_type"] == kind)
        facts = {name: like[name] for name in ("account_type", "account_subtype")}
        body = {"code": f"{other}1", "name": "Named", "external_id": other, **facts}
        made = side.made(chart, body)  # Its external id is the code of another account.
        named = {"type": "AccountExternalId", "external_id": other}
        document = side.draft(line(account_identifier=named))
        used = document["line_items"][0]["account_identifier"]
        assert used == {"type": "AccountId", "id": made["id"]}
        unknown = {**named, "external_id": "unknown"}
        told = refusal(side, side.trade.path, side.body(line(account_identifier=unknown)))
        assert told["error_code"] == "reference_not_found"
        assert told["detail"]["reference"] == "unknown"
        assert told["detail"]["field"] == "line_items.0.account_identifier.external_id"
        for wrong in ({"type": "AccountExternalId"}, {**named, "type": "AccountCode"}):
            told = refusal(side, side.trade.path, side.body(line(account_identifier=wrong)))
            assert [*told["detail"]["field_errors"]] == ["line_items.0.account_identifier.type"]

    def test_external_ids_are_compared_exactly(self, side: Side) -> None:
        side.open(1_000, external_id="Exact")
        for name in ("exact", "Exact ", "Exac_"):
            body = side.payment_body(allocations=[part(side, name, 100)])
            assert refusal(side, side.trade.payments, body)["detail"]["reference"] == name


class TestExternalNamesInSales(ExternalNames):
    trade = SALES

    def refund(self, side: Side) -> None:
        for name, field, amount in (
            ("money", "payment_external_id", 100),
            ("returned", "credit_external_id", 50),
            ("first", "invoice_external_id", 600),
        ):
            refund = side.made("invoices/refunds/", {field: name, "external_id": f"of {name}"})
            assert refund["refunded_amount"] == amount
        told = refusal(side, "invoices/refunds/", {"invoice_external_id": "first"})
        assert told["error_code"] == "refund_exceeds_refundable"
        assert "invoice_external_id" not in told["detail"]

    @pytest.mark.parametrize("first", [True, False])
    def test_items_of_a_payout_are_named_in_any_order(self, side: Side, first: bool) -> None:
        names = ["card 1", "card 2"] if first else ["card 2", "card 1"]
        names = [f"{each} {first}" for each in names]
        by_card: Record = {"payment_method": "credit_card"}
        ids = {side.pay(500, external_id=each, **by_card)["id"]: each for each in sorted(names)}
        body: dict[str, Any] = {
            "processor": "stripe",
            "paid_out_amount_cents": 1_000,
            "payment_external_ids": [*names, names[0]],
        }
        wrong = refusal(side, "payouts/", {**body, "payment_ids": [*ids][:1]})
        assert wrong["error_code"] == "reference_mismatch"
        assert wrong["detail"]["field"] == "payment_external_ids"
        assert wrong["detail"]["external_id"] == ids[[*ids][1]]

        payout = side.made("payouts/", body)
        assert {each["id"] for each in payout["payments"]} == ids.keys()


class TestExternalNamesInPurchases(ExternalNames):
    trade = PURCHASES

    def refund(self, side: Side) -> None:
        items = [
            {"allocation_type": "payment", "bill_payment_external_id": "money"},
            {"allocation_type": "vendor_credit", "vendor_credit_external_id": "returned"},
            {"allocation_type": "bill", "bill_external_id": "first"},
        ]
        body = {
            "vendor_external_id": "somebody",
            "total_amount_cents": 60,
            "currency": "GBP",
            "external_id": "given back",
            "allocations": [{**each, "amount_cents": 20} for each in items],
        }
        shown = side.made("vendor-refunds/payments/", body)
        kinds = [each["allocation_type"] for each in shown["allocations"]]
        assert kinds == ["payment", "vendor_credit", "bill"]
