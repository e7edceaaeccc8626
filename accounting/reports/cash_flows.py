"""Cash flow, from the profit to the change of cash: each other account moved some of it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta

from accounting.books.cash_flow import CashFlow
from accounting.books.periods import Period
from accounting.reports.statements import Amounts, Posted, Statement, net_profit, plus

DAY = timedelta(days=1)

SECTIONS = {
    "non_cash_adjustments": CashFlow.NON_CASH,
    "working_capital_changes": CashFlow.OPERATING,
    "investing_activities": CashFlow.INVESTING,
    "financing_activities": CashFlow.FINANCING,
}


@dataclass(frozen=True, slots=True)
class CashFlowStatement:
    """The statement, and what the cash accounts themselves hold in the end."""

    statement: Statement
    net_profit: Amounts
    actual_closing: Amounts


def spans(periods: Iterable[Period]) -> list[Period]:
    """Name the spans that cash flows are read from: before each period, in it, up to its end."""
    return [
        span
        for each in periods
        for span in (Period(last=each.first - DAY), each, Period(last=each.last))
    ]


def cash_flow(posted: Posted, periods: int) -> CashFlowStatement:
    """Lay out what moved cash in some periods.

    A profit of 950, depreciation of 50 and receivables that grew by 700 less 200 of tax owed leave
    500; a machine took 600, a loan brought 1000: cash grew by 900. What is posted balances, so what
    is not cash always comes to as much as the cash accounts moved.
    """
    before, within, after = (posted.at(range(first, 3 * periods, 3)) for first in range(3))
    profit = net_profit(within)
    # What is credited to another account brought cash, or will have to.
    parts = {
        name: within.section(posted.chart.of_class(kind), -1) for name, kind in SECTIONS.items()
    }
    totals = {name: part.totals for name, part in parts.items()}
    operating = plus(profit, totals["non_cash_adjustments"], totals["working_capital_changes"])
    investing, financing = totals["investing_activities"], totals["financing_activities"]
    change, opening = plus(operating, investing, financing), _cash(before)
    summary = {
        "net_cash_from_operating": operating,
        "net_cash_from_investing": investing,
        "net_cash_from_financing": financing,
        "net_change_in_cash": change,
        "opening_cash": opening,
        "closing_cash": plus(opening, change),
    }
    return CashFlowStatement(Statement(parts, summary), profit, _cash(after))


def _cash(posted: Posted) -> Amounts:
    cash = posted.chart.of_class(CashFlow.CASH)
    return plus(posted.nothing, *(posted.net(each) for each in cash))
