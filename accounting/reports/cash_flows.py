"""Cash flow statements: from the profit to the change of cash, by the changes of other accounts."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import accumulate, islice

from accounting.books.cash_flow import CashFlow
from accounting.books.periods import Period
from accounting.reports.layouts import Layout
from accounting.reports.statements import Amounts, PostedAmounts, Statement, net_profit, plus

DAY = timedelta(days=1)

SECTIONS = {
    "non_cash_adjustments": CashFlow.NON_CASH,
    "working_capital_changes": CashFlow.OPERATING,
    "investing_activities": CashFlow.INVESTING,
    "financing_activities": CashFlow.FINANCING,
}


@dataclass(frozen=True, slots=True)
class CashFlowStatement:
    """A cash flow statement, and the balance of the cash accounts themselves at its end."""

    statement: Statement
    net_profit: Amounts
    actual_closing: int

    @property
    def reconciles(self) -> bool:
        """Return whether the closing cash is the balance of the cash accounts; it always is."""
        return self.statement.summary["closing_cash"][0] == self.actual_closing


def periods(layout: Layout) -> list[Period]:
    """Return the periods from which a cash flow statement is read.

    These are its own periods, all time before the whole and before its comparison, and all time up
    to its end. Each column opens with the closing cash of the one before.
    """
    before = (Period(last=each.first - DAY) for each in _opened(layout))
    return [*layout.periods, *before, Period(last=layout.whole.last)]


def cash_flow(posted: PostedAmounts, layout: Layout) -> CashFlowStatement:
    """Build a cash flow statement.

    A profit of 950, depreciation of 50, receivables that grew by 700 and 200 of tax owed give 500
    of operating cash; a machine cost 600, a loan brought 1000: cash grew by 900. Entries balance,
    so all other accounts always move as much as the cash accounts.
    """
    count = len(layout.periods)
    within = posted.at(range(count))
    profit = net_profit(within)
    # A credit on another account adds to cash, a debit takes from it.
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
    """Return the periods with an opening balance of their own: the whole, and its comparison."""
    return (layout.whole, *(() if layout.previous is None else (layout.previous,)))


def _openings(layout: Layout, before: Sequence[int], change: Amounts) -> Amounts:
    """Return the opening cash of each period: 40 and columns of 10 and 20 open with 40 and 50."""
    ends = accumulate(change[1 : 1 + len(layout.columns)], initial=before[0])
    return (before[0], *islice(ends, len(layout.columns)), *before[1:])


def _cash(posted: PostedAmounts) -> Amounts:
    cash = posted.chart.of_class(CashFlow.CASH)
    return plus(posted.nothing, *(posted.net(each) for each in cash))
