"""Properties of the reports of a random history, on both bases and on any day."""

from collections import Counter
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest

from tests.builders.reports import report
from tests.handlers.reports.histories import FIRST, TAGS, History
from tests.partner import Business, Partner

BASES = ("accrual", "cash")
CASH = ("1000", "1100", "1101", "1110")


@pytest.fixture(scope="module", params=[1, 2])
def history(acme: Partner, request: pytest.FixtureRequest) -> History:
    history = History(acme, request.param)
    history.play(60)
    return history


def sheet(shop: Business, day: str, basis: str) -> dict[str, int]:
    found = report(shop, "reports/balance-sheet", as_of_date=day, basis=basis)
    summary: dict[str, int] = found["summary"]
    return summary


def moved(shop: Business, **asked: Any) -> dict[str, int]:
    """Return debits less credits of each account in the general ledger."""
    found = report(shop, "reports/general-ledger", **asked)["accounts"]
    return {e["account_code"]: e["debits_cents"] - e["credits_cents"] for e in found}


class TestHistory:
    @pytest.mark.parametrize("basis", BASES)
    def test_assets_less_liabilities_are_equity_on_every_day(
        self, history: History, basis: str
    ) -> None:
        for day in [*history.some_days(12), str(history.day), "2199-12-31"]:
            summary = sheet(history.shop, day, basis)
            assert summary["total_equity_cents"] == summary["net_assets_cents"], day
            found = report(history.shop, "reports/trial-balance", as_of_date=day, basis=basis)
            assert found["total_debits_cents"] == found["total_credits_cents"], day

    @pytest.mark.parametrize("basis", BASES)
    def test_cash_flow_is_what_the_cash_accounts_moved(self, history: History, basis: str) -> None:
        for first, last in pairwise(history.some_days(8)):
            days = {"start_date": first, "end_date": last, "basis": basis}
            found = report(history.shop, "reports/cash-flow", **days, interval="month")
            proof, summary = found["cash_reconciliation"], found["summary"]
            assert proof["reconciles"] is True, days
            assert summary["closing_cash_cents"] == proof["actual_closing_cents"]
            ledger = report(history.shop, "reports/general-ledger", **days)["accounts"]
            held = [each["closing_cents"] for each in ledger if each["account_code"] in CASH]
            assert sum(held) == proof["actual_closing_cents"], days
            moved = [column["summary"]["net_change_in_cash_cents"] for column in found["columns"]]
            assert sum(moved) == summary["net_change_in_cash_cents"]

    @pytest.mark.parametrize("basis", BASES)
    def test_columns_add_up_to_the_whole(self, history: History, basis: str) -> None:
        first, *_, last = history.some_days(6)
        days = {"start_date": first, "end_date": last, "basis": basis}
        for interval in ("month", "quarter", "year"):
            found = report(history.shop, "reports/profit-and-loss", **days, interval=interval)
            for name, amount in found["summary"].items():
                assert sum(each["summary"][name] for each in found["columns"]) == amount
            for section in ("revenue", "direct_costs", "operating_expenses"):
                for each in found[section]["line_items"]:
                    assert sum(each["column_values"]) == each["value_cents"]

    def test_profits_differ_by_as_much_as_net_assets(self, history: History) -> None:
        shop = history.shop
        for first, last in pairwise(history.some_days(8)):
            eve = str(date.fromisoformat(first) - timedelta(days=1))
            profit, grown = Counter[str](), Counter[str]()
            for basis in BASES:
                days = {"start_date": first, "end_date": last, "basis": basis}
                found = report(shop, "reports/profit-and-loss", **days)
                profit[basis] = found["summary"]["net_profit_cents"]
                grown[basis] = sheet(shop, last, basis)["net_assets_cents"]
                grown[basis] -= sheet(shop, eve, basis)["net_assets_cents"]
            assert profit["accrual"] - profit["cash"] == grown["accrual"] - grown["cash"]

    @pytest.mark.parametrize("basis", BASES)
    def test_tags_and_untagged_amounts_add_up_to_the_report(
        self, history: History, basis: str
    ) -> None:
        """Add up the tags and the untagged amounts; no document of the history has two tags."""
        assert any(
            len(each["allocations"]) > 1
            and any(paid["status"] == "completed" for paid in each["vendor_refund_payments"])
            for each in history.shop.api.get("vendor-refunds/").json()["results"]
        )
        cuts = [{"untagged": True}, *({"tag": tag} for tag in TAGS)]
        for first, last in pairwise(history.some_days(6)):
            days = {"start_date": first, "end_date": last, "basis": basis}
            parts, whole = Counter[str](), Counter(moved(history.shop, **days))
            for cut in cuts:
                parts.update(moved(history.shop, **days, **cut))
            assert (+parts, -parts) == (+whole, -whole), days

    @pytest.mark.parametrize("basis", BASES)
    def test_all_reports_have_the_same_profit(self, history: History, basis: str) -> None:
        days = {"start_date": str(FIRST), "end_date": str(history.day), "basis": basis}
        shop = history.shop
        profit = report(shop, "reports/profit-and-loss", **days)["summary"]["net_profit_cents"]
        flow = report(shop, "reports/cash-flow", **days)["operating_activities"]
        summary = report(shop, "insights/financial-summary", **days)["summary"]
        spent = report(shop, "insights/expense-breakdown", **days)["total_expenses_cents"]
        assert flow["net_profit_cents"] == summary["net_profit_cents"] == profit
        assert summary["total_revenue_cents"] - spent == profit
