"""Revaluations: foreign balances at the closing rate of a day, and the gains and losses of that.

Claims, and money that is at a processor, are items that remember their base. They are back at it on
the next day, so that no settlement knows of the revaluation. Foreign bank accounts and reserves
have no such items: they go on from their new value. Design: `currency.md` section 6.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from typing import Final
from uuid import UUID

from accounting.absent import ABSENT
from accounting.books.accounts import Account
from accounting.books.businesses import Context, refuse_locked, refuse_out_of_order
from accounting.books.chart import Role, Roles
from accounting.books.foreign import ForeignAmount, at_rate
from accounting.books.ledger import (
    Entry,
    Movement,
    PostedEntry,
    Source,
    as_reversals,
    difference,
)
from accounting.books.record_rates import GivenWorth, in_major_units, worth_of
from accounting.errors import AboutItem, Conflict, RuleViolation


class BalanceKind(StrEnum):
    """The kind of a balance that is revalued."""

    CLAIMS = "claims"  # Documents, credits and refunds: mirrored, and not counted on cash.
    CLEARING = "clearing"  # Money at a processor, by item: mirrored.
    MONEY = "money"  # Foreign bank accounts, and the reserve at a processor.


MIRRORED: Final = frozenset({BalanceKind.CLAIMS, BalanceKind.CLEARING})

KINDS: Final[Mapping[str, BalanceKind]] = {
    Role.ACCOUNTS_RECEIVABLE: BalanceKind.CLAIMS,
    Role.ACCOUNTS_PAYABLE: BalanceKind.CLAIMS,
    Role.CUSTOMER_CREDITS: BalanceKind.CLAIMS,
    Role.VENDOR_CREDITS: BalanceKind.CLAIMS,
    Role.REFUNDS_PAYABLE: BalanceKind.CLAIMS,
    Role.VENDOR_REFUNDS_RECEIVABLE: BalanceKind.CLAIMS,
    Role.PROCESSOR_CLEARING: BalanceKind.CLEARING,
    Role.PROCESSOR_RESERVE: BalanceKind.MONEY,
}
"""The kinds by role. Prepayments are in none: an advance stays at the rate of its money."""


@dataclass(frozen=True, slots=True)
class CurrencyBalance:
    """The sums of all lines of an account in a currency up to the end of a day.

    Both are debits less credits: `own` of the own amounts, `base` of the base amounts.
    """

    account: Account
    currency: str
    own: int
    base: int

    @property
    def kind(self) -> BalanceKind | None:
        """The kind of the balance; None if it is not revalued.

        Foreign money on an account that is kept in base, such as 1100, is money in base.
        """
        if self.account.currency == self.currency:
            return BalanceKind.MONEY
        return KINDS.get(self.account.role or "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Revalue:
    """A command: the revaluation of a day, with rates in base for one of each currency.

    A currency that is left out has the rate of the tables.
    """

    on: date
    rates: Mapping[str, Decimal] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class RevaluedBalance:
    """A balance before a revaluation, its rate, and what is added to its base; debits above zero.

    A balance that is emptied needs no rate. A given rate that no balance needs has no account.
    """

    currency: str
    exchange_rate: Decimal | None
    account_id: UUID | None = None
    account_code: str | None = None
    kind: BalanceKind | None = None
    own: int = 0
    base: int = 0
    difference: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Revaluation:
    """A revaluation as it is stored; `rates` are those that were given for it."""

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    revalued_on: date
    currency: str
    rates: Mapping[str, Decimal]
    items: tuple[RevaluedBalance, ...]
    reversed_at: datetime | None = None
    posted: tuple[PostedEntry, ...] = ()

    @property
    def posts(self) -> bool:
        """True if it changes any balance; else no record is made of it."""
        return any(item.difference for item in self.items)


def revalue(command: Revalue, balances: Iterable[CurrencyBalance], context: Context) -> Revaluation:
    """Create the revaluation of all foreign balances of a day.

    USD 100.00 of receivables worth EUR 90.00 are EUR 97.00 at 0.97: a gain of 7.00. Earlier
    revaluations are included in the balances, so the same run again posts nothing. Raises
    RuleViolation `date_out_of_order`, `exchange_rate_missing`, `exchange_rate_not_needed`,
    `exchange_rate_invalid` or `amount_too_large`; Conflict `period_locked`.
    """
    refuse_out_of_order(context, "date", command.on, None)
    return Revaluation(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        revalued_on=command.on,
        currency=context.currency,
        rates=command.rates,
        items=tuple(_revalued(command, balances, context)),
    )


def reverse(revaluation: Revaluation, context: Context) -> Revaluation:
    """Reverse a revaluation, on its own days.

    Raises Conflict `invalid_state_transition` or `period_locked`.
    """
    if revaluation.reversed_at is not None:
        raise Conflict.of_state("The revaluation is already reversed.", status(revaluation))
    refuse_locked(context, revaluation.revalued_on)
    return replace(revaluation, reversed_at=context.now, updated_at=context.now)


def status(revaluation: Revaluation) -> str:
    """Return the status that callers see: posted or reversed."""
    return "posted" if revaluation.reversed_at is None else "reversed"


def can_be_stale(revaluation: Revaluation, context: Context) -> bool:
    """Return whether the same run could still post something: neither reversed nor locked.

    Only then its balances are needed.
    """
    lock_date = context.lock_date
    locked = lock_date is not None and revaluation.revalued_on <= lock_date
    return revaluation.reversed_at is None and not locked


def is_stale(
    revaluation: Revaluation, balances: Iterable[CurrencyBalance], context: Context
) -> bool:
    """Return whether the same run would post something, by the balances and tables of now.

    It would after entries that were dated on or before its day later, and after a changed table. A
    run that would now be refused, such as for a missing rate, counts too.
    """
    if not can_be_stale(revaluation, context):
        return False
    command = Revalue(on=revaluation.revalued_on, rates=revaluation.rates)
    try:
        return any(item.difference for item in _revalued(command, balances, context))
    except RuleViolation:
        return True


def _revalued(
    command: Revalue, balances: Iterable[CurrencyBalance], context: Context
) -> Iterator[RevaluedBalance]:
    """Yield each balance that is not empty, by account code and currency; then unused rates."""
    held = [each for each in balances if each.kind is not None and (each.own or each.base)]
    rates = _closing_rates(command, held, context)
    shown = {
        currency: in_major_units(rate, currency, context.currency)
        for currency, rate in rates.items()
    }
    for each in sorted(held, key=lambda one: (one.account.code, one.currency)):
        value = at_rate(each.own, rates[each.currency]) if each.own else 0
        yield RevaluedBalance(
            currency=each.currency,
            exchange_rate=shown.get(each.currency) if each.own else None,
            account_id=each.account.id,
            account_code=each.account.code,
            kind=each.kind,
            own=each.own,
            base=each.base,
            difference=value - each.base,
        )
    for currency in sorted(shown.keys() - {each.currency for each in held}):
        yield RevaluedBalance(currency=currency, exchange_rate=shown[currency])


def _closing_rates(
    command: Revalue, held: Sequence[CurrencyBalance], context: Context
) -> dict[str, Fraction]:
    """Return the rates in minor units: the given ones, else the table's where own is not 0."""
    rates: dict[str, Fraction] = {}
    for currency in sorted({*command.rates, *(each.currency for each in held if each.own)}):
        given = GivenWorth(exchange_rate=command.rates.get(currency, ABSENT))
        with AboutItem(f"rates.{currency}" if currency in command.rates else ""):
            worth = worth_of(currency, 0, given, command.on, context)
        if worth is not None:
            rates[currency] = worth.rate
    return rates


# The entries of a revaluation: one for each balance, and its mirror on the next day.


REVALUATION: Final = "revaluation"
MIRROR: Final = "mirror"


def stream_of(place: int, item: RevaluedBalance, *, mirror: bool = False) -> str:
    """Return the stream of a balance's entry: `claims USD 0`, or `claims USD 0 mirror`.

    Each balance has its own, by its place in the list, so that each has an entry of its own.
    """
    words = (item.kind or "", item.currency, str(place), *((MIRROR,) if mirror else ()))
    return " ".join(words)


def entries_for(revaluation: Revaluation, roles: Roles, lock_date: date | None) -> list[Entry]:
    """Return the entries to post for a revaluation, given what was posted for it before.

    A reversed one is undone by linked reversals, each on the day of its entry.
    """
    moves, posted = desired(revaluation, roles), revaluation.posted
    entries = difference(_source(revaluation), moves, posted, lock_date)
    return entries if revaluation.reversed_at is None else as_reversals(entries, posted)


def desired(revaluation: Revaluation, roles: Roles) -> list[Movement]:
    """Return the movements that a revaluation needs; a reversed one needs none.

    A gain of 7.00 on receivables is 7.00 on 1200 and -7.00 on 4660, and the mirror of both on the
    next day.
    """
    if revaluation.reversed_at is not None:
        return []
    return [
        move
        for place, item in enumerate(revaluation.items)
        if item.difference
        for move in _movements(place, item, revaluation.revalued_on, roles)
    ]


def _movements(place: int, item: RevaluedBalance, on: date, roles: Roles) -> Iterator[Movement]:
    assert item.account_id is not None, "a rate alone has no difference"
    gained = item.difference > 0
    role = Role.UNREALISED_EXCHANGE_GAINS if gained else Role.UNREALISED_EXCHANGE_LOSSES
    changed = ForeignAmount(0, item.difference, item.currency)
    stream = stream_of(place, item)
    yield Movement(on, stream, item.account_id, changed)
    yield Movement(on, stream, roles[role], -item.difference)
    if item.kind in MIRRORED:
        next_day, stream = on + timedelta(days=1), stream_of(place, item, mirror=True)
        yield Movement(next_day, stream, item.account_id, -changed)
        yield Movement(next_day, stream, roles[role], item.difference)


def _source(revaluation: Revaluation) -> Source:
    titles: dict[str, str] = {}
    agreed: set[str] = set()
    for place, item in enumerate(revaluation.items):
        title = f"revaluation of {item.account_code} in {item.currency}"
        streams = (stream_of(place, item), stream_of(place, item, mirror=True))
        titles |= zip(streams, (title, f"{title}, taken back on the next day"), strict=True)
        agreed |= {*streams} if item.kind is BalanceKind.CLAIMS else set()
    return Source(REVALUATION, revaluation.id, None, titles, agreed=frozenset(agreed))
