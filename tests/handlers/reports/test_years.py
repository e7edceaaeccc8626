"""Reports and fiscal years: retained earnings, columns and comparisons."""

import pytest

from tests.builders.reports import booked, refused, report, values
from tests.builders.trade import Record
from tests.partner import Business, Partner

PROFIT, SHEET, CASH = "reports/profit-and-loss", "reports/balance-sheet", "reports/cash-flow"
EARLIER, CURRENT = "Profit of earlier years", "Profit of the current year"
TRIAL, LEDGER = "reports/trial-balance", "reports/general-ledger"


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    """A year to the end of March, sales in three years, and a manual reserve of 300."""
    shop = acme.business(fiscal_year_end="2000-03-31")
    for on, amount in (
        *(("2024-03-31", 400), ("2024-04-01", 600), ("2025-03-31", 10)),
        *(("2025-04-01", 200), ("2025-05-15", 30), ("2025-08-20", 5)),
    ):
        booked(shop, on, "1100", "4000", amount)
    booked(shop, "2025-04-10", "6000", "1100", 70)
    booked(shop, "2024-06-01", "3200", "3300", 300)
    return shop


def net(found: Record) -> int:
    return int(found["summary"]["net_profit_cents"])


def of_each(found: Record, name: str) -> list[int]:
    return [column["summary"][name] for column in found["columns"]]


def amounts(line: Record) -> list[int]:
    names = ("value_cents", "previous_cents", "difference_cents")
    return [line[name] for name in names]


class TestYears:
    def test_a_profit_and_loss_adds_up_any_days_also_across_years(self, shop: Business) -> None:
        found = report(shop, PROFIT, start_date="2024-03-31", end_date="2025-04-10")
        assert net(found) == 400 + 600 + 10 + 200 - 70

    def test_earnings_of_years_are_retained(self, shop: Business) -> None:
        for day, kept in (
            ("2024-03-31", {CURRENT: 400}),
            ("2024-04-01", {EARLIER: 400, CURRENT: 600}),
            ("2025-05-31", {"3300": 300, EARLIER: 1010, CURRENT: 160}),
        ):
            found = report(shop, SHEET, as_of_date=day)
            assert values(found["retained_earnings"]) == kept
            summary = found["summary"]
            assert summary["total_equity_cents"] == summary["net_assets_cents"]
        assert values(found["reserves"]) == {"3200": -300}
        assert values(found["current_assets"]) == {"1100": 1170}

    def test_the_trial_balance_has_the_current_year_and_earlier_ones_in_a_row(
        self, shop: Business
    ) -> None:
        found = report(shop, TRIAL, as_of_date="2025-05-31")
        held = {
            each["account_code"] or each["account_name"]: each["debit_cents"] - each["credit_cents"]
            for each in found["accounts"]
        }
        assert held == {
            **{"1100": 1170, "3200": 300, "3300": -300, "4000": -230, "6000": 70},
            EARLIER: -1010,
        }
        assert found["total_debits_cents"] == found["total_credits_cents"] == 1540

    def test_the_general_ledger_opens_profit_and_loss_with_its_year(self, shop: Business) -> None:
        days = {"start_date": "2025-05-01", "end_date": "2025-05-31"}
        names = ("opening_cents", "debits_cents", "credits_cents", "closing_cents")
        rows = {
            each["account_code"]: [each[name] for name in names]
            for each in report(shop, LEDGER, **days)["accounts"]
        }
        assert rows == {
            "1100": [1140, 30, 0, 1170],
            "3200": [-300, 0, 0, -300],
            "3300": [300, 0, 0, 300],
            "4000": [200, 0, 30, 230],
            "6000": [70, 0, 0, 70],
        }

    def test_a_changed_end_of_the_year_cuts_past_years_anew(self, acme: Partner) -> None:
        shop = acme.business()
        booked(shop, "2024-02-28", "1100", "4000", 100)
        booked(shop, "2024-02-29", "1100", "4000", 20)
        booked(shop, "2024-03-01", "1100", "4000", 3)
        at = {"as_of_date": "2024-03-31"}
        assert values(report(shop, SHEET, **at)["retained_earnings"]) == {CURRENT: 123}
        path = f"/v1/platform/businesses/{shop.id}/"
        changed = acme.api.patch(path, json={"fiscal_year_end": "2024-02-29"})
        assert changed.status_code == 200, changed.text
        retained = values(report(shop, SHEET, **at)["retained_earnings"])
        assert retained == {EARLIER: 120, CURRENT: 3}
        year = {"start_date": "2023-03-01", "end_date": "2024-02-29", "interval": "year"}
        [column] = report(shop, PROFIT, **year)["columns"]
        assert (column["start_date"], column["end_date"]) == ("2023-03-01", "2024-02-29")
        assert column["summary"]["net_profit_cents"] == 120

    def test_without_days_it_is_the_fiscal_year_up_to_today(self, acme: Partner) -> None:
        shop = acme.business(fiscal_year_end="2000-03-31")
        booked(shop, "2025-05-01", "1100", "4000", 70)
        found = report(shop, PROFIT, end_date="2025-05-31")
        assert (found["start_date"], net(found)) == ("2025-04-01", 70)
        assert report(shop, PROFIT, start_date="2020-01-01")["summary"]["net_profit_cents"] == 70
        assert report(shop, SHEET)["summary"]["net_assets_cents"] == 70

    def test_without_entries_all_is_nothing(self, acme: Partner) -> None:
        shop = acme.business()
        for name in (PROFIT, SHEET, CASH):
            found = report(shop, name)
            assert set(found["summary"].values()) == {0}
        assert report(shop, TRIAL)["accounts"] == []


class TestColumns:
    YEAR = {"start_date": "2024-04-15", "end_date": "2025-08-31"}  # noqa: RUF012

    @pytest.mark.parametrize(
        ("interval", "expected"),
        [
            ("year", [10, 165]),
            ("quarter", [0, 0, 0, 10, 160, 5]),
            ("month", [*[0] * 11, 10, 130, 30, 0, 0, 5]),
        ],
    )
    def test_add_up_to_the_whole(self, shop: Business, interval: str, expected: list[int]) -> None:
        found = report(shop, PROFIT, **self.YEAR, interval=interval)
        assert of_each(found, "net_profit_cents") == expected
        assert sum(expected) == net(found)
        [sales] = found["revenue"]["line_items"]
        assert sum(sales["column_values"]) == sales["value_cents"]
        assert sum(found["revenue"]["column_values"]) == found["revenue"]["total_cents"]

    def test_of_a_cash_flow_lead_from_one_to_the_next(self, shop: Business) -> None:
        found = report(shop, CASH, **self.YEAR, interval="quarter")
        opening, closing = (of_each(found, f"{name}_cash_cents") for name in ("opening", "closing"))
        assert opening == [1000, 1000, 1000, 1000, 1010, 1170]
        assert closing == [*opening[1:], 1175]
        assert sum(of_each(found, "net_change_in_cash_cents")) == 175

    @pytest.mark.parametrize("word", ["quarter", "quarterly"])
    def test_are_the_trends_of_the_insights(self, shop: Business, word: str) -> None:
        found = report(shop, "insights/financial-summary", **self.YEAR, granularity=word)
        assert [each["net_profit_cents"] for each in found["trends"]] == [0, 0, 0, 10, 160, 5]
        assert found["summary"] == {
            "total_revenue_cents": 245,
            "total_expenses_cents": 70,
            "net_profit_cents": 175,
        }

    def test_are_months_by_default(self, shop: Business) -> None:
        assert len(report(shop, "insights/financial-summary", **self.YEAR)["trends"]) == 17

    def test_are_at_most_sixty(self, shop: Business) -> None:
        days = {"start_date": "2020-01-01", "end_date": "2025-01-01"}
        assert list(refused(shop, PROFIT, **days, interval="month")) == ["interval"]
        assert list(refused(shop, "insights/financial-summary", **days)) == ["granularity"]


class TestComparisons:
    def test_whole_months_are_held_against_whole_months(self, shop: Business) -> None:
        days = {"start_date": "2025-04-01", "end_date": "2025-05-31"}
        found = report(shop, PROFIT, **days, compare_to="previous_period")
        held = found["comparison"]
        assert (held["start_date"], held["end_date"]) == ("2025-02-01", "2025-03-31")
        assert held["summary"]["net_profit_cents"] == 10
        assert held["difference"]["net_profit_cents"] == 160 - 10
        [sales] = found["revenue"]["line_items"]
        assert amounts(sales) == [230, 10, 220]
        [costs] = found["operating_expenses"]["line_items"]
        assert amounts(costs) == [70, 0, 70]

    def test_a_comparison_has_the_days_of_the_previous_year(self, shop: Business) -> None:
        days = {"start_date": "2025-04-01", "end_date": "2025-04-30"}
        found = report(shop, CASH, **days, compare_to="previous_year")
        held = found["comparison"]
        assert (held["start_date"], held["end_date"]) == ("2024-04-01", "2024-04-30")
        assert held["summary"]["net_change_in_cash_cents"] == 600
        assert held["summary"]["opening_cash_cents"] == 400
        assert held["difference"]["net_change_in_cash_cents"] == 130 - 600
        assert found["operating_activities"]["previous_cents"] == 600

    def test_a_line_that_was_there_and_is_no_more_is_shown(self, shop: Business) -> None:
        days = {"start_date": "2025-05-01", "end_date": "2025-05-31"}
        found = report(shop, PROFIT, **days, compare_to="previous_period")
        [costs] = found["operating_expenses"]["line_items"]
        assert (costs["value_cents"], costs["difference_cents"]) == (0, -70)

    @pytest.mark.parametrize(
        ("to", "day", "assets", "current"),
        [("previous_period", "2025-04-30", 1140, 130), ("previous_year", "2024-05-31", 1000, 600)],
    )
    def test_a_balance_sheet_is_held_against_a_day_and_the_year_of_that(
        self, shop: Business, to: str, day: str, assets: int, current: int
    ) -> None:
        found = report(shop, SHEET, as_of_date="2025-05-31", compare_to=to)
        held = found["comparison"]
        assert (held["as_of_date"], held["summary"]["total_assets_cents"]) == (day, assets)
        assert held["summary"]["total_equity_cents"] == held["summary"]["net_assets_cents"]
        assert held["difference"]["total_assets_cents"] == 1170 - assets
        rows = found["retained_earnings"]["line_items"]
        [this_year] = [each for each in rows if each["account_name"] == CURRENT]
        assert amounts(this_year) == [160, current, 160 - current]
