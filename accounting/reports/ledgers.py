"""The trial balance and the general ledger: every account with the amounts posted to it."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from accounting.books.accounts import Account
from accounting.books.businesses import fiscal_year
from accounting.books.chart import in_profit_and_loss
from accounting.books.ledger import normal_sign
from accounting.books.periods import Period
from accounting.reports.balance_sheets import EARLIER_YEARS, years_before
from accounting.reports.statements import PostedAmounts, net_profit

DAY = timedelta(days=1)


@dataclass(frozen=True, slots=True)
class TrialRow:
    """The balance of an account on one side; without an account, the profit of earlier years."""

    name: str
    debit: int
    credit: int
    days: Period
    account: Account | None = None


@dataclass(frozen=True, slots=True)
class LedgerRow:
    """The opening balance of an account, what was posted to it, and its closing balance.

    Opening and closing are positive on the normal side of the account's type.
    """

    account: Account
    opening: int
    debits: int
    credits: int
    closing: int


def trial_spans(day: date, fiscal_year_end: date) -> list[Period]:
    """Return the periods from which the trial balance of a day is read: all time, and this year."""
    return [Period(last=day), years_before(day, fiscal_year_end)[1]]


def trial_balance(posted: PostedAmounts, day: date, fiscal_year_end: date) -> tuple[TrialRow, ...]:
    """List the balances of accounts: profit and loss of this year, all others of all time.

    With sales of 1000 last year and 200 in this one, all in the bank, the bank holds 1200 of
    debits, sales 200 of credits, and the profit of earlier years 1000.
    """
    before, year = years_before(day, fiscal_year_end)
    rows = []
    for account in posted.chart.accounts:
        own, days = (1, year) if in_profit_and_loss(account.account_type) else (0, Period(last=day))
        [net] = posted.at([own]).net(account)
        rows.append(_trial_row(account.name, net, days, account))
    [ever], [current] = (net_profit(posted.at([place])) for place in (0, 1))
    rows.append(_trial_row(EARLIER_YEARS, current - ever, before))
    return tuple(row for row in rows if row.debit or row.credit)


def ledger_spans(period: Period, fiscal_year_end: date) -> list[Period]:
    """Return the periods from which the general ledger of a period is read.

    These are all time before it, its fiscal year before it, and the period itself.
    """
    first, _ = fiscal_year(fiscal_year_end, period.first)
    eve = period.first - DAY
    return [Period(last=eve), Period(first, eve), period]


def general_ledger(posted: PostedAmounts, one: Account | None = None) -> tuple[LedgerRow, ...]:
    """List the accounts with a balance or postings, or only `one`.

    A profit and loss account begins each fiscal year at 0. A bank account with 500, then debits of
    300 and credits of 100, has 500, 300, 100 and 700.
    """
    if one is not None:
        return (_ledger_row(posted, one),)
    rows = (_ledger_row(posted, account) for account in posted.chart.accounts)
    return tuple(row for row in rows if any((row.opening, row.debits, row.credits)))


def totals(rows: Sequence[TrialRow]) -> tuple[int, int]:
    """Sum debits and credits, which are equal."""
    return sum(row.debit for row in rows), sum(row.credit for row in rows)


def _trial_row(name: str, net: int, days: Period, account: Account | None = None) -> TrialRow:
    return TrialRow(name, max(net, 0), max(-net, 0), days, account)


def _ledger_row(posted: PostedAmounts, account: Account) -> LedgerRow:
    sign = normal_sign(account.account_type)
    before = posted.at([1 if in_profit_and_loss(account.account_type) else 0])
    [opening] = before.net(account, sign)
    [moved] = posted.at([2]).movements(account)
    closing = opening + sign * (moved.debits - moved.credits)
    return LedgerRow(account, opening, moved.debits, moved.credits, closing)
