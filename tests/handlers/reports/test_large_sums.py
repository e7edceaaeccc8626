"""Sums of many of the largest amounts are beyond the integers of JavaScript, and exact."""

from typing import Any

import pytest

from tests.builders.bank import LINES, Bank, open_account
from tests.builders.trade import Record
from tests.partner import Business, Partner

LARGEST, DOCUMENTS = 99_999_999_999_999, 91
SUM = 9_099_999_999_999_909  # 91 times the largest amount; JavaScript is exact to 2^53 - 1.
DAYS = {"start_date": "2025-03-01", "end_date": "2025-03-31"}
LEDGER = "general-ledger/chart-of-accounts/"


@pytest.fixture(scope="module")
def books(acme: Partner) -> Business:
    """A business with 91 invoices of the largest amount, sent and due in March."""
    shop = acme.business()
    buyer = shop.customer(company_name="Large")
    body = {
        "customer_id": buyer["id"],
        "sent_at": "2025-03-10T08:00:00Z",
        "due_at": "2025-03-20T08:00:00Z",
        "line_items": [{"description": "All", "quantity": 1, "unit_price": LARGEST}],
    }
    for _ in range(DOCUMENTS):
        shop.made("invoices/", body)
    return shop


def answered(shop: Business, path: str, **query: Any) -> Record:
    """Return an answer; the client compares it with the contract."""
    answer = shop.api.get(path, params=query)
    assert answer.status_code == 200, answer.text
    found: Record = answer.json()
    return found


class TestSumsOfManyDocuments:
    def test_are_exact_in_accounts(self, books: Business) -> None:
        account = answered(books, f"{LEDGER}1200/")
        assert (account["current_balance"], account["debit_balance"]) == (SUM, SUM)
        newest = answered(books, f"{LEDGER}4000/entries/")["results"][0]
        assert newest["running_balance"] == SUM
        trial = answered(books, "reports/trial-balance/", as_of_date="2025-03-31")
        assert (trial["total_debits_cents"], trial["total_credits_cents"]) == (SUM, SUM)

    def test_are_exact_in_reports(self, books: Business) -> None:
        profit = answered(books, "reports/profit-and-loss/", interval="month", **DAYS)
        assert profit["summary"]["net_profit_cents"] == SUM
        sheet = answered(books, "reports/balance-sheet/", as_of_date="2025-03-31")
        assert sheet["summary"]["net_assets_cents"] == SUM
        aging = answered(books, "insights/ar-aging/", as_of_date="2025-03-31")
        assert aging["total_aging_buckets"]["days_1_30"] == SUM
        assert answered(books, "ar/stats/")["invoices"]["outstanding_cents"] == SUM
        for path in (
            "reports/general-ledger/",
            "reports/cash-flow/",
            "insights/financial-summary/",
        ):
            answered(books, path, **DAYS)

    def test_are_exact_for_a_customer(self, books: Business) -> None:
        [buyer] = answered(books, "customers/")["results"]
        assert buyer["outstanding_balance"] == SUM
        statement = answered(books, f"customers/{buyer['id']}/statement/", **DAYS)
        assert statement["closing_balance_cents"] == SUM

    def test_are_exact_in_bank_statements(self, books: Business) -> None:
        bank = Bank(books, open_account(books))
        line = {"date": "2025-03-12", "amount_cents": LARGEST, "direction": "credit"}
        body = {"bank_account_id": bank.account["id"], "transactions": [line] * DOCUMENTS}
        assert books.api.post(LINES, json=body).json()["imported"] == DOCUMENTS
        assert bank.reconcile("2025-03-31", 0)["lines_without_money_cents"] == SUM
