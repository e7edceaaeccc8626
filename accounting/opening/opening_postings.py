"""The ledger movements of an opening itself; its documents and payments post their own."""

from collections.abc import Iterator
from datetime import date

from accounting.books.chart import Role, Roles
from accounting.books.ledger import Entry, Movement, Source, as_reversals, difference
from accounting.books.spans import days
from accounting.opening.openings import Opening, balances
from accounting.trade.amounts import MAIN, Amount, during

OPENING = "opening_balance"


def entries_for(opening: Opening, roles: Roles, lock_date: date | None) -> list[Entry]:
    """Return the entries to post for an opening, given what was posted for it before.

    A reversed opening is undone by linked reversals.
    """
    source = Source(OPENING, opening.id, None, {MAIN: "opening balances"})
    entries = difference(source, desired(opening, roles), opening.posted, lock_date)
    return entries if opening.reversed_at is None else as_reversals(entries, opening.posted)


def desired(opening: Opening, roles: Roles) -> list[Movement]:
    """Return the movements that an opening needs: its balances, and the rest on 3290."""
    return list(_balances(opening, roles))


def _balances(opening: Opening, roles: Roles) -> Iterator[Movement]:
    """Yield the movements: 100 in a bank and a loan of 90 leave 10 on opening balance equity."""
    stated = balances(opening, roles)
    equity = roles[Role.OPENING_BALANCE_EQUITY]
    amounts = [Amount(account, amount) for account, amount in stated.items()]
    amounts.append(Amount(equity, -sum(stated.values())))
    end = None if opening.reversed_at is None else opening.reversed_at.date()
    yield from during(days(opening.opened_on, end, opening.opened_on), MAIN, amounts)
