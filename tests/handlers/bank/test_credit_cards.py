"""Credit cards and overdrafts: bank accounts of a current liability."""

from typing import Any

import pytest

from tests.bookkeeping import Ledger
from tests.builders.bank import BILL_PAYMENT, Bank, open_account
from tests.builders.purchases import bill_paid
from tests.builders.reports import booked, report, values
from tests.builders.trade import Record
from tests.partner import Business

ACCOUNTS = "general-ledger/chart-of-accounts/"
QUARTER = {"start_date": "2025-01-01", "end_date": "2025-03-31"}


def debt(shop: Business, code: str, **facts: Any) -> Record:
    """Create an account of a current liability."""
    kind = {"account_type": "liability", "account_subtype": "current_liabilities", **facts}
    return shop.made(ACCOUNTS, {"code": code, "name": f"Card {code}", **kind})


@pytest.fixture(scope="module")
def card(shop: Business, current: Bank) -> Bank:
    """A credit card over a current liability of its own."""
    debt(shop, "2050")
    return Bank(shop, open_account(shop, display_name="Company card", account="2050"))


class TestCreditCard:
    def test_a_quarter_is_right_on_every_report(
        self, shop: Business, ledger: Ledger, vendor: Record, current: Bank, card: Bank
    ) -> None:
        booked(shop, "2025-03-01", "1100", "3000", 100_000)
        card.categorize(card.line(-12_000, date="2025-03-05"), "6000")
        bill = bill_paid(shop, vendor, 30_000, payment_date="2025-03-10")
        card.match(card.line(-30_000, date="2025-03-11"), BILL_PAYMENT, bill)
        card.categorize(card.line(2_000, date="2025-03-12"), "6000")
        out = current.line(-25_000, date="2025-03-25")
        current.transfer(out, card)
        card.done(
            card.line(25_000, date="2025-03-26"),
            "match",
            {"target_type": "transfer", "target_id": out["id"]},
        )
        card.categorize(card.line(-500, date="2025-03-31"), "6300")

        # 120.00 and 300.00 spent, 20.00 and 250.00 paid back, 5.00 charged: 155.00 are owed.
        assert (shop.balance("2050"), shop.balance("1100")) == (15_500, 75_000)
        sheet = report(shop, "reports/balance-sheet", as_of_date="2025-03-31")
        assert values(sheet["current_assets"]) == {"1100": 75_000, "1250": 30_000}
        assert values(sheet["current_liabilities"]) == {"2050": 15_500}
        assert sheet["summary"]["net_assets_cents"] == 89_500
        flow = report(shop, "reports/cash-flow", **QUARTER)
        # 750.00 at the bank less 155.00 owed on the card; the bill is paid in advance.
        assert flow["operating_activities"]["net_profit_cents"] == -10_500
        assert values(flow["operating_activities"]["working_capital_changes"]) == {"1250": -30_000}
        assert flow["summary"]["closing_cash_cents"] == 59_500
        assert flow["cash_reconciliation"]["actual_closing_cents"] == 59_500
        statement = card.reconcile("2025-03-31", 15_500)
        assert (statement["status"], statement["difference_cents"]) == ("open", 31_000)
        statement = card.closed("2025-03-31", -15_500)
        assert statement["ledger_balance_cents"] == -15_500
        assert (statement["lines_without_money"], statement["money_without_lines"]) == ([], [])
        assert current.closed("2025-03-31", 75_000)

    @pytest.mark.parametrize(
        ("code", "subtype"), [("2590", "non_current_liabilities"), ("3090", "reserves")]
    )
    def test_no_other_debt_is_at_a_bank(
        self, shop: Business, ledger: Ledger, code: str, subtype: str
    ) -> None:
        kind = "equity" if subtype == "reserves" else "liability"
        debt(shop, code, account_type=kind, account_subtype=subtype)
        body = {"display_name": "No", "account": code}
        refused = ledger.refused("POST", "bank-accounts/", json=body)
        assert refused == (422, "account_type_mismatch")

    @pytest.mark.parametrize("code", ["2200", "2210", "2230"])
    def test_an_account_of_taxes_is_no_card(self, ledger: Ledger, code: str) -> None:
        body = {"display_name": "No", "account": code}
        refused = ledger.refused("POST", "bank-accounts/", json=body)
        assert refused == (422, "account_type_mismatch")

    def test_a_control_account_is_no_card(self, ledger: Ledger) -> None:
        body = {"display_name": "No", "account": "2000"}
        assert ledger.refused("POST", "bank-accounts/", json=body) == (422, "control_account")
