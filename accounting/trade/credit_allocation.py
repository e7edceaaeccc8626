"""What a credit settles: its parts, and the parts of the documents that they bring down."""

from collections.abc import Mapping, Sequence
from uuid import UUID

from accounting.books.context import Context
from accounting.books.splits import added, negative, take
from accounting.trade import credits, document_splits
from accounting.trade.allocation import (
    Allocation,
    AllocationItem,
    AllocationSource,
    Documents,
    live,
    moved,
    rearrange,
)
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.sides import Side
from accounting.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Credited:
    """A credit as it is now, the documents it touches, and which of them its change moved."""

    credit: Credit
    documents: Mapping[UUID, Document]
    changed: tuple[Document, ...]

    def since(self, loaded: Documents) -> "Credited":
        """Return the same with all documents as changed that are not as they were loaded."""
        changed = moved(self.documents, loaded, self.credit.updated_at)
        return replace(
            self, documents={**self.documents, **changed}, changed=tuple(changed.values())
        )


def allocated(
    side: Side,
    before: Credit | None,
    credit: Credit,
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    context: Context,
) -> Credited:
    """Bring allocations and documents in line with what is wanted of the credit."""
    if wanted:
        credits.refuse_not_open(side, credit, "applied")
    source = AllocationSource(
        party_id=credit.party.id,
        total=credit.total_amount,
        held=credit.refunded,
        by="credited",
        applied=True,
        start=None if before is None else context.today,
        end=context.today,
        identify=context.identify,
        applied_on=lambda each: credits.applied_on(credit, each, context.lock_date),
    )
    allocations, after = rearrange(side, credit.allocations, wanted, loaded, source)
    settled = _with_own_splits(credit, allocations)
    if before is not None and settled == before:
        return Credited(before, loaded, ())
    settled, after = _as_of_source(before, settled, after)
    return Credited(replace(settled, updated_at=context.now), after, ()).since(loaded)


def _as_of_source(
    before: Credit | None, credit: Credit, after: Documents
) -> tuple[Credit, Documents]:
    """Let what a credit newly settles of its own source be what it gives back, as far as left.

    Of 100.00 at 20 % and 50.00 at none, a credit of the 50.00 settles that and no tax.
    """
    known = set() if before is None else {each.id for each in before.allocations}
    history = []
    for each in credit.allocations:
        if each.document_id == credit.source_document_id and each.id not in known:
            document = after[each.document_id]
            matched = document_splits.matching(document, each.split, each.own_split, each.amount)
            changed = added(document.settled, negative(each.split), matched)
            after = {**after, document.id: replace(document, settled=changed)}
            history.append(replace(each, split=matched))
        else:
            history.append(each)
    return replace(credit, allocations=tuple(history)), after


def _with_own_splits(credit: Credit, allocations: Sequence[Allocation]) -> Credit:
    """Let what ended give its parts of the credit back, then let what begins take its own."""
    held = {each.id for each in live(credit.allocations)}
    ended = [each for each in allocations if each.id in held and each.end is not None]
    settled = added(credit.settled, *(negative(each.own_split) for each in ended))
    history = []
    for each in allocations:
        if not each.own_split:
            own_split = take(credits.parts(credit), settled, each.amount)
            settled = added(settled, own_split)
            history.append(replace(each, own_split=own_split))
        else:
            history.append(each)
    return replace(credit, allocations=tuple(history), settled=settled)
