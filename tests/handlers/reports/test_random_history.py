"""What holds of the reports of any history, on both bases and on any day."""

import random
from datetime import date, timedelta
from itertools import pairwise

import pytest

from tests.builders.reports import booked, report
from tests.builders.trade import PURCHASES, SALES, Record, Trade, line
from tests.partner import Business, Partner

FIRST = date(2024, 11, 1)
DAYS = 240
BASES = ("accrual", "cash")
CASH = ("1000", "1100", "1101", "1110")
BY_HAND = (
    *("1000", "1100", "1101", "1110", "1150", "1400", "1600", "1610", "1650", "2400", "2500"),
    *("3000", "3300", "4000", "4500", "4600", "5000", "6000", "7000", "8000"),
)


class History:
    """A business to which things happen at random, one day after another."""

    def __init__(self, partner: Partner, seed: int) -> None:
        self.chance = random.Random(seed)
        self.shop = partner.business(fiscal_year_end=self.chance.choice(YEAR_ENDS))
        for code, subtype in (("1110", "current_assets"), ("1610", "non_current_assets")):
            parent = "1100" if code == "1110" else "1600"
            body = {"code": code, "name": code, "account_subtype": subtype}
            self.shop.made(f"general-ledger/chart-of-accounts/{parent}/children/", body)
        for name in ("Current account", "Savings"):  # The second one stands on 1101.
            self.shop.made("bank-accounts/", {"display_name": name, "currency": "GBP"})
        self.parties = {SALES: self.shop.customer(), PURCHASES: self.shop.vendor()}
        self.open: dict[Trade, list[Record]] = {SALES: [], PURCHASES: []}
        self.day = FIRST

    def play(self, steps: int) -> None:
        moves = (self.document, self.document, self.payment, self.payment, self.credit, self.entry)
        for _ in range(steps):
            self.day += timedelta(days=self.chance.randint(0, 2 * DAYS // steps))
            self.chance.choice(moves)()
        for trade in (SALES, PURCHASES):
            if self.open[trade]:
                trade.write_off(self.shop, self.chance.choice(self.open[trade]))

    def document(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        lines = [line(self.amount(), tax_rate=self.chance.choice((0, 5, 20))) for _ in "ab"]
        facts = {trade.moment: f"{self.day}T09:00:00Z", **trade.on(str(self.day))}
        body = trade.body(self.parties[trade], *lines, **facts)
        self.open[trade].append(self.shop.made(trade.path, body))

    def payment(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        parts = []
        for document in self.chance.sample(self.open[trade], min(2, len(self.open[trade]))):
            _, left = trade.status_of(self.shop, document)
            if left:
                parts.append(trade.part(document, self.chance.randint(1, left)))
        total = sum(each["amount_cents"] for each in parts) + self.chance.choice((0, 700))
        if total:
            facts = {"payment_date": str(self.day)}
            trade.pay(self.shop, self.parties[trade], total, *parts, **facts)

    def credit(self) -> None:
        trade = self.chance.choice((SALES, PURCHASES))
        amount = self.amount()
        shares = []
        for document in self.open[trade][-1:]:
            _, left = trade.status_of(self.shop, document)
            if left:
                shares.append(trade.share(document, min(left, amount)))
        opened = {trade.moment: f"{self.day}T09:00:00Z"}
        trade.credit(self.shop, self.parties[trade], amount, *shares, **opened)

    def entry(self) -> None:
        taken, given = self.chance.sample(BY_HAND, 2)
        booked(self.shop, str(self.day), taken, given, self.amount())

    def amount(self) -> int:
        return self.chance.randint(1, 99_999)

    def some_days(self, count: int) -> list[str]:
        last = (self.day - FIRST).days
        return sorted(str(FIRST + timedelta(self.chance.randint(0, last))) for _ in range(count))


YEAR_ENDS = ("2000-12-31", "2000-03-31", "2000-02-29", "2000-01-14")


@pytest.fixture(scope="module", params=[1, 2])
def history(acme: Partner, request: pytest.FixtureRequest) -> History:
    history = History(acme, request.param)
    history.play(40)
    return history


def sheet(shop: Business, day: str, basis: str) -> dict[str, int]:
    found = report(shop, "reports/balance-sheet", as_of_date=day, basis=basis)
    summary: dict[str, int] = found["summary"]
    return summary


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
        for first, last in pairwise(history.some_days(8)):
            eve = str(date.fromisoformat(first) - timedelta(days=1))
            profit, grown = (
                {
                    basis: report(
                        history.shop,
                        "reports/profit-and-loss",
                        start_date=first,
                        end_date=last,
                        basis=basis,
                    )["summary"]["net_profit_cents"]
                    for basis in BASES
                },
                {
                    basis: sheet(history.shop, last, basis)["net_assets_cents"]
                    - sheet(history.shop, eve, basis)["net_assets_cents"]
                    for basis in BASES
                },
            )
            assert profit["accrual"] - profit["cash"] == grown["accrual"] - grown["cash"]

    @pytest.mark.parametrize("basis", BASES)
    def test_all_reports_tell_the_same_profit(self, history: History, basis: str) -> None:
        days = {"start_date": str(FIRST), "end_date": str(history.day), "basis": basis}
        shop = history.shop
        profit = report(shop, "reports/profit-and-loss", **days)["summary"]["net_profit_cents"]
        flow = report(shop, "reports/cash-flow", **days)["operating_activities"]
        summary = report(shop, "insights/financial-summary", **days)["summary"]
        spent = report(shop, "insights/expense-breakdown", **days)["total_expenses_cents"]
        assert flow["net_profit_cents"] == summary["net_profit_cents"] == profit
        assert summary["total_revenue_cents"] - spent == profit
