"""The chart that a business starts with, and amounts posted to its accounts."""

from collections.abc import Mapping
from dataclasses import replace

from accounting.books.accounts import Account
from accounting.books.chart import STARTING_CHART
from accounting.books.report_filter import AccountMovement
from accounting.reports.statements import Chart, PostedAmounts, Section
from tests.accounting.samples import account, account_id

ACCOUNTS: tuple[Account, ...] = tuple(
    replace(
        account(each.code, each.role),
        name=each.name,
        account_type=each.account_type,
        account_subtype=each.account_subtype,
    )
    for each in STARTING_CHART
)
CHART = Chart(ACCOUNTS)


def posted(*spans: Mapping[str, int], chart: Chart = CHART) -> PostedAmounts:
    """Return posted amounts of some spans by code; debits are positive."""
    codes = {code for span in spans for code in span}
    moved = {
        account_id(code): tuple(movement(span.get(code, 0)) for span in spans) for code in codes
    }
    return PostedAmounts(chart, moved, range(len(spans)))


def movement(amount: int) -> AccountMovement:
    return AccountMovement(max(amount, 0), max(-amount, 0))


def lines(section: Section) -> dict[str, tuple[int, ...]]:
    """Return the lines of a section by code, or by name where there is no account."""
    return {
        line.account.code if line.account else line.name: line.amounts for line in section.lines
    }
