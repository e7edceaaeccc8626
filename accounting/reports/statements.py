"""Financial statements: posted amounts by sections of accounts, with totals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from uuid import UUID

from accounting.books.accounts import Account, AccountTree
from accounting.books.cash_flow import CashFlow, cash_flow_class
from accounting.books.chart import SUBTYPES, AccountType, type_of
from accounting.books.ledger import normal_sign
from accounting.books.periods import Period
from accounting.books.report_filter import AccountMovement

Amounts = tuple[int, ...]
"""A figure of a report: one amount for each period of its layout."""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a section: an account, or an amount computed from the profit of a period."""

    name: str
    amounts: Amounts
    account: Account | None = None
    days: Period | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """Lines and their totals; lines that are all zero are left out."""

    lines: tuple[Line, ...]
    totals: Amounts


@dataclass(frozen=True, slots=True)
class Statement:
    """A report: its sections in their order, and the figures of its summary."""

    sections: Mapping[str, Section]
    summary: Mapping[str, Amounts]


class Chart:
    """The accounts of a business by code, and the ledger accounts of its bank accounts."""

    def __init__(self, accounts: Iterable[Account], banked: Iterable[UUID] = ()) -> None:
        self.accounts = sorted(accounts, key=lambda each: (each.code, each.id))
        self._tree = AccountTree.of(self.accounts)
        self._banked = frozenset(banked)

    def of_subtype(self, subtype: str) -> list[Account]:
        """Return the accounts of a subtype."""
        return [each for each in self.accounts if each.account_subtype == subtype]

    def of_class(self, kind: CashFlow) -> list[Account]:
        """Return the balance sheet accounts of a class of the cash flow statement."""
        return [each for each in self.accounts if self._class_of(each) is kind]

    def find(self, reference: str) -> Account | None:
        """Find an account by id, then by code, then by external id."""
        for name in ("id", "code", "external_id"):
            wanted = reference.lower() if name == "id" else reference
            for each in self.accounts:
                if str(getattr(each, name)) == wanted:
                    return each
        return None

    def _class_of(self, account: Account) -> CashFlow | None:
        return cash_flow_class(account, self._tree.above(account.id), self._banked)


class PostedAmounts:
    """The amounts posted to the accounts of a chart, in each of several periods."""

    def __init__(
        self, chart: Chart, moved: Mapping[UUID, Sequence[AccountMovement]], places: Sequence[int]
    ) -> None:
        """Select some of the loaded periods by their places."""
        self.chart = chart
        self._moved = moved
        self._places = places

    @property
    def nothing(self) -> Amounts:
        """A figure of zeros."""
        return (0,) * len(self._places)

    def at(self, places: Sequence[int]) -> "PostedAmounts":
        """Return the same amounts for other places of the periods."""
        return PostedAmounts(self.chart, self._moved, places)

    def movements(self, account: Account) -> list[AccountMovement]:
        """Return the debits and credits of an account in each period."""
        found = self._moved.get(account.id)
        return [found[place] if found else AccountMovement() for place in self._places]

    def net(self, account: Account, sign: int = 1) -> Amounts:
        """Return debits less credits; with a sign of -1, credits less debits."""
        return tuple(sign * (each.debits - each.credits) for each in self.movements(account))

    def section(self, accounts: Iterable[Account], sign: int, *computed: Line) -> Section:
        """Build a section of accounts and computed lines; debits are above zero if `sign` is 1."""
        lines = (Line(each.name, self.net(each, sign), each) for each in accounts)
        shown = tuple(line for line in chain(lines, computed) if any(line.amounts))
        return Section(shown, plus(self.nothing, *(line.amounts for line in shown)))

    def of_subtype(self, subtype: str, *computed: Line) -> Section:
        """Build the section of a subtype, positive on the normal side of its type.

        A contra account is below zero there, whatever its own `balance_behavior`.
        """
        sign = normal_sign(type_of(subtype))
        return self.section(self.chart.of_subtype(subtype), sign, *computed)


PROFIT_AND_LOSS = (
    *("revenue", "other_operating_income", "direct_costs", "operating_expenses"),
    *("finance_income", "finance_costs", "income_tax"),
)


def profit_and_loss(posted: PostedAmounts) -> Statement:
    """Build the profit and loss statement.

    Revenue 1000 and other income 50 less direct costs 400 give a gross profit of 650. Less
    operating expenses 200, plus interest income 10, less interest expense 30, less tax 80, the net
    profit is 350.
    """
    parts = {subtype: posted.of_subtype(subtype) for subtype in PROFIT_AND_LOSS}
    totals = {subtype: part.totals for subtype, part in parts.items()}
    income = plus(totals["revenue"], totals["other_operating_income"])
    gross = minus(income, totals["direct_costs"])
    operating = minus(gross, totals["operating_expenses"])
    before_tax = minus(plus(operating, totals["finance_income"]), totals["finance_costs"])
    summary = {
        "net_revenue": totals["revenue"],
        "total_operating_income": income,
        "gross_profit": gross,
        "total_operating_expenses": totals["operating_expenses"],
        "operating_profit": operating,
        "profit_before_tax": before_tax,
        "net_profit": minus(before_tax, totals["income_tax"]),
    }
    return Statement(parts, summary)


def net_profit(posted: PostedAmounts) -> Amounts:
    """Return revenue less all expenses."""
    return profit_and_loss(posted).summary["net_profit"]


def income_and_expenses(posted: PostedAmounts) -> Mapping[str, Amounts]:
    """Return total revenue, total expenses and the net profit: 1060 less 710 is 350."""
    revenue = plus(posted.nothing, *_of_type(posted, AccountType.REVENUE))
    expenses = plus(posted.nothing, *_of_type(posted, AccountType.EXPENSE))
    return {"revenue": revenue, "expenses": expenses, "net_profit": minus(revenue, expenses)}


def expenses(posted: PostedAmounts) -> Statement:
    """Build the statement of expenses, the largest account of each subtype first."""
    parts = {}
    for subtype in SUBTYPES[AccountType.EXPENSE]:
        found = posted.of_subtype(subtype)
        largest = sorted(found.lines, key=lambda line: -line.amounts[0])
        parts[subtype] = replace(found, lines=tuple(largest))
    total = plus(posted.nothing, *(part.totals for part in parts.values()))
    return Statement(parts, {"total_expenses": total})


def _of_type(posted: PostedAmounts, kind: AccountType) -> list[Amounts]:
    sign = normal_sign(kind)
    return [posted.net(each, sign) for each in posted.chart.accounts if each.account_type == kind]


def plus(*amounts: Amounts) -> Amounts:
    """Add figures: (1, 2) and (10, 20) give (11, 22)."""
    return tuple(map(sum, zip(*amounts, strict=True)))


def minus(amounts: Amounts, less: Amounts) -> Amounts:
    """Subtract a figure from another: (10, 20) less (1, 2) is (9, 18)."""
    return tuple(one - other for one, other in zip(amounts, less, strict=True))
