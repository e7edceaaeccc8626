"""A deposit that the final invoice or bill deducts, in returns and reports on both bases.

All figures are worked out by hand: a deposit of 30.00 and 6.00 tax, then 100.00 less the 30.00 at
20 %, which is 70.00 and 14.00, paid in two steps.
"""

from typing import Any

import pytest

from tests.builders.tax_returns import boxes, codes, drawn_up, explain_themselves
from tests.builders.taxed_quarters import bought, of, paid, sold
from tests.builders.trade import Record
from tests.partner import Business

DEPOSITS = {"type": "AccountCode", "code": "2400"}


def deposit(code: str, net: int) -> Record:
    return {**of(code, net), "account_identifier": DEPOSITS}


def figures(books: Business, scheme: str, code: str, quarter: int = 1) -> dict[str, int]:
    draft = drawn_up(books, quarter, scheme)
    explain_themselves(books, draft)
    return codes(draft["codes"]).get(code, {})


def revenue(books: Business, basis: str) -> int:
    days = {"start_date": "2025-01-01", "end_date": "2025-03-31"}
    answer = books.api.get("reports/profit-and-loss/", params={**days, "basis": basis})
    summary: dict[str, int] = answer.json()["summary"]
    return summary["net_revenue_cents"]


class TestDeductedDeposit:
    def test_is_declared_once_on_both_schemes(self, books: Business) -> None:
        advance = sold(books, "2025-01-10", deposit("S20", 3_000))
        paid(books, advance, 3_600, "2025-01-10")
        final = sold(books, "2025-02-10", of("S20", 10_000), deposit("S20", -3_000))
        assert (final["tax_total"], final["total_amount"]) == (1_400, 8_400)
        goods, deducted = final["line_items"]
        assert (deducted["subtotal"], deducted["sales_taxes_total"]) == (-3_000, -600)
        assert goods["sales_taxes_total"] == 2_000
        assert figures(books, "accrual", "S20") == {"net": 10_000, "output": 2_000}
        assert figures(books, "cash", "S20") == {"net": 3_000, "output": 600}
        assert (revenue(books, "accrual"), revenue(books, "cash")) == (10_000, 0)
        paid(books, final, 4_200, "2025-03-10")
        assert figures(books, "cash", "S20") == {"net": 6_500, "output": 1_300}
        assert revenue(books, "cash") == 5_000
        paid(books, final, 4_200, "2025-03-11")
        assert figures(books, "cash", "S20") == {"net": 10_000, "output": 2_000}
        assert revenue(books, "cash") == revenue(books, "accrual") == 10_000
        assert boxes(drawn_up(books, 1, "cash")) == boxes(drawn_up(books))

    def test_of_a_vendor_is_recovered_once(self, books: Business) -> None:
        advance = bought(books, "2025-01-10", deposit("P20", 3_000))
        paid(books, advance, 3_600, "2025-01-10")
        final = bought(books, "2025-02-10", of("P20", 10_000), deposit("P20", -3_000))
        paid(books, final, 4_200, "2025-03-10")
        assert figures(books, "cash", "P20") == {"net": 6_500, "input": 1_300}
        assert figures(books, "accrual", "P20") == {"net": 10_000, "input": 2_000}

    def test_that_is_the_whole_price_leaves_nothing_to_pay(self, books: Business) -> None:
        advance = sold(books, "2025-01-10", deposit("S20", 10_000))
        paid(books, advance, 12_000, "2025-01-10")
        final = sold(books, "2025-02-10", of("S20", 10_000), deposit("S20", -10_000))
        assert (final["status"], final["total_amount"]) == ("paid", 0)
        for scheme in ("accrual", "cash"):
            assert figures(books, scheme, "S20") == {"net": 10_000, "output": 2_000}
            assert revenue(books, scheme) == 10_000

    def test_of_self_assessed_goods_lowers_the_tax_owed(self, books: Business) -> None:
        bill = bought(books, "2025-01-10", of("PA20", 10_000), of("PA20", -3_000))
        owed = [each["self_assessed_total"] for each in bill["line_items"]]
        assert owed == [2_000, -600]
        for scheme in ("accrual", "cash"):
            told = {"net": 7_000, "output": 1_400, "input": 1_400}
            assert figures(books, scheme, "PA20") == told

    @pytest.mark.parametrize("facts", [{}, {"amounts_include_tax": True}])
    def test_more_than_the_price_is_refused(self, books: Business, facts: dict[str, Any]) -> None:
        customer = books.customer()
        body = {
            "customer_id": customer["id"],
            "line_items": [of("S20", 1_000), of("S0", 500), of("S20", -1_001)],
            **facts,
        }
        answer = books.api.post("invoices/", json=body)
        assert (answer.status_code, answer.json()["error_code"]) == (422, "negative_amount")
        assert answer.json()["detail"] == {"field": "line_items.2", "amount": -1}
