"""A month of March, worked by hand, in every report."""

import pytest

from tests.builders.reports import report, values, worked_march
from tests.builders.trade import SALES
from tests.partner import Business, Partner

MARCH = {"start_date": "2026-03-01", "end_date": "2026-03-31"}


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    shop = acme.business()
    worked_march(shop)
    return shop


class TestMarch:
    def test_profit_and_loss(self, shop: Business) -> None:
        found = report(shop, "reports/profit-and-loss", **MARCH)
        assert found["summary"] == {
            "net_revenue_cents": 100_000,
            "total_operating_income_cents": 100_000,
            "gross_profit_cents": 100_000,
            "total_operating_expenses_cents": 5_000,
            "operating_profit_cents": 95_000,
            "profit_before_tax_cents": 95_000,
            "net_profit_cents": 95_000,
        }
        assert values(found["revenue"]) == {"4000": 100_000}
        assert values(found["operating_expenses"]) == {"6000": 5_000}

    def test_cash_flow(self, shop: Business) -> None:
        found = report(shop, "reports/cash-flow", **MARCH)
        operating = found["operating_activities"]
        assert operating["net_profit_cents"] == 95_000
        assert values(operating["non_cash_adjustments"]) == {"1650": 5_000}
        changes = operating["working_capital_changes"]
        assert values(changes) == {"1200": -70_000, "2200": 20_000}
        assert found["summary"] == {
            "net_cash_from_operating_cents": 50_000,
            "net_cash_from_investing_cents": -60_000,
            "net_cash_from_financing_cents": 100_000,
            "net_change_in_cash_cents": 90_000,
            "opening_cash_cents": 0,
            "closing_cash_cents": 90_000,
        }
        assert found["cash_reconciliation"]["actual_closing_cents"] == 90_000
        assert found["cash_reconciliation"]["reconciles"] is True

    def test_balance_sheet(self, shop: Business) -> None:
        found = report(shop, "reports/balance-sheet", as_of_date="2026-03-31")
        assert values(found["current_assets"]) == {"1100": 90_000, "1200": 70_000}
        assert values(found["non_current_assets"]) == {"1600": 60_000, "1650": -5_000}
        assert values(found["retained_earnings"]) == {"Profit of the current year": 95_000}
        summary = found["summary"]
        assert summary["total_assets_cents"] == 215_000
        assert summary["total_liabilities_cents"] == 120_000
        assert summary["total_equity_cents"] == summary["net_assets_cents"] == 95_000

    def test_trial_balance(self, shop: Business) -> None:
        found = report(shop, "reports/trial-balance", as_of_date="2026-03-31")
        held = {
            each["account_code"]: (each["debit_cents"], each["credit_cents"])
            for each in found["accounts"]
        }
        assert held == {
            "1100": (90_000, 0),
            "1200": (70_000, 0),
            "1600": (60_000, 0),
            "1650": (0, 5_000),
            "2200": (0, 20_000),
            "2500": (0, 100_000),
            "4000": (0, 100_000),
            "6000": (5_000, 0),
        }
        assert found["total_debits_cents"] == found["total_credits_cents"] == 225_000

    def test_general_ledger(self, shop: Business) -> None:
        found = report(shop, "reports/general-ledger", **MARCH)
        [bank] = [each for each in found["accounts"] if each["account_code"] == "1100"]
        names = ("opening_cents", "debits_cents", "credits_cents", "closing_cents")
        assert [bank[name] for name in names] == [0, 150_000, 60_000, 90_000]
        assert found["lines"] is None

    def test_insights(self, shop: Business) -> None:
        found = report(shop, "insights/financial-summary", **MARCH)
        assert found["summary"] == {
            "total_revenue_cents": 100_000,
            "total_expenses_cents": 5_000,
            "net_profit_cents": 95_000,
        }
        found = report(shop, "insights/expense-breakdown", **MARCH)
        spent = {each["category"]: each["total_cents"] for each in found["categories"]}
        assert spent == {
            "direct_costs": 0,
            "operating_expenses": 5_000,
            "finance_costs": 0,
            "income_tax": 0,
        }
        assert found["total_expenses_cents"] == 5_000


class TestMarchOnCash:
    CASH = {**MARCH, "basis": "cash"}  # noqa: RUF012 - A constant of these tests.

    def test_profit_and_loss(self, shop: Business) -> None:
        found = report(shop, "reports/profit-and-loss", **self.CASH)
        assert (found["basis"], values(found["revenue"])) == ("cash", {"4000": 41_667})
        assert found["summary"]["net_profit_cents"] == 36_667

    def test_cash_flow(self, shop: Business) -> None:
        found = report(shop, "reports/cash-flow", **self.CASH)
        operating = found["operating_activities"]
        assert operating["net_profit_cents"] == 36_667
        assert values(operating["non_cash_adjustments"]) == {"1650": 5_000}
        assert values(operating["working_capital_changes"]) == {"2200": 8_333}
        assert found["summary"] == {
            "net_cash_from_operating_cents": 50_000,
            "net_cash_from_investing_cents": -60_000,
            "net_cash_from_financing_cents": 100_000,
            "net_change_in_cash_cents": 90_000,
            "opening_cash_cents": 0,
            "closing_cash_cents": 90_000,
        }
        assert found["cash_reconciliation"]["reconciles"] is True

    def test_profits_differ_by_as_much_as_net_assets(self, shop: Business) -> None:
        sheets = {
            basis: report(shop, "reports/balance-sheet", as_of_date="2026-03-31", basis=basis)
            for basis in ("accrual", "cash")
        }
        assets = {basis: each["summary"]["net_assets_cents"] for basis, each in sheets.items()}
        assert assets["accrual"] - assets["cash"] == 95_000 - 36_667 == 70_000 - 11_667
        assert values(sheets["cash"]["current_assets"]) == {"1100": 90_000}
        assert values(sheets["cash"]["current_liabilities"]) == {"2200": 8_333}

    def test_an_allocation_released_in_april_counts_back_in_april(self, acme: Partner) -> None:
        shop = acme.business(accounting_method="cash")
        _, payment = worked_march(shop)
        at_first = report(shop, "reports/profit-and-loss", **MARCH)
        # The allocation is released today, which is later than March.
        SALES.change(shop, payment, allocations=[])
        assert report(shop, "reports/profit-and-loss", **MARCH) == at_first
        later = {"start_date": "2026-04-01"}
        found = report(shop, "reports/profit-and-loss", **later)
        assert (found["basis"], values(found["revenue"])) == ("cash", {"4000": -41_667})
        operating = report(shop, "reports/cash-flow", **later)["operating_activities"]
        changes = values(operating["working_capital_changes"])
        assert changes == {"2100": 50_000, "2200": -8_333}
