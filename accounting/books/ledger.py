"""Double entry as arithmetic: what a document desires, less what is posted for it, is posted."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from functools import partial
from itertools import chain
from typing import Protocol, TypeVar
from uuid import UUID

from accounting import money
from accounting.books.chart import AccountType
from accounting.books.foreign import ForeignAmount, currency_of, in_base, step
from accounting.books.numbers import Number

# Tax marks of posted lines.


class TaxPart(StrEnum):
    """The part of a taxed amount that a posted line is."""

    NET = "net"
    OUTPUT = "output"  # Tax that is owed: charged on a sale, or self-assessed on a purchase.
    INPUT = "input"  # Tax on a purchase that is recovered.
    BLOCKED = "blocked"  # Tax on a purchase that is not recovered, and so is cost.
    WITHHELD = "withheld"
    RELIEF_NET = "relief_net"  # The net of what was written off with relief of its tax,
    RELIEF = "relief"  # and that tax.


@dataclass(frozen=True, slots=True)
class TaxMark:
    """The tax code of an amount, its rate in percent, and the part that the amount is."""

    code_id: UUID
    rate: Decimal
    part: TaxPart

    @classmethod
    def of_net(cls, code_id: UUID | None, rate: Decimal | None) -> "TaxMark | None":
        """Mark the net of an amount that a code taxes; without a code there is no mark."""
        return None if code_id is None or rate is None else cls(code_id, rate, TaxPart.NET)


class TaxMarker(Protocol):
    """A source of tax marks: by the code that a caller names, at the code's rate on a day."""

    def marked(self, reference: str, part: TaxPart, on: date, place: str) -> TaxMark:
        """Mark an amount; `place` is its path in the request.

        Raises RuleViolation `reference_not_found`, `tax_code_mismatch` or `tax_rate_missing`;
        Conflict `tax_code_archived`.
        """


# Amounts by part: how much of each part of a document a settlement settles.


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a document: what it has on one account, with one tax mark or none."""

    account_id: UUID
    tax: TaxMark | None = None


Split = tuple[tuple[Part, int], ...]
"""Amounts by part; on a movement or a line they have its sign and sum to its amount."""

K = TypeVar("K", bound=Hashable)
Shares = tuple[tuple[K, int], ...]
"""Amounts by any key; a split has parts as keys."""


def added(*splits: Shares[K]) -> Shares[K]:
    """Add splits by part: 5 and 3 on one part give 8; a sum of zero is left out."""
    total = summed(pair for split in splits for pair in split)
    return tuple((part, amount) for part, amount in total.items() if amount)


def negative(split: Shares[K]) -> Shares[K]:
    """Negate the amounts of a split."""
    return tuple((part, -amount) for part, amount in split)


def times_sign(split: Split, sign: int) -> Split:
    """Multiply a split by the sign of the side on which it is posted."""
    return split if sign > 0 else negative(split)


def summed(amounts: Iterable[tuple[K, int]]) -> dict[K, int]:
    """Add amounts by part, in the order in which the parts first appear."""
    total: dict[K, int] = defaultdict(int)
    for part, amount in amounts:
        total[part] += amount
    return dict(total)


def rests(parts: Mapping[K, int], taken: Shares[K]) -> dict[K, int]:
    """Return the rest of each part: of 8333 and 1667 with 2777 and 556 taken, 5556 and 1111."""
    return summed([*parts.items(), *negative(taken)])


def take(parts: Mapping[K, int], taken: Shares[K], amount: int) -> Shares[K]:
    """Split one settlement over what earlier ones have left of each part.

    No part passes zero, and a settlement of all that is left closes every part exactly: after 3333
    took 2777 and 556 of 8333 and 1667, 6667 takes 5556 and 1111. Parts below zero are withheld, or
    of lines below zero: 530 of 1000, 210 and -150 takes 500, 105 and -75. Foreign parts give their
    share of the base. Raises ValueError if the settlement is more than what is left.
    """
    left = rests(parts, taken)
    if not 0 <= amount <= sum(left.values()):
        raise ValueError("a step settles more than is left")
    shares = money.split(int(amount), [int(each) for each in left.values()])
    return tuple(pair for pair in step(left, zip(left, shares, strict=True)) if pair[1])


# Dated intervals in which something was in effect; postings follow them.


Days = tuple[date, date | None]
"""The first day, and the day after the last one; None if there is no end."""


@dataclass(frozen=True, slots=True)
class Span:
    """Days from `start` to before `end`; without a start it begins on its owner's own date."""

    start: date | None = None
    end: date | None = None


def days(start: date, end: date | None, floor: date) -> Days:
    """Resolve a span to days that begin at `floor` or later, and end no earlier than they begin.

    From the 5th to the 7th with a floor on the 10th, it begins and ends on the 10th.
    """
    begin = max(start, floor)
    return begin, None if end is None else max(end, begin)


def laid_out(spans: Iterable[Span], on: date, floor: date) -> list[Days]:
    """Resolve spans to days; a span without a start begins `on` a day, and none before `floor`."""
    return [days(span.start or on, span.end, floor) for span in spans]


@dataclass(frozen=True, slots=True)
class Movement:
    """An amount that a document desires on an account, a debit above zero, a credit below.

    That of a foreign record has its base, which is what is posted. Movements of one stream and day
    make one entry. `settles` is the document that is settled, and `split` the parts of it that the
    amount settles; `tax` marks the amount for a tax return. `about` is the document that the amount
    belongs to, if that is neither the settled document nor the source. `tags` are its own tags, of
    an amount whose source has none.
    """

    on: date
    stream: str
    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    tax: TaxMark | None = None
    about: UUID | None = None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an entry, a debit above zero, a credit below; `about`, `tags` as in a movement.

    `amount` and `split` are in base. A line of a foreign record also has its own currency and
    `currency_amount`, which may be 0, or have another sign, where only the base changes.
    """

    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    description: str | None = None
    tax: TaxMark | None = None
    about: UUID | None = None
    tags: tuple[str, ...] = ()
    currency: str | None = None
    currency_amount: int | None = None

    @property
    def both_amounts(self) -> int:
        """The amount of the line; of a foreign one its own amount, with the base."""
        if self.currency is None or self.currency_amount is None:
            return self.amount
        return ForeignAmount(self.currency_amount, self.amount, self.currency)

    @property
    def debit(self) -> int:
        """The amount of a debit, else 0."""
        return max(self.amount, 0)

    @property
    def credit(self) -> int:
        """The amount of a credit, else 0."""
        return max(-self.amount, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A balanced entry to be posted; the store assigns its id and its number.

    `about` maps the id of a document to that of the document it belongs to, such as a refund to its
    invoice. An entry that only records an obligation is not `in_cash`: on the cash basis it counts
    once the obligation is settled.
    """

    entry_date: date
    stream: str
    lines: tuple[Line, ...]
    description: str
    source_type: str
    source_id: UUID
    reference: Number = None
    reversal_of_id: UUID | None = None
    about: Mapping[UUID, UUID] = field(default_factory=dict)
    in_cash: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PostedEntry(Entry):
    """An entry in the books; `reversed` if another entry reverses it."""

    id: UUID
    reversed: bool = False


@dataclass(frozen=True, slots=True)
class Source:
    """The document that entries are posted for; `titles` names each of its streams, for people.

    `about` maps the id of a document to that of the document it belongs to; entries of the streams
    in `agreed` only record obligations.
    """

    type: str
    id: UUID
    reference: Number
    titles: Mapping[str, str]
    about: Mapping[UUID, UUID] = field(default_factory=dict)
    agreed: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Tally:
    """The totals of one line: its amount, and the parts that it settles."""

    amount: int = 0
    parts: dict[Part, int] = field(default_factory=lambda: defaultdict(int))

    def add(self, amount: int, split: Split, sign: int) -> None:
        self.amount += sign * amount
        for part, share in split:
            self.parts[part] += sign * in_base(share)


_Place = tuple[UUID, UUID | None, TaxMark | None, UUID | None, tuple[str, ...], str | None, int]
_Tallies = dict[_Place, _Tally]


def normal_sign(account_type: str, behavior: str | None = None) -> int:
    """Return the sign of an account's normal side: 1 for debits, -1 for credits.

    The `balance_behavior` of a contra account can turn it round.
    """
    if behavior is not None:
        return 1 if behavior == "debit_positive" else -1
    return 1 if account_type in (AccountType.ASSET, AccountType.EXPENSE) else -1


def balance(account_type: str, debits: int, credits_: int, behavior: str | None = None) -> int:
    """Compute a balance on its normal side: revenue with debits 20 and credits 120 holds 100."""
    return normal_sign(account_type, behavior) * (debits - credits_)


def after_lock(on: date, lock_date: date | None) -> date:
    """Move a locked day to the day after the lock: the 5th, locked to the 10th, to the 11th."""
    return on if lock_date is None else max(on, lock_date + timedelta(days=1))


def difference(
    source: Source,
    desired: Iterable[Movement],
    posted: Iterable[Entry],
    lock_date: date | None,
) -> list[Entry]:
    """Compute the entries that turn what is posted into what is desired, by date.

    Amounts are compared by stream, day, account, settled document, tax mark, `about`, tags and
    currency, both amounts of a foreign one at once; locked days count as the day after the lock. If
    an invoice is posted at 100 and desires 80, a credit of 20 on receivables and a debit of 20 on
    sales remain. Raises ValueError if an entry does not balance, which is an error in the rules and
    not in the request.
    """
    posted = list(posted)
    known = {entry.stream for entry in posted}
    days: dict[tuple[date, str], _Tallies] = defaultdict(lambda: defaultdict(_Tally))
    for move in desired:
        # A first posting keeps debits and credits of one account apart; a change nets them.
        sign = 0 if move.stream in known else _sign(in_base(move.amount))
        tallies = days[after_lock(move.on, lock_date), move.stream]
        currency = currency_of(move.amount)
        place = move.account_id, move.settles, move.tax, move.about, move.tags, currency, sign
        tallies[place].add(move.amount, move.split, 1)
    for entry in posted:
        on = after_lock(entry.entry_date, lock_date)
        _add_lines(days[on, entry.stream], entry.lines, -1)
    entries = []
    for on, stream in sorted(days, key=lambda place: place[0]):
        lines = _lines(days[on, stream])
        # Amounts that cancel out on one day before they are posted make no entry.
        if not _cancel_out(lines):
            opening = "Change of " if stream in known else ""
            known.add(stream)
            entries.append(_entry(source, on, stream, lines, opening))
    return entries


def as_reversals(entries: Iterable[Entry], posted: Iterable[PostedEntry]) -> list[Entry]:
    """Replace an entry that undoes posted entries by linked reversals, one for each of them.

    This is done if an entry undoes exactly the effective entries of a stream (not reversed, and not
    cancelled out by others), and none of these has a later day. Any other entry stays as it is. If
    the same change also corrects the day, two entries qualify: the later one becomes the reversal.
    """
    posted = list(posted)
    written: list[Entry] = []
    for entry in reversed(list(entries)):
        standing = _standing(each for each in posted if each.stream == entry.stream)
        later = any(each.entry_date > entry.entry_date for each in standing)
        if standing and not later and _cancel_out(_lines_of(entry, *standing)):
            written[:0] = [_reversal(each, entry) for each in standing]
            posted = [each for each in posted if each.stream != entry.stream]
        else:
            written.insert(0, entry)
    return written


def _sign(amount: int) -> int:
    return (amount > 0) - (amount < 0)


def _add_lines(tallies: _Tallies, lines: Iterable[Line], sign: int) -> None:
    for line in lines:
        place = (
            *(line.account_id, line.settles, line.tax, line.about, line.tags),
            *(line.currency, 0),
        )
        tallies[place].add(line.both_amounts, line.split, sign)


def _lines(tallies: _Tallies) -> tuple[Line, ...]:
    lines = [line for place, tally in tallies.items() for line in _lines_at(place, tally)]
    return tuple(sorted(lines, key=lambda line: line.amount < 0))


def _lines_at(place: _Place, tally: _Tally) -> list[Line]:
    account_id, settles, tax, about, tags, currency, _ = place
    made = partial(Line, account_id, tax=tax, about=about, tags=tags, currency=currency)
    base = in_base(tally.amount)
    whole = None if currency is None else int(tally.amount)
    parts = {part: share for part, share in tally.parts.items() if share}
    if base or (tally.amount and not parts):
        return [made(base, settles, tuple(parts.items()), currency_amount=whole)]
    # The same base now settles other parts: one line adds the new parts, one reverses the old.
    up = tuple((part, share) for part, share in parts.items() if share > 0)
    down = tuple((part, share) for part, share in parts.items() if share < 0)
    splits = [split for split in (up, down) if split]
    return [
        made(sum(share for _, share in split), settles, split, currency_amount=amount)
        for split, amount in zip(splits, (whole, whole and 0), strict=False)
    ]


def _entry(source: Source, on: date, stream: str, lines: tuple[Line, ...], opening: str) -> Entry:
    if sum(line.amount for line in lines):
        raise ValueError(f"an entry of {source.type} {source.id} on {on} does not balance")
    description = opening + source.titles[stream]
    return Entry(
        entry_date=on,
        stream=stream,
        lines=lines,
        description=description[0].upper() + description[1:],
        source_type=source.type,
        source_id=source.id,
        reference=source.reference,
        about=source.about,
        in_cash=stream not in source.agreed,
    )


def _standing(posted: Iterable[PostedEntry]) -> list[PostedEntry]:
    days: dict[date, list[PostedEntry]] = defaultdict(list)
    for entry in posted:
        if not entry.reversed and entry.reversal_of_id is None:
            days[entry.entry_date].append(entry)
    standing: list[PostedEntry] = []
    for entry in chain.from_iterable(days.values()):
        if _cancel_out(_lines_of(*days[entry.entry_date])):
            continue
        opposite = next((each for each in standing if _cancel_out(_lines_of(each, entry))), None)
        if opposite is None:
            standing.append(entry)
        else:
            standing.remove(opposite)
    return standing


def _lines_of(*entries: Entry) -> list[Line]:
    return [line for entry in entries for line in entry.lines]


def _cancel_out(lines: Iterable[Line]) -> bool:
    """Return whether lines add up to nothing, by amount and by part."""
    tallies: _Tallies = defaultdict(_Tally)
    _add_lines(tallies, lines, 1)
    return not any(_lines_at(place, tally) for place, tally in tallies.items())


def _reversal(posted: PostedEntry, taking_back: Entry) -> Entry:
    title = posted.description[0].lower() + posted.description[1:]
    return Entry(
        entry_date=taking_back.entry_date,
        stream=posted.stream,
        lines=tuple(
            replace(
                line,
                amount=-line.amount,
                split=negative(line.split),
                currency_amount=None if line.currency_amount is None else -line.currency_amount,
            )
            for line in posted.lines
        ),
        description=f"Reversal of {title}",
        source_type=posted.source_type,
        source_id=posted.source_id,
        reference=taking_back.reference,
        reversal_of_id=posted.id,
        about=taking_back.about,
        in_cash=taking_back.in_cash,
    )


# The cash basis: what of an entry counts when money moves, and the document of each line.


def stays(entry: Entry, line: Line) -> bool:
    """Return whether a line counts on the cash basis as it is."""
    return entry.in_cash and not line.split


def parts(entry: Entry, line: Line) -> Split:
    """Return the parts that count on the cash basis in place of a line, with their sign.

    If 500.00 is paid of an invoice of 1000.00 and 200.00 tax, the credit of 500.00 on receivables
    counts as 416.67 on sales and 83.33 on tax.
    """
    return line.split if entry.in_cash else ()


def document_of(entry: Entry, line: Line) -> UUID:
    """Return the id of the document of a line: `about`, else what it settles, else its source.

    The payment of a refund, or the write-off of an invoice, belongs to that invoice.
    """
    own = line.about or line.settles or entry.source_id
    return entry.about.get(own, own)
