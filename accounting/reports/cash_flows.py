"""Cash flow, from the profit to the change of cash: each other account moved some of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, islice

from accounting.books.cash_flow import CashFlow
from accounting.books.periods import Period
from accounting.reports.layouts import Layout
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
    actual_closing: int

    @property
    def reconciles(self) -> bool:
        """Tell whether cash moved as all other accounts say; it always does."""
        return self.statement.summary["closing_cash"][0] == self.actual_closing


def spans(layout: Layout) -> list[Period]:
    """Name the spans that a cash flow is read from.

    What moved in each of its periods, what was there before the whole and what that is held
    against, and what is there in the end; columns open with what the ones before have moved.
    """
    before = (Period(last=each.first - DAY) for each in _opened(layout))
    return [*layout.periods, *before, Period(last=layout.whole.last)]


def cash_flow(posted: Posted, layout: Layout) -> CashFlowStatement:
    """Lay out what moved cash.

    A profit of 950, depreciation of 50 and receivables that grew by 700 less 200 of tax owed leave
    500; a machine took 600, a loan brought 1000: cash grew by 900. What is posted balances, so what
    is not cash always comes to as much as the cash accounts moved.
    """
    count = len(layout.periods)
    within = posted.at(range(count))
    profit = net_profit(within)
    # What is credited to another account brought cash, or will have to.
    parts = {
        name: within.section(posted.chart.of_class(kind), -1) for name, kind in SECTIONS.items()
    }
    totals = {name: part.totals for name, part in parts.items()}
    operating = plus(profit, totals["non_cash_adjustments"], totals["working_capital_changes"])
    investing, financing = totals["investing_activities"], totals["financing_activities"]
    change = plus(operating, investing, financing)
    *before, closing = _cash(posted.at(range(count, count + len(_opened(layout)) + 1)))
    opening = _openings(layout, before, change)
    summary = {
        "net_cash_from_operating": operating,
        "net_cash_from_investing": investing,
        "net_cash_from_financing": financing,
        "net_change_in_cash": change,
        "opening_cash": opening,
        "closing_cash": plus(opening, change),
    }
    return CashFlowStatement(Statement(parts, summary), profit, closing)


def _opened(layout: Layout) -> tuple[Period, ...]:
    """The whole, and what it is held against."""
    return (layout.whole, *(() if layout.previous is None else (layout.previous,)))


def _openings(layout: Layout, before: Sequence[int], change: Amounts) -> Amounts:
    """Say what cash periods open with: of 40 and columns of 10 and 20, these do with 40 and 50."""
    ends = accumulate(change[1 : 1 + len(layout.columns)], initial=before[0])
    return (before[0], *islice(ends, len(layout.columns)), *before[1:])


def _cash(posted: Posted) -> Amounts:
    cash = posted.chart.of_class(CashFlow.CASH)
    return plus(posted.nothing, *(posted.net(each) for each in cash))
