"""Values that are accepted and look wrong: due days before the document, and small tax rates."""

from typing import Any

import pytest

from tests.builders.openings import opened
from tests.builders.trade import PURCHASES, SALES, Record, line
from tests.handlers.trade.side import Side
from tests.partner import Business


def told(record: Record, field: str) -> list[str]:
    return [each["message"] for each in record["warnings"] if each["field"] == field]


class UnlikelyValues:
    @pytest.mark.parametrize(
        ("due", "issued", "at", "before"),
        [
            ("2025-02-28T23:00:00Z", None, "2025-03-01T00:00:00Z", "{moment}"),
            ("2025-03-01T00:00:00Z", None, "2025-03-01T23:00:00Z", ""),
            ("2025-02-28T23:00:00Z", "2025-03-01", "2025-02-01T00:00:00Z", "{dated}"),
            # A document that is entered later than it is due, as when history is imported.
            ("2025-03-15T00:00:00Z", "2025-03-01", "2025-06-01T00:00:00Z", ""),
        ],
        ids=["sent", "same day", "issued", "history"],
    )
    def test_a_due_day_before_the_document_is_warned_of(
        self, side: Side, due: str, issued: str | None, at: str, before: str
    ) -> None:
        days = {side.trade.dated: issued, side.trade.moment: at, "due_at": due}
        made = side.open(**days)
        expected = [f"is before {before.format(**side.trade.words)}"] if before else []
        assert told(made, "due_at") == told(side.read(made), "due_at") == expected

    def test_a_due_day_of_a_draft_is_compared_with_its_date(self, side: Side) -> None:
        made = side.draft(**{side.trade.dated: "2025-03-02", "due_at": "2025-03-01T00:00:00Z"})
        assert told(made, "due_at") == [f"is before {side.trade.dated}"]
        assert told(side.draft(due_at="2025-03-01T00:00:00Z"), "due_at") == []

    @pytest.mark.parametrize(
        ("rate", "message"),
        [
            (0.2, "is 0.2 % on line 2; did you mean 20?"),
            ("0.175", "is 0.175 % on line 2; did you mean 17.5?"),
            (0.99, "is 0.99 % on line 2; did you mean 99?"),
        ],
    )
    def test_a_tax_rate_below_one_is_warned_of(self, side: Side, rate: Any, message: str) -> None:
        made = side.open(line_items=[line(100), line(100, tax_rate=rate)])
        assert message in told(made, "line_items.1.tax_rate")
        assert message in told(side.read(made), "line_items.1.tax_rate")

    @pytest.mark.parametrize("rate", [0, 1, 20, 100])
    def test_other_tax_rates_are_likely(self, side: Side, rate: int) -> None:
        made = side.open(line_items=[line(100, tax_rate=rate)])
        assert not [each for each in told(made, "line_items.0.tax_rate") if "mean" in each]

    def test_a_small_rate_of_a_tax_code_is_known(self, side: Side) -> None:
        direction = "sales" if side.trade.sells else "purchases"
        code = f"SMALL-{direction}"
        body = {"code": code, "name": "Surcharge", "direction": direction, "treatment": "standard"}
        side.shop.made("tax-codes/", {**body, "rates": [{"rate": 0.5}]})
        made = side.open(line_items=[line(1_000, tax_code=code), line(1_000, tax_rate=0.5)])
        assert [each["tax_rate"] for each in made["line_items"]] == [0.5, 0.5]
        assert made["warnings"] == []


class TestOnSales(UnlikelyValues):
    trade = SALES


class TestOnPurchases(UnlikelyValues):
    trade = PURCHASES


class TestOpening:
    def test_items_of_an_opening_are_warned_of(self, own_shop: Business) -> None:
        due = {"due_at": "2024-10-01T00:00:00Z", "outstanding_amount_cents": 100}
        invoice = {"invoice_number": "old-1", "issue_date": "2024-11-03", **due}
        bill = {"bill_date": "2024-11-03", **due}
        likely = {**due, "due_at": "2024-12-01T00:00:00Z"}
        customer, vendor = own_shop.customer(), own_shop.vendor()
        named = {"customer_id": customer["id"]}
        made = opened(
            own_shop,
            invoices=[{**invoice, **named, **likely}, {**invoice, **named, "invoice_number": "2"}],
            bills=[{**bill, "vendor_id": vendor["id"]}],
        )
        expected = [
            {"field": "invoices.1.due_at", "message": "is before issue_date"},
            {"field": "bills.0.due_at", "message": "is before bill_date"},
        ]
        shown = own_shop.api.get(f"opening-balances/{made['id']}/").json()
        assert made["warnings"] == shown["warnings"] == expected
