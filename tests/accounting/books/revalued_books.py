"""Books in GBP with foreign balances that the tests revalue."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from decimal import Decimal
from uuid import UUID

from accounting.books import revaluations
from accounting.books.accounts import Account
from accounting.books.businesses import Context
from accounting.books.chart import STARTING_CHART
from accounting.books.exchange_rates import KnownRates
from accounting.books.ledger import Entry, Line
from accounting.books.revaluations import CurrencyBalance, Revaluation, Revalue
from tests.accounting.samples import (
    ROLES,
    account,
    account_id,
    amounts,
    context_of,
    day,
    identifiers,
    posted_after,
    written,
)

DOLLARS = replace(account("1101"), currency="USD")
ACCOUNTS: Mapping[UUID, Account] = {
    DOLLARS.id: DOLLARS,
    **{account_id(each.code): account(each.code, each.role) for each in STARTING_CHART},
}


def foreign(code: str, base: int, own: int, currency: str = "USD") -> Line:
    """Create a line in a foreign currency, a debit above zero."""
    return Line(account_id(code), base, currency=currency, currency_amount=own)


@dataclass
class Books:
    """Entries, and the revaluations of them; `today` is the day on which a revaluation is run."""

    today: str = "2-15"
    lock: str | None = None
    rates: KnownRates = field(default_factory=KnownRates)
    entries: list[Entry] = field(default_factory=list)
    runs: dict[UUID, Revaluation] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Count ids over all runs."""
        self.identify = identifiers(50_000)

    def context(self) -> Context:
        context = context_of(self.today, self.lock, self.identify)
        return replace(context, rates=self.rates)

    def post(self, on: str, *lines: Line) -> None:
        """Post lines against opening balance equity."""
        rest = Line(account_id("3290"), -sum(each.amount for each in lines))
        self.entries.append(
            Entry(
                entry_date=day(on),
                stream="manual",
                lines=(*lines, rest),
                description="By hand",
                source_type="manual",
                source_id=UUID(int=1),
            )
        )

    def all_entries(self) -> Iterator[Entry]:
        yield from self.entries
        for run in self.runs.values():
            yield from run.posted

    def balances(self, on: date) -> list[CurrencyBalance]:
        """Sum all foreign lines up to the end of a day, as a store does."""
        sums: dict[tuple[UUID, str], tuple[int, int]] = defaultdict(lambda: (0, 0))
        for line in lines_up_to(self.all_entries(), on):
            if line.currency is not None:
                own, base = sums[line.account_id, line.currency]
                place = line.account_id, line.currency
                sums[place] = own + (line.currency_amount or 0), base + line.amount
        return [
            CurrencyBalance(ACCOUNTS[id_], currency, own, base)
            for (id_, currency), (own, base) in sums.items()
        ]

    def base_of(self, code: str, on: str) -> int:
        """Return the balance of an account in base at the end of a day."""
        lines = lines_up_to(self.all_entries(), day(on))
        return sum(each.amount for each in lines if each.account_id == account_id(code))

    def revalue(self, on: str, **rates: str) -> Revaluation:
        given = {currency: Decimal(rate) for currency, rate in rates.items()}
        command = Revalue(on=day(on), rates=given)
        made = revaluations.revalue(command, self.balances(day(on)), self.context())
        return self.keep(made) if made.posts else made

    def reverse(self, run: Revaluation) -> Revaluation:
        return self.keep(revaluations.reverse(self.runs[run.id], self.context()))

    def keep(self, run: Revaluation) -> Revaluation:
        entries = revaluations.entries_for(run, ROLES, self.context().lock_date)
        self.runs[run.id] = replace(run, posted=posted_after(run.posted, entries, self.identify))
        return self.runs[run.id]

    def is_stale(self, run: Revaluation) -> bool:
        balances = self.balances(run.revalued_on)
        return revaluations.is_stale(self.runs[run.id], balances, self.context())


def lines_up_to(entries: Iterable[Entry], on: date) -> Iterator[Line]:
    """Yield the lines of all entries up to the end of a day."""
    for entry in entries:
        if entry.entry_date <= on:
            yield from entry.lines


def book(run: Revaluation) -> list[tuple[str, dict[str, int]]]:
    """Return the day and the amounts of each entry of a run."""
    return [(written(entry.entry_date), amounts(entry)) for entry in run.posted]
