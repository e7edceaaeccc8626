"""Allocation of credits: the parts that are used, and the document parts that are settled."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
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


@dataclass(frozen=True, slots=True)
class Credited:
    """A credit after a change, the documents it affects, and those of them that changed."""

    credit: Credit
    documents: Mapping[UUID, Document]
    changed: tuple[Document, ...]

    def since(self, loaded: Documents) -> "Credited":
        """Return a copy that lists every document that differs from `loaded` as changed."""
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
    """Make the wanted items the live allocations of the credit, and update the documents."""
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
    """Split new allocations to the credit's source by the parts of the credit, as far as left.

    Of 100.00 at 20 % and 50.00 without tax, a credit of the 50.00 settles the 50.00 and no tax.
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
    """Release the parts of ended allocations, then take parts of the credit for new ones."""
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
