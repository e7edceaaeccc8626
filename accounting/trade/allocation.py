"""Allocations of payments and credits to documents, their dates and their changes."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from uuid import UUID

from accounting.absent import ABSENT, Absent, or_else
from accounting.books.businesses import Context, refuse_out_of_order
from accounting.books.foreign import in_base, share_of
from accounting.books.ledger import Split, negative
from accounting.errors import AboutItem, RuleViolation, ValidationError
from accounting.trade import documents
from accounting.trade.documents import Document, Settlement
from accounting.trade.sides import Side


@dataclass(frozen=True, slots=True)
class Allocation:
    """A part of a payment or credit allocated to one document; live while it has no `end`.

    `split` (amounts by part) is set when the allocation is applied, which requires a completed
    payment; an allocation that ended without a split was only ever reserved. `own_split` lists the
    parts of a credit that it uses; money has none. Applied money in a foreign currency brings the
    base of its `amount`; a document in another currency is settled by `document_amount`. Without a
    `start` it has the date of its payment or credit. Nothing is applied before `document_date`, the
    date of the document when the part was allocated: a document without allocations may change its
    date.
    """

    id: UUID
    document_id: UUID
    amount: int
    document_date: date
    start: date | None = None
    end: date | None = None
    split: Split = ()
    own_split: Split = ()
    description: str | None = None
    version: int = 0
    document_amount: int | None = None

    @property
    def settles(self) -> int:
        """The amount in the currency of the document."""
        return self.amount if self.document_amount is None else self.document_amount


@dataclass(frozen=True, slots=True)
class AllocationItem:
    """A requested allocation: an amount for a document, and a description.

    `document_amount` is the amount in the currency of the document, if that is another one.
    `place` is the place of the document in the request, such as `allocations.2.invoice_id`. `on` is
    the requested day of a new allocation, or the corrected day of an existing one. `old_split` is
    the earlier split of the amount, where it is to be used again.
    """

    document_id: UUID
    amount: int
    description: str | None = field(default=None, compare=False)
    place: str = field(default="", compare=False)
    on: date | None = field(default=None, compare=False)
    old_split: Split = field(default=(), compare=False)
    document_amount: int | None = None

    @property
    def settles(self) -> int:
        """The amount in the currency of the document."""
        return self.amount if self.document_amount is None else self.document_amount


@dataclass(frozen=True, slots=True)
class AllocationSource:
    """The facts of a payment or credit that its allocations depend on.

    `held` is the amount of the `total` that is refunded; both of a payment have their base, in a
    foreign currency. A payment may also settle documents of another currency (`across`). `applied`
    is true while a payment is completed, else its parts are reserved. `day` is the date of the
    payment or credit. `start` is the day of new allocations that name none, or None for `day`;
    `end` is the day of released ones. `applied_on` returns the day of the entry that applies an
    allocation.
    """

    party_id: UUID
    total: int
    held: int
    by: Settlement
    applied: bool
    day: date
    start: date | None
    end: date
    context: Context
    applied_on: Callable[[Allocation], date]
    currency: str
    across: bool = False


Documents = Mapping[UUID, Document]


def live(allocations: Iterable[Allocation]) -> tuple[Allocation, ...]:
    """Return the allocations that have not ended."""
    return tuple(each for each in allocations if each.end is None)


def exchange_difference(side: Side, allocation: Allocation) -> int:
    """Return the exchange gain in base of an applied amount; a loss is below zero.

    USD 100.00 that bring EUR 95.00 and settle 90.00 of an invoice gain 5.00; of a bill they lose
    it.
    """
    used = allocation.own_split or ((None, allocation.amount),)
    return side.sign * exchanged(sum(in_base(amount) for _, amount in used), allocation.split)


def exchanged(brought: int, split: Split) -> int:
    """Return the base that is brought beyond that of a split: 95.00 for 90.00 is 5.00.

    Without a split nothing is applied yet, so it is 0.
    """
    return brought - sum(in_base(amount) for _, amount in split) if split else 0


def items_of(allocations: Iterable[Allocation]) -> list[AllocationItem]:
    """Return the live allocations as items that a caller could request."""
    return [
        AllocationItem(
            each.document_id,
            int(each.amount),
            each.description,
            document_amount=each.document_amount,
        )
        for each in live(allocations)
    ]


def refuse_repeated(side: Side, items: Iterable[AllocationItem]) -> None:
    """Refuse a list of allocations that names a document twice.

    Raises ValidationError `validation_error`.
    """
    seen: set[UUID] = set()
    faults = {}
    for item in items:
        if item.document_id in seen:
            faults[item.place] = [f"repeats the {side.words.document} of an earlier item"]
        seen.add(item.document_id)
    if faults:
        raise ValidationError.fields(**faults)


def documents_affected(
    allocations: Iterable[Allocation], wanted: Iterable[AllocationItem] | Absent = ABSENT
) -> set[UUID]:
    """Return the ids of the documents of live allocations and of wanted items."""
    held = {each.document_id for each in live(allocations)}
    return held | {each.document_id for each in or_else(wanted, ())}


def refuse_closed(side: Side, items: Iterable[AllocationItem], loaded: Documents) -> None:
    """Refuse items for documents that do not exist or are not open.

    Raises RuleViolation `reference_not_found`, or the side's API error for a document that is not
    open.
    """
    for item in items:
        with AboutItem(item.place.rpartition(".")[0]):
            document = loaded.get(item.document_id)
            if document is None:
                raise RuleViolation(
                    "reference_not_found",
                    f"The business has no such {side.words.document}.",
                    resource=side.words.document,
                    reference=str(item.document_id),
                )
            refuse_not_open(side, document)


def refuse_not_open(side: Side, document: Document) -> None:
    """Refuse to settle or refund a document that is a draft or void.

    Raises the side's API error, Conflict `invoice_not_open` or `bill_not_open`.
    """
    if document.state != "open":
        shown = "voided" if document.state == "void" else document.state
        named = {side.names.document_id: str(document.id)}
        raise side.refusals.not_open(current_state=shown, **named)


def rearrange(
    side: Side,
    allocations: Sequence[Allocation],
    wanted: Sequence[AllocationItem],
    loaded: Documents,
    source: AllocationSource,
) -> tuple[tuple[Allocation, ...], Documents]:
    """Make the wanted items the live allocations, and update the amounts of the documents.

    An allocation that is wanted unchanged keeps its split, and its date unless the item gives
    another one. Any other live allocation ends and releases its split; then the new allocations
    take theirs from what is left. Of 600 for one invoice, wanted at 200, the 600 ends and a new 200
    begins, both on the item's day. Raises RuleViolation `reference_not_found`,
    `allocation_exceeds_total`, `allocation_exceeds_outstanding` or `date_out_of_order`; Conflict
    `period_locked`; and the side's API errors.
    """
    staying = {each.id for each in live(allocations) if _stays(each, wanted, source)}
    kept = {each.document_id for each in allocations if each.id in staying}
    begun = [item for item in wanted if item.document_id not in kept]
    refuse_closed(side, begun, loaded)
    _refuse_excess(wanted, source)
    after = dict(loaded)
    items = {item.document_id: item for item in wanted}
    history = [
        _restated(each, items[each.document_id], source)
        if each.id in staying
        else _ended(each, items.get(each.document_id), after, source)
        for each in allocations
    ]
    history += [_begun(side, item, after, source) for item in begun]
    if source.applied:
        old = {item.document_id: item.old_split for item in begun}
        history = _all_applied(history, after, source, old)
    return tuple(history), after


def redated(
    before: Iterable[Allocation],
    allocations: Iterable[Allocation],
    settled: Documents,
    was_on: Callable[[Allocation], date],
    on: Callable[[Allocation], date],
) -> Documents:
    """Move the `paid_on` of settled documents whose allocations are now of another day.

    `was_on` returns the former day of an applied allocation, `on` its day now. An allocation that
    is now later than all others decides `paid_on`.
    """
    moved = dict(settled)
    earlier = {each.id: each for each in before if each.split}
    for each in live(allocations):
        document, was = settled[each.document_id], earlier.get(each.id)
        if was is not None and document.paid_on is not None:
            former, day = was_on(was), on(each)
            if day != former and (document.paid_on == former or document.paid_on < day):
                moved[document.id] = replace(document, paid_on=day)
    return moved


def changed_documents(after: Documents, loaded: Documents, now: datetime) -> Documents:
    """Return the documents that differ from the loaded ones, updated at `now`."""
    return {
        id_: replace(document, updated_at=now)
        for id_, document in after.items()
        if document != loaded[id_]
    }


def _stays(
    allocation: Allocation, wanted: Sequence[AllocationItem], source: AllocationSource
) -> bool:
    """Return whether an allocation is wanted unchanged.

    An applied allocation that is only reserved from now on ends as well: its split is history.
    """
    unapplied = bool(allocation.split) and not source.applied
    same = allocation.document_id, allocation.amount, allocation.settles
    asked = ((item.document_id, item.amount, item.settles) for item in wanted)
    return same in asked and not unapplied


def _first_day(allocation: Allocation, source: AllocationSource) -> date:
    """Return the day of an allocation: its own, but not before its source and its document."""
    return max(allocation.start or source.day, source.day, allocation.document_date)


def _restated(allocation: Allocation, item: AllocationItem, source: AllocationSource) -> Allocation:
    """Return an allocation that stays, with the description and the day of its item.

    An application of 10 October that belongs to 20 September moves to that day.
    """
    restated = replace(allocation, description=item.description)
    if item.on is None or item.on == _first_day(allocation, source):
        return restated
    _refuse_day(item, max(source.day, allocation.document_date), source)
    return replace(restated, start=item.on)


def _refuse_day(item: AllocationItem, earliest: date, source: AllocationSource) -> None:
    """Refuse a requested day before `earliest`, after today, or inside the lock.

    Raises RuleViolation `date_out_of_order`; Conflict `period_locked`.
    """
    if item.on is not None:
        with AboutItem(item.place.rpartition(".")[0]):
            refuse_out_of_order(source.context, "allocation_date", item.on, earliest)


def _ended(
    allocation: Allocation,
    item: AllocationItem | None,
    after: dict[UUID, Document],
    source: AllocationSource,
) -> Allocation:
    """End a live allocation and release its amount of the document; return others unchanged.

    An `item` replaces it by another amount, from the item's day on.
    """
    if allocation.end is not None:
        return allocation
    document = after[allocation.document_id]
    after[document.id] = _released(document, allocation, source.by)
    if item is None or item.on is None:
        return replace(allocation, end=source.end)
    _refuse_day(item, _first_day(allocation, source), source)
    return replace(allocation, end=item.on)


def _released(document: Document, allocation: Allocation, by: Settlement) -> Document:
    if not allocation.split:
        return documents.reserve(document, -allocation.settles)
    return documents.settle(document, -allocation.settles, negative(allocation.split), by=by)


def _begun(
    side: Side, item: AllocationItem, after: dict[UUID, Document], source: AllocationSource
) -> Allocation:
    """Reserve an amount of what is left of a document, for a new allocation."""
    document = after[item.document_id]
    document_date = documents.opened_on(document)
    _refuse_item(side, item, document, source)
    _refuse_day(item, max(source.day, document_date), source)
    after[document.id] = documents.reserve(document, item.settles)
    return Allocation(
        id=source.context.identify(),
        document_id=document.id,
        amount=item.amount,
        document_date=document_date,
        start=item.on or source.start,
        description=item.description,
        document_amount=item.document_amount if source.currency != document.currency else None,
    )


def _refuse_excess(wanted: Sequence[AllocationItem], source: AllocationSource) -> None:
    allocated = source.held + sum(item.amount for item in wanted)
    if allocated > source.total:
        raise RuleViolation(
            "allocation_exceeds_total",
            "The allocations exceed the total.",
            total_amount_cents=int(source.total),
            allocated_amount_cents=int(allocated),
            **({"refunded": int(source.held)} if source.held else {}),
        )


def _refuse_item(
    side: Side, item: AllocationItem, document: Document, source: AllocationSource
) -> None:
    with AboutItem(item.place.rpartition(".")[0]):
        if document.party.id != source.party_id:
            raise side.refusals.of_another_party(**{side.names.document_id: str(document.id)})
        _refuse_other_currency(document, item, source)
        refuse_more_than_left(side, document, item.settles)


def _refuse_other_currency(
    document: Document, item: AllocationItem, source: AllocationSource
) -> None:
    """Refuse an amount for a document in another currency without the amount in that currency.

    Raises RuleViolation `currency_mismatch`.
    """
    if document.currency == source.currency:
        fits = item.document_amount in (None, item.amount)
        words = "The document has the same currency, so document_amount_cents is amount_cents."
    else:
        fits = source.across and item.document_amount is not None
        words = "A credit settles only documents in its own currency."
        if source.across:
            words = (
                f"The document is in {document.currency}. Give document_amount_cents, the amount"
                " in that currency."
            )
    if not fits:
        raise RuleViolation(
            "currency_mismatch",
            words,
            field="document_amount_cents",
            currency=source.currency,
            document_currency=document.currency,
        )


def refuse_more_than_left(side: Side, document: Document, amount: int) -> None:
    """Refuse to settle more than is left of a document, or less than 1.

    Raises RuleViolation `allocation_exceeds_outstanding`.
    """
    left = documents.left(document)
    if not 1 <= amount <= left:
        raise RuleViolation(
            "allocation_exceeds_outstanding",
            f"At most {left} of the {side.words.document} can be settled, in minor units.",
            left=left,
            amount=amount,
            outstanding_balance=documents.outstanding(document),
            reserved=document.reserved,
            **{side.names.document_id: str(document.id)},
        )


def _all_applied(
    history: Sequence[Allocation],
    after: dict[UUID, Document],
    source: AllocationSource,
    old_splits: Mapping[UUID, Split],
) -> list[Allocation]:
    """Turn live reservations into settlements; each brings its share of what the money has left."""
    used = sum(each.amount for each in live(history) if each.split)
    left = source.total - source.held - used
    applied = []
    for each in history:
        if each.end is not None or each.split:
            applied.append(each)
            continue
        amount = share_of(left, each.amount)
        left -= amount
        split = _split_on_document(each, after, source, old_splits.get(each.document_id, ()))
        applied.append(replace(each, amount=amount, split=split))
    return applied


def _split_on_document(
    allocation: Allocation, after: dict[UUID, Document], source: AllocationSource, old_split: Split
) -> Split:
    """Settle a document by a reservation; return the split of the settlement."""
    document, amount = after[allocation.document_id], allocation.settles
    if documents.has_left(document, old_split):
        split = documents.taken_again(document, old_split)
    else:
        split = documents.share_out(document, amount)
    on = source.applied_on(allocation)
    after[document.id] = documents.settle(document, amount, split, on, source.by, reserved=amount)
    return split
