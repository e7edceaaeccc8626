"""A company over two fiscal years: its reports against figures worked out by hand."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api_server import ApiServer, Databases
from tests.bookkeeping import Ledger
from tests.builders.tax_returns import boxes, codes, explain_themselves
from tests.journeys.worked_company.company import Company, Today
from tests.journeys.worked_company.diary import BEFORE, corrections
from tests.journeys.worked_company.statements import (
    BALANCE_SHEET,
    CASH_FLOW,
    FIRST,
    PAYABLE,
    PROFIT_AND_LOSS,
    QUARTERS,
    RECEIVABLE,
    SECOND,
    SEEN,
    TAGGED,
    VAT,
)


@pytest.fixture(scope="module")
def today() -> Today:
    return Today("2025-01-01")


@pytest.fixture(scope="module")
def own_server(databases: Databases, today: Today) -> Iterator[ApiServer]:
    with ApiServer(databases.clone("worked_company"), clock=today) as server:
        yield server


@pytest.fixture(scope="module")
def company(own_server: ApiServer, today: Today) -> Company:
    worked = Company.founded(own_server.partner("Owner"), today)
    for quarter in (*BEFORE, corrections):
        quarter(worked)
    return worked


def test_the_books_are_those_by_hand(company: Company, own_server: ApiServer) -> None:
    ledger = Ledger(own_server, company.shop)
    ledger.audit()
    assert dict(company.balances("accrual", "2025-01-01", "2026-02-28")) == ledger.balances()


def codes_of(section: dict[str, Any]) -> dict[str, int]:
    """Return the lines of a section by account, computed ones as `earlier` or `current`."""
    lines = section["line_items"]
    return {each["account_code"] or named(each): each["value_cents"] for each in lines}


def named(line: dict[str, Any]) -> str:
    return "earlier" if "earlier" in line["account_name"].lower() else "current"


def sections_of(report: dict[str, Any]) -> dict[str, dict[str, int]]:
    """Return the sections of a report that have lines, after a check of their totals."""
    found = {name: part for name, part in report.items() if is_section(part)}
    for name, part in found.items():
        assert sum(codes_of(part).values()) == part["total_cents"], name
    return {name: codes_of(part) for name, part in found.items() if part["line_items"]}


def is_section(part: Any) -> bool:
    return isinstance(part, dict) and "line_items" in part


def in_cents(amounts: dict[str, int]) -> dict[str, int]:
    return {f"{name}_cents": amount for name, amount in amounts.items()}


@pytest.mark.parametrize(("basis", "end", "now"), PROFIT_AND_LOSS)
class TestStatements:
    def test_profit_and_loss(self, company: Company, basis: str, end: str, now: bool) -> None:
        sections, summary = PROFIT_AND_LOSS[basis, end, now]
        shown = company.shows("reports/profit-and-loss/", **of_year(end), **known(now, basis))
        assert sections_of(shown) == sections
        assert shown["summary"] == in_cents(summary)

    def test_balance_sheet(self, company: Company, basis: str, end: str, now: bool) -> None:
        sections, summary = BALANCE_SHEET[basis, end, now]
        shown = company.shows("reports/balance-sheet/", as_of_date=end, **known(now, basis))
        assert sections_of(shown) == sections
        assert shown["summary"] == in_cents(summary)

    def test_cash_flow(self, company: Company, basis: str, end: str, now: bool) -> None:
        sections, told = CASH_FLOW[basis, end, now]
        shown = company.shows("reports/cash-flow/", **of_year(end), **known(now, basis))
        assert sections_of({**shown, **shown["operating_activities"]}) == sections
        assert shown["operating_activities"]["net_profit_cents"] == told["net_profit"]
        change = told["closing"] - told["opening"]
        assert shown["summary"] == in_cents(
            {
                "net_cash_from_operating": told["operating"],
                "net_cash_from_investing": sum(sections.get("investing_activities", {}).values()),
                "net_cash_from_financing": sum(sections.get("financing_activities", {}).values()),
                "net_change_in_cash": change,
                "opening_cash": told["opening"],
                "closing_cash": told["closing"],
            }
        )
        assert shown["cash_reconciliation"] == {
            "opening_cash_cents": told["opening"],
            "net_change_cents": change,
            "calculated_closing_cents": told["closing"],
            "actual_closing_cents": told["closing"],
            "reconciles": True,
        }


def of_year(end: str) -> dict[str, str]:
    start, end = FIRST if end == FIRST[1] else SECOND
    return {"start_date": start, "end_date": end}


def known(now: bool, basis: str) -> dict[str, str]:
    return {"detail_level": "detailed", **known_of(now, basis)}


@pytest.mark.parametrize("basis", ["accrual", "cash"])
class TestInsights:
    def test_columns_of_quarters(self, company: Company, basis: str) -> None:
        days = {"start_date": FIRST[0], "end_date": SECOND[1]}
        shown = company.shows("reports/profit-and-loss/", **days, basis=basis, interval="quarter")
        profits = {
            each["start_date"]: each["summary"]["net_profit_cents"] for each in shown["columns"]
        }
        assert profits == {first: profit for first, _, _, profit in QUARTERS[basis]}

    def test_financial_summary(self, company: Company, basis: str) -> None:
        days = {"start_date": FIRST[0], "end_date": SECOND[1]}
        shown = company.shows(
            "insights/financial-summary/", **days, basis=basis, granularity="quarter"
        )
        names = ("period_start", "revenue_cents", "expenses_cents", "net_profit_cents")
        assert [tuple(each[name] for name in names) for each in shown["trends"]] == QUARTERS[basis]
        sums = tuple(sum(each[place] for each in QUARTERS[basis]) for place in (1, 2, 3))
        assert tuple(shown["summary"].values()) == sums

    def test_expense_breakdown(self, company: Company, basis: str) -> None:
        sections, _ = PROFIT_AND_LOSS[basis, SECOND[1], True]
        shown = company.shows("insights/expense-breakdown/", **of_year(SECOND[1]), basis=basis)
        costs = {"direct_costs", "operating_expenses", "finance_costs", "income_tax"}
        told = {
            each["category"]: {
                part["account_code"]: part["amount_cents"] for part in each["accounts"]
            }
            for each in shown["categories"]
            if each["accounts"]
        }
        assert told == {name: lines for name, lines in sections.items() if name in costs}
        assert shown["total_expenses_cents"] == sum(sum(each.values()) for each in told.values())

    @pytest.mark.parametrize("now", [True, False], ids=["now", "then"])
    def test_vat_summary(self, company: Company, basis: str, now: bool) -> None:
        by_code, by_box = VAT[basis, now]
        days = {"start_date": FIRST[0], "end_date": SECOND[1]}
        shown = company.shows("reports/vat-summary/", **days, **known_of(now, basis))
        assert codes(shown["codes"]) == by_code
        assert boxes(shown["return_preview"]) == by_box
        explain_themselves(company.shop, shown)
        explain_themselves(company.shop, shown["return_preview"])

    @pytest.mark.parametrize("tag", ["van", "north"])
    def test_tags(self, company: Company, basis: str, tag: str) -> None:
        days = {**of_year(SECOND[1]), **known(True, basis)}
        shown = company.shows("reports/profit-and-loss/", **days, tag=tag)
        assert sections_of(shown) == TAGGED[basis, tag]

    def test_without_a_tag_is_the_rest(self, company: Company, basis: str) -> None:
        days = {**of_year(SECOND[1]), **known(True, basis)}
        path = "reports/profit-and-loss/"
        parts = [company.shows(path, **days, tag=tag) for tag in ("van", "north")]
        parts.append(company.shows(path, **days, untagged=True))
        profit = sum(each["summary"]["net_profit_cents"] for each in parts)
        assert profit == PROFIT_AND_LOSS[basis, SECOND[1], True][1]["net_profit"]


@pytest.mark.parametrize("now", [True, False], ids=["now", "then"])
@pytest.mark.parametrize("basis", ["accrual", "cash"])
@pytest.mark.parametrize("end", [FIRST[1], SECOND[1]])
class TestLedgers:
    def test_trial_balance(self, company: Company, end: str, basis: str, now: bool) -> None:
        year, seen = of_year(end)["start_date"], "9999" if now else SEEN
        ever, earlier = company.balances(basis, "", end, seen), Counter[str]()
        for code, amount in company.balances(basis, "", "2025-09-30", seen).items():
            if year > "2025-09-30" and code >= "4":
                ever[code] -= amount
                earlier["earlier"] += amount
        shown = company.shows("reports/trial-balance/", as_of_date=end, **known_of(now, basis))
        told = {
            each["account_code"] or "earlier": each["debit_cents"] - each["credit_cents"]
            for each in shown["accounts"]
        }
        assert told == {code: amount for code, amount in {**ever, **earlier}.items() if amount}
        assert shown["total_debits_cents"] == shown["total_credits_cents"]

    def test_general_ledger(self, company: Company, end: str, basis: str, now: bool) -> None:
        days, seen = of_year(end), "9999" if now else SEEN
        moved = company.balances(basis, days["start_date"], end, seen)
        shown = company.shows("reports/general-ledger/", **days, **known_of(now, basis))
        told = {
            each["account_code"]: each["debits_cents"] - each["credits_cents"]
            for each in shown["accounts"]
        }
        assert {code: amount for code, amount in told.items() if amount} == dict(moved)


def known_of(now: bool, basis: str) -> dict[str, str]:
    return {"basis": basis} | ({} if now else {"known_at": SEEN})


class TestParties:
    @pytest.mark.parametrize("day", RECEIVABLE)
    def test_aging(self, company: Company, day: str) -> None:
        for path, parties, name, owed in (
            ("insights/ar-aging/", "customers", "customer_name", RECEIVABLE[day]),
            ("insights/ap-aging/", "vendors", "vendor_name", PAYABLE[day]),
        ):
            shown = company.shows(path, as_of_date=day)
            told = {each[name]: late(each["aging_buckets"]) for each in shown[parties]}
            assert told == owed
            total = sum(sum(each.values()) for each in owed.values())
            assert shown["total_outstanding_cents"] == total

    def test_statement(self, company: Company) -> None:
        """Show Blue Door's second year: an invoice, three payments and a final balance of zero."""
        path = f"customers/{company.kept['blue']['id']}/statement/"
        shown = company.shows(path, start_date=SECOND[0], end_date=SECOND[1])
        lines = [
            (each["entry_date"], each["amount_cents"], each["balance_cents"])
            for each in shown["lines"]
        ]
        assert lines == [
            ("2025-10-05", -100_000, 140_000),
            ("2026-01-05", 96_000, 236_000),
            ("2026-01-10", -96_000, 140_000),
            ("2026-02-25", -140_000, 0),
        ]
        assert (shown["opening_balance_cents"], shown["closing_balance_cents"]) == (240_000, 0)


def late(buckets: dict[str, int]) -> dict[str, int]:
    """Return the buckets with an amount, each by one of its two names."""
    return {name: amount for name, amount in buckets.items() if amount and not name[0].isdigit()}
