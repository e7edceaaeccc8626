"""Amounts that posted lines contribute to a tax return, and the selection that a list shows."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from accounting.books.ledger import Split, TaxMark
from accounting.tax.cash_schemes import CountedCodes
from accounting.tax.return_figures import CREDIT, DEBIT, BoxSource
from accounting.tax.returns import JournalRange
from persistence.engine.sql import Row
from persistence.ledger.split_rows import mark_in, split_of
from persistence.tax.document_schemes import WRITE_OFFS


@dataclass(frozen=True, slots=True)
class Share:
    """An amount that a line contributes to a tax return; a debit is positive.

    In a transition, a line that settles reduces the unsettled amount.
    """

    mark: TaxMark
    amount: int
    is_transition: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """The listed part of a tax return: slices, when codes count, and the selected amounts.

    With a `rate`, only amounts at this rate. If the scheme has changed, `declared` are the slices
    that determine the scheme of each document, and `unsettled` are the documents in a transition.
    """

    slices: Sequence[JournalRange]
    counted: CountedCodes
    behind: frozenset[BoxSource]
    known_at: datetime
    rate: Decimal | None = None
    declared: Sequence[JournalRange] = ()
    unsettled: frozenset[UUID] = frozenset()

    def has(self, share: Share) -> bool:
        """Return whether a share is selected."""
        side = DEBIT if share.amount > 0 else CREDIT
        mark = share.mark
        source = BoxSource(mark.code_id, mark.part, side, mark.rate)
        is_selected = source in self.behind or source.of_all_rates in self.behind
        return is_selected and self.rate in (None, mark.rate)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnLine:
    """A posted line with its entry, its account and its shares in a tax return."""

    id: UUID
    entry_id: UUID
    entry_date: date
    sequence_number: str
    description: str
    reference: str | None
    source_type: str
    source_id: UUID
    created_at: datetime
    account_id: UUID
    account_code: str
    account_name: str
    shares: tuple[Share, ...]


def line_of(row: Row, selection: Selection) -> ReturnLine:
    """Make a line from its row, with its selected shares.

    A line is a tax part itself, or it settles parts: never both. Of the settled parts, only codes
    that count when settled are included. In a transition, a line adds to the unsettled amount, or
    reduces it if it settles. The split of a write-off counts with the opposite sign: its reversal
    makes the parts unsettled again.
    """
    mark, split = mark_in(row), split_of(row.pop("split"))
    amount = row.pop("debit") - row.pop("credit")
    counts, moves, settles = row.pop("counts"), row.pop("moves"), row.pop("settles")
    settled = selection.counted.when_settled
    own = _of_split(split, settled) if mark is None else [Share(mark, amount)]
    given_up = mark is None and row["source_type"] in WRITE_OFFS
    shares = [replace(each, amount=-each.amount) if given_up else each for each in own if counts]
    sign = -1 if settles else 1
    shares += [Share(each.mark, sign * each.amount, True) for each in own if moves]
    return ReturnLine(**row, shares=tuple(each for each in shares if selection.has(each)))


def _of_split(split: Split, settled: Collection[UUID]) -> list[Share]:
    marked = ((part.tax, amount) for part, amount in split if part.tax is not None)
    return [Share(mark, amount) for mark, amount in marked if mark.code_id in settled]
