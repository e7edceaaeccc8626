"""Tax returns: drafts, the journal entries that belong to each, their filing and superseding.

Nothing is written on posted lines. The entries of a year count in the order of their numbers, so
the contents of a filed return are given by days and by the number that each year had reached when
it was filed: an entry on these days with a higher number is late.

A document stays on the accounting basis of the days on which it was first posted, until a change
from cash to accrual moves its open amount (`accounting.tax.scheme_changes`).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from accounting.books.businesses import Context
from accounting.books.ledger import PostedEntry
from accounting.books.numbers import journal_series, journal_year
from accounting.errors import Conflict, ValidationError
from accounting.tax.commands import CreateTaxReturn, FileTaxReturn, Scheme
from accounting.tax.return_figures import Figures

DAY = timedelta(days=1)
LONGEST = timedelta(days=3_653)


class ReturnStatus(StrEnum):
    """The status of a return."""

    DRAFT = "draft"
    FILED = "filed"
    SUPERSEDED = "superseded"


NEXT_STATES: Final[Mapping[ReturnStatus, tuple[ReturnStatus, ...]]] = {
    ReturnStatus.DRAFT: (ReturnStatus.FILED,),
    ReturnStatus.FILED: (ReturnStatus.SUPERSEDED,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalRange:
    """Days of one year with a range of their entries: those numbered above `after`, up to `upto`.

    `late` entries should have been in a filed return; without `upto` all entries posted by now
    count. With a `change` the slice is the transition of a return that begins on this day: all days
    before it, of which the return has what is unsettled.
    """

    first: date
    last: date
    scheme: Scheme
    after: int = 0
    upto: int | None = None
    late: bool = False
    change: date | None = None

    @property
    def series(self) -> str:
        """The series in which the entries of these days are numbered."""
        return journal_series(self.first)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaxReturn:
    """A return of a period; once filed, it keeps its figures and its slices of the journal.

    `settlement` has the amounts by account, debits above zero, that its filing posted; None if it
    was filed without.
    """

    id: UUID
    version: int
    created_at: datetime
    updated_at: datetime
    start_date: date
    end_date: date
    scheme: Scheme
    status: ReturnStatus = ReturnStatus.DRAFT
    filed_at: datetime | None = None
    reference: str | None = None
    reason: str | None = None
    supersedes_id: UUID | None = None
    slices: tuple[JournalRange, ...] = ()
    figures: Figures | None = None
    settlement: Mapping[UUID, int] | None = None
    posted: tuple[PostedEntry, ...] = ()


def created(command: CreateTaxReturn, context: Context) -> TaxReturn:
    """Create a draft for any days. Raises ValidationError `validation_error`."""
    if command.end_date < command.start_date:
        raise ValidationError.fields(end_date=["must not be before start_date"])
    if command.end_date - command.start_date > LONGEST:
        raise ValidationError.fields(end_date=["must be at most ten years after start_date"])
    return TaxReturn(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        start_date=command.start_date,
        end_date=command.end_date,
        scheme=command.scheme,
    )


def superseding(old: TaxReturn, reason: str, context: Context) -> TaxReturn:
    """Create the draft of a return that replaces a filed one.

    Raises Conflict `invalid_state_transition`.
    """
    if old.status is not ReturnStatus.FILED:
        raise _refused_move(old, "Only a filed return can be superseded.")
    return TaxReturn(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        start_date=old.start_date,
        end_date=old.end_date,
        scheme=old.scheme,
        reason=reason,
        supersedes_id=old.id,
    )


def members(
    draft: TaxReturn, others: Iterable[TaxReturn], reached: Iterable[str]
) -> tuple[JournalRange, ...]:
    """Return the slices of a draft: the entries that are in no filed return, and late ones.

    If the first quarter was filed at number 40 of its year, the second has its own days, and of the
    first the entries above 40. A superseding return has what the old one had, and only the late
    entries of its own period. On accrual after cash a return also has a transition: all days before
    it, of the years whose series are `reached`.
    """
    filed = _filed(others)
    old = next((each for each in filed if each.id == draft.supersedes_id), None)
    begin, end = draft.start_date, draft.end_date
    if old is not None:
        own = _left(begin, end, filed, scheme=_late_scheme(end, filed), late=True)
        return (*old.slices, *own)
    before = sorted((each.start_date, each.end_date) for each in filed if each.start_date < begin)
    late = (
        piece
        for first, last in before
        for piece in _left(
            first, min(last, begin - DAY), filed, scheme=_late_scheme(last, filed), late=True
        )
    )
    return (
        *_transition(draft, filed, map(journal_year, reached)),
        *joined(late),
        *_left(begin, end, filed, scheme=draft.scheme, late=False),
    )


def unfiled(filed: Sequence[TaxReturn]) -> Iterator[JournalRange]:
    """Yield the slices of filed periods that no return has; their entries will be late."""
    for each in filed:
        scheme = _late_scheme(each.end_date, filed)
        yield from _left(each.start_date, each.end_date, filed, scheme=scheme, late=True)


def left_out(returns: Iterable[TaxReturn]) -> Iterator[JournalRange]:
    """Yield the days before and between returns that no return has, on the basis left to them.

    Before a first quarter on accrual and a third on cash, all days before that year are on accrual,
    and those of the second quarter on cash.
    """
    first = date.min
    for each in sorted(returns, key=lambda each: each.start_date):
        if first < each.start_date:
            yield JournalRange(first=first, last=each.start_date - DAY, scheme=_scheme_before(each))
        first = max(first, min(each.end_date, date.max - DAY) + DAY)


def _scheme_before(following: TaxReturn) -> Scheme:
    """Return the accounting basis of days that were left out before a return.

    It is cash if the return is on cash itself, or changed to accrual; else accrual.
    """
    changed = any(each.change is not None for each in following.slices)
    return Scheme.CASH if changed else following.scheme


def _late_scheme(last: date, filed: Iterable[TaxReturn]) -> Scheme:
    """Return the accounting basis of late entries of a filed period, which ends on `last`.

    It is cash only if no return on accrual ends on that day or later: such a return moved all that
    was open.
    """
    moved = any(each.scheme is Scheme.ACCRUAL and each.end_date >= last for each in filed)
    return Scheme.ACCRUAL if moved else Scheme.CASH


def _transition(
    draft: TaxReturn, filed: Iterable[TaxReturn], years: Iterable[int]
) -> Iterator[JournalRange]:
    """Yield all days before a change from cash to accrual, by year; else nothing."""
    before = [each for each in filed if each.start_date < draft.start_date]
    last = max(before, key=lambda each: each.start_date, default=draft)
    if (last.scheme, draft.scheme) != (Scheme.CASH, Scheme.ACCRUAL):
        return
    until = draft.start_date - DAY
    for year in sorted(years):
        if year <= until.year:
            yield JournalRange(
                first=date(year, 1, 1),
                last=min(date(year, 12, 31), until),
                scheme=draft.scheme,
                change=draft.start_date,
            )


def refuse_filing(draft: TaxReturn, others: Sequence[TaxReturn], context: Context) -> None:
    """Refuse to file a return that is no draft, is not over, or has days that are filed already.

    Raises Conflict `invalid_state_transition`, `tax_period_not_over`, `tax_scheme_changed` or
    `return_overlaps`.
    """
    if draft.status is not ReturnStatus.DRAFT:
        raise _refused_move(draft, "Only a draft can be filed.")
    if draft.end_date > context.today:
        raise Conflict(
            "tax_period_not_over",
            f"The period of the return ends on {draft.end_date}. File it on that day or later.",
            end_date=draft.end_date.isoformat(),
        )
    if draft.supersedes_id is None:
        _refuse_other_scheme(draft, others)
    for each in others:
        apart = each.end_date < draft.start_date or draft.end_date < each.start_date
        if each.status is ReturnStatus.FILED and each.id != draft.supersedes_id and not apart:
            raise Conflict(
                "return_overlaps",
                f"A return from {each.start_date} to {each.end_date} is already filed."
                " Supersede it, or choose other dates.",
                id=str(each.id),
                start_date=each.start_date.isoformat(),
                end_date=each.end_date.isoformat(),
            )


def _refuse_other_scheme(draft: TaxReturn, others: Iterable[TaxReturn]) -> None:
    """Refuse to change the accounting basis on days that were left out before a filed return."""
    later = [each for each in _filed(others) if each.start_date > draft.end_date]
    following = min(later, key=lambda each: each.start_date, default=draft)
    scheme = _scheme_before(following)
    if draft.scheme is not scheme and following is not draft:
        raise Conflict(
            "tax_scheme_changed",
            f"The filed return from {following.start_date} on requires the scheme {scheme} for"
            " these days. Only a return after the last filed return may change the scheme.",
            id=str(following.id),
            scheme=str(scheme),
        )


def _filed(others: Iterable[TaxReturn]) -> list[TaxReturn]:
    return [each for each in others if each.status is ReturnStatus.FILED]


def filed(
    draft: TaxReturn,
    command: FileTaxReturn,
    having: tuple[Sequence[JournalRange], Figures],
    reached: Mapping[str, int],
    context: Context,
) -> TaxReturn:
    """Set a draft to filed, with its contents; `reached` is the last number of each series."""
    slices, figures = having
    return replace(
        draft,
        status=ReturnStatus.FILED,
        filed_at=context.now,
        updated_at=context.now,
        reference=command.reference,
        slices=tuple(_closed(slices, reached)),
        figures=figures,
    )


def superseded(old: TaxReturn, context: Context) -> TaxReturn:
    """Mark a return as superseded."""
    return replace(old, status=ReturnStatus.SUPERSEDED, updated_at=context.now)


def refuse_deleting(tax_return: TaxReturn) -> None:
    """Refuse to delete a filed return. Raises Conflict `invalid_state_transition`."""
    if tax_return.status is not ReturnStatus.DRAFT:
        raise _refused_move(tax_return, "Only a draft can be deleted.")


def locked_to(draft: TaxReturn, context: Context) -> date:
    """Return the day up to which filing locks the books, never before the present lock."""
    return max(draft.end_date, context.lock_date or draft.end_date)


def _closed(slices: Iterable[JournalRange], reached: Mapping[str, int]) -> Iterator[JournalRange]:
    """Set the last number of each slice; an empty slice is left out."""
    for each in slices:
        upto = reached.get(each.series, 0) if each.upto is None else each.upto
        if upto > each.after:
            yield replace(each, upto=upto)


def _left(
    first: date, last: date, filed: Sequence[TaxReturn], *, scheme: Scheme, late: bool
) -> Iterator[JournalRange]:
    """Return slices of the entries on some days that no filed return has."""
    taken = [piece for each in filed for piece in each.slices if piece.change is None]
    return joined(
        JournalRange(first=begin, last=end, after=_reached(begin, taken), late=late, scheme=scheme)
        for begin, end in cut(first, last, taken)
    )


def cut(first: date, last: date, slices: Iterable[JournalRange]) -> Iterator[tuple[date, date]]:
    """Divide days where years and slices begin and end."""
    cuts = {first, *(date(year, 1, 1) for year in range(first.year + 1, last.year + 1))}
    for each in slices:
        cuts |= {each.first, each.last + DAY}
    begins = sorted(day for day in cuts if first <= day <= last)
    yield from zip(begins, [*(begin - DAY for begin in begins[1:]), last], strict=True)


def _reached(day: date, taken: Iterable[JournalRange]) -> int:
    """Return the highest entry number of a day that filed returns have."""
    return max((each.upto or 0 for each in taken if each.first <= day <= each.last), default=0)


def joined(slices: Iterable[JournalRange]) -> Iterator[JournalRange]:
    """Merge slices of consecutive days that are otherwise the same."""
    last: JournalRange | None = None
    for each in slices:
        if last is not None and _goes_on(last, each):
            last = replace(last, last=each.last)
            continue
        if last is not None:
            yield last
        last = each
    if last is not None:
        yield last


def _goes_on(before: JournalRange, after: JournalRange) -> bool:
    """Return whether two slices differ in their days only, which are consecutive in one year."""
    alike = replace(after, first=before.first, last=before.last) == before
    return alike and before.series == after.series and before.last + DAY == after.first


def _refused_move(tax_return: TaxReturn, message: str) -> Conflict:
    allowed = [str(each) for each in NEXT_STATES.get(tax_return.status, ())]
    return Conflict.of_state(message, str(tax_return.status), allowed)
