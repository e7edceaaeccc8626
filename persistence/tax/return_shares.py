"""What of a return each posted line is behind, and which of that a list asks for."""

from collections.abc import Collection, Sequence
from datetime import date, datetime
from decimal import Decimal
from uuid import UUID

from accounting.books.splits import Split
from accounting.books.tax_marks import TaxMark
from accounting.tax.cash_schemes import Counted
from accounting.tax.return_figures import CREDIT, DEBIT, Behind
from accounting.tax.returns import Slice
from accounting.values import dataclass, replace
from persistence.engine.sql import Row
from persistence.ledger.split_rows import mark_in, split_of
from persistence.tax.document_schemes import WRITE_OFFS


@dataclass(frozen=True, slots=True)
class Share:
    """What of a return a line is behind: a debit above zero, a credit below.

    In a transition a line that settles lowers what is unsettled.
    """

    mark: TaxMark
    amount: int
    is_transition: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What of a return is listed: slices, what makes amounts count, and which of them.

    With a `rate` only amounts of tax at it. Where the scheme has changed, `declared` says which one
    what is on, and `unsettled` names the documents that a transition has.
    """

    slices: Sequence[Slice]
    counted: Counted
    behind: frozenset[Behind]
    known_at: datetime
    rate: Decimal | None = None
    declared: Sequence[Slice] = ()
    unsettled: frozenset[UUID] = frozenset()

    def has(self, share: Share) -> bool:
        """Tell whether a share is among what is listed."""
        side = DEBIT if share.amount > 0 else CREDIT
        at_rate = self.rate is None or share.mark.rate == self.rate
        return at_rate and Behind(share.mark.code_id, share.mark.part, side) in self.behind


@dataclass(frozen=True, slots=True, kw_only=True)
class ReturnLine:
    """A posted line with its entry and account, and what of the return it is behind."""

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
    """Make a line of its row, with its shares in what is asked for.

    A line is a part itself, or it settles parts: never both, and of what it settles only codes
    that count as they are settled. Of a transition it is a part of what is unsettled, or takes from
    it; a write-off that is taken back gives that again.
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
