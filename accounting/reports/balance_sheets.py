"""Balance sheets: assets, liabilities and equity on a day, with profits retained automatically."""

from collections.abc import Iterable, Sequence
from datetime import date, timedelta

from accounting.books.businesses import fiscal_year
from accounting.books.chart import SUBTYPES, AccountType
from accounting.books.periods import Period
from accounting.reports.statements import Line, PostedAmounts, Statement, minus, net_profit, plus

SECTIONS = (
    *("non_current_assets", "current_assets", "current_liabilities", "non_current_liabilities"),
    *SUBTYPES[AccountType.EQUITY],
)
EARLIER_YEARS = "Profit of earlier years"
CURRENT_YEAR = "Profit of the current year"
DAY = timedelta(days=1)


def years_before(day: date, fiscal_year_end: date) -> tuple[Period, Period]:
    """Return the period of all earlier fiscal years, and that of the current one up to a day."""
    first, _ = fiscal_year(fiscal_year_end, day)
    return Period(last=first - DAY), Period(first, day)


def periods(days: Iterable[date], fiscal_year_end: date) -> list[Period]:
    """Return the periods from which the balance sheets of some days are read, two for each day."""
    return [
        span for day in days for span in (Period(last=day), years_before(day, fiscal_year_end)[1])
    ]


def balance_sheet(posted: PostedAmounts, days: Sequence[date], fiscal_year_end: date) -> Statement:
    """Build the balance sheets of some days; the lines of the first one refer to its postings.

    If 1000 was earned in earlier years, 200 in this one, and retained earnings hold 300 posted by
    hand, the section has 300 + 1000 + 200. Assets less liabilities are equity.
    """
    held = posted.at(range(0, 2 * len(days), 2))
    current = net_profit(posted.at(range(1, 2 * len(days), 2)))
    earlier = minus(net_profit(held), current)
    before, year = years_before(days[0], fiscal_year_end)
    computed = (
        Line(EARLIER_YEARS, earlier, days=before),
        Line(CURRENT_YEAR, current, days=year),
    )
    parts = {
        name: held.of_subtype(name, *(computed if name == "retained_earnings" else ()))
        for name in SECTIONS
    }
    totals = {name: part.totals for name, part in parts.items()}
    assets = plus(totals["non_current_assets"], totals["current_assets"])
    liabilities = plus(totals["current_liabilities"], totals["non_current_liabilities"])
    summary = {
        "total_assets": assets,
        "total_non_current_assets": totals["non_current_assets"],
        "total_current_assets": totals["current_assets"],
        "total_liabilities": liabilities,
        "total_current_liabilities": totals["current_liabilities"],
        "total_non_current_liabilities": totals["non_current_liabilities"],
        "total_equity": plus(*(totals[name] for name in SUBTYPES[AccountType.EQUITY])),
        "net_assets": minus(assets, liabilities),
    }
    return Statement(parts, summary)
