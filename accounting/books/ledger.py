"""Double entry as arithmetic: what a document desires, less what is posted for it, is posted."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import date, timedelta
from itertools import chain
from uuid import UUID

from accounting.books.chart import AccountType
from accounting.books.numbers import Number
from accounting.books.splits import Part, Split, negative
from accounting.books.tax_marks import TaxMark


@dataclass(frozen=True, slots=True)
class Movement:
    """An amount that a document desires on an account, a debit above zero, a credit below.

    Movements of one stream and day make one entry. `settles` is the document that is settled, and
    `split` the parts of it that the amount settles; `tax` marks the amount for a tax return.
    `about` is the document that the amount belongs to, if that is neither the settled document nor
    the source.
    """

    on: date
    stream: str
    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    tax: TaxMark | None = None
    about: UUID | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """A line of an entry, a debit above zero, a credit below; `about` as in a movement."""

    account_id: UUID
    amount: int
    settles: UUID | None = None
    split: Split = ()
    description: str | None = None
    tax: TaxMark | None = None
    about: UUID | None = None

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
class Posted(Entry):
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
            self.parts[part] += sign * share


_Place = tuple[UUID, UUID | None, TaxMark | None, UUID | None, int]
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

    Amounts are compared by stream, day, account, settled document, tax mark and `about`; locked
    days count as the day after the lock. If an invoice is posted at 100 and desires 80, a credit of
    20 on receivables and a debit of 20 on sales remain. Raises ValueError if an entry does not
    balance, which is an error in the rules and not in the request.
    """
    posted = list(posted)
    known = {entry.stream for entry in posted}
    days: dict[tuple[date, str], _Tallies] = defaultdict(lambda: defaultdict(_Tally))
    for move in desired:
        # A first posting keeps debits and credits of one account apart; a change nets them.
        side = 0 if move.stream in known else _sign(move.amount)
        tallies = days[after_lock(move.on, lock_date), move.stream]
        place = move.account_id, move.settles, move.tax, move.about, side
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


def as_reversals(entries: Iterable[Entry], posted: Iterable[Posted]) -> list[Entry]:
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
        place = line.account_id, line.settles, line.tax, line.about, 0
        tallies[place].add(line.amount, line.split, sign)


def _lines(tallies: _Tallies) -> tuple[Line, ...]:
    lines = [line for place, tally in tallies.items() for line in _lines_at(place, tally)]
    return tuple(sorted(lines, key=lambda line: line.amount < 0))


def _lines_at(place: _Place, tally: _Tally) -> list[Line]:
    account_id, settles, tax, about, _ = place
    parts = {part: share for part, share in tally.parts.items() if share}
    if tally.amount:
        settled = tuple(parts.items())
        return [Line(account_id, tally.amount, settles, settled, tax=tax, about=about)]
    # The same amount now settles other parts: one line adds the new parts, one reverses the old.
    up = tuple((part, share) for part, share in parts.items() if share > 0)
    down = tuple((part, share) for part, share in parts.items() if share < 0)
    return [
        Line(account_id, sum(share for _, share in split), settles, split, tax=tax, about=about)
        for split in (up, down)
        if split
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


def _standing(posted: Iterable[Posted]) -> list[Posted]:
    days: dict[date, list[Posted]] = defaultdict(list)
    for entry in posted:
        if not entry.reversed and entry.reversal_of_id is None:
            days[entry.entry_date].append(entry)
    standing: list[Posted] = []
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


def _reversal(posted: Posted, taking_back: Entry) -> Entry:
    title = posted.description[0].lower() + posted.description[1:]
    return Entry(
        entry_date=taking_back.entry_date,
        stream=posted.stream,
        lines=tuple(
            replace(line, amount=-line.amount, split=negative(line.split)) for line in posted.lines
        ),
        description=f"Reversal of {title}",
        source_type=posted.source_type,
        source_id=posted.source_id,
        reference=taking_back.reference,
        reversal_of_id=posted.id,
        about=taking_back.about,
        in_cash=taking_back.in_cash,
    )
