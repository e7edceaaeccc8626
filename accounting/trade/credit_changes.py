"""Changes of credits: create, send, allocate and void, with the documents that they settle."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any
from uuid import UUID

from accounting.absent import or_else, said
from accounting.books.accounts import AccountReference, BookAccounts
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Roles
from accounting.books.foreign import Worth
from accounting.books.ledger import added, negative, take
from accounting.books.numbers import PendingNumber
from accounting.books.record_rates import (
    NO_WORTH_GIVEN,
    GivenWorth,
    currency_or_base,
    given_rate,
    worth_of,
)
from accounting.errors import Conflict, RuleViolation
from accounting.money import within_bounds
from accounting.tax.day_codes import TaxReferences
from accounting.trade import credit_lines, credits, documents, remaining_by_line
from accounting.trade.allocation import (
    Allocation,
    AllocationItem,
    AllocationSource,
    Documents,
    changed_documents,
    items_of,
    live,
    rearrange,
    redated,
    refuse_closed,
    refuse_not_open,
    refuse_repeated,
)
from accounting.trade.commands import ChangeDocument, ReplaceCredit, WriteCredit
from accounting.trade.credits import Credit, CreditLine, is_coded
from accounting.trade.documents import Document
from accounting.trade.holds import refuse_in_opening
from accounting.trade.line_changes import changed_lines, on_other_accounts
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.refunds import Refund
from accounting.trade.sides import Side
from accounting.trade.translation import translated_credit

# Allocation of credits: the parts that are used, and the document parts that are settled.


@dataclass(frozen=True, slots=True)
class AmendedCredit:
    """A credit after a change, the documents it affects, and those of them that changed."""

    credit: Credit
    documents: Mapping[UUID, Document]
    changed: tuple[Document, ...]

    def since(self, loaded: Documents) -> "AmendedCredit":
        """Return a copy that lists every document that differs from `loaded` as changed."""
        changed = changed_documents(self.documents, loaded, self.credit.updated_at)
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
) -> AmendedCredit:
    """Make the wanted items the live allocations of the credit, and update the documents."""
    if wanted:
        credits.refuse_not_open(side, credit, "applied")
    source = AllocationSource(
        party_id=credit.party.id,
        total=credit.total_amount,
        held=credit.refunded,
        by="credited",
        applied=True,
        day=credits.opened_on(credit) if credit.opened_at else context.today,
        start=None if before is None else context.day,
        end=context.day,
        context=context,
        applied_on=lambda each: credits.applied_on(credit, each, context.lock_date),
        currency=credit.currency,
    )
    allocations, after = rearrange(side, credit.allocations, wanted, loaded, source)
    settled = _with_own_splits(credit, allocations)
    if before is not None and settled == before:
        return AmendedCredit(before, loaded, ())
    settled, after = _as_of_source(before, settled, after)
    if before is not None:
        after = redated(
            before.allocations, allocations, after, source.applied_on, source.applied_on
        )
    return AmendedCredit(replace(settled, updated_at=context.now), after, ()).since(loaded)


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
            matched = documents.matching(document, each.split, each.own_split, each.amount)
            changed = added(document.settled, negative(each.split), matched)
            after = {**after, document.id: documents.with_settled(document, changed)}
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


def account_references(command: WriteCredit) -> frozenset[AccountReference]:
    """List the accounts that a credit references, so that they can be loaded first."""
    return frozenset(line.account for line in command.lines if line.account is not None)


def source_of(command: WriteCredit) -> set[UUID]:
    """Return the id of the source document if lines of it are credited, or its rate may be needed.

    The source is then locked, and updated with its credited lines.
    """
    id_ = command.source_document_id
    needed = command.currency is not None or credit_lines.names_source(command.lines)
    return {id_} if id_ is not None and needed else set()


def create(
    side: Side,
    command: WriteCredit,
    party: Party,
    referenced: TaxReferences,
    loaded: Documents,
    context: Context,
) -> AmendedCredit:
    """Create a credit; with `opened_at` it is sent and may be allocated.

    `loaded` has the documents that it settles, and the source whose lines it credits. Lines of 1000
    with 200 tax and 500 sum to 1700. Raises the errors of `credit_lines.work_out`; Conflict
    `credit_not_sent`, `customer_archived`, `account_archived` or `period_locked`; RuleViolation
    `currency_mismatch`, `amount_too_large`, `reference_not_found`, `reference_mismatch`,
    `control_account`, `allocation_exceeds_total` or `allocation_exceeds_outstanding`; the side's
    API errors.
    """
    refuse_repeated(side, command.allocations)
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    currency = currency_or_base(command.currency, context)
    source = _source(side, command, party, currency, loaded)
    day = context.day_of(command.opened_at or context.now)
    referenced = referenced.of(currency, context.currency)
    lines = credit_lines.work_out(side, command.lines, referenced, source, day, context)
    credit = _draft(side, command, party, lines, referenced.roles, context)
    worth = given_rate(currency, command.worth, context)
    source = loaded.get(command.source_document_id) if command.source_document_id else None
    worth = worth or _rate_of_source(currency, source)
    if currency != context.currency:
        credit = replace(credit, currency=currency, worth=worth)
    documents = loaded
    if command.opened_at is not None:
        credit = _opened(side, credit, command.opened_at, context)
        documents = _reduced(credit, loaded, 1)
    return allocated(side, None, credit, command.allocations, documents, context).since(loaded)


def _source(
    side: Side, command: WriteCredit, party: Party, currency: str, loaded: Documents
) -> Document | None:
    """Return the open document of the party whose lines are credited, or None.

    Raises RuleViolation `reference_not_found` or `currency_mismatch`, or the side's API errors.
    """
    id_ = command.source_document_id
    if id_ is None or not credit_lines.names_source(command.lines):
        return None
    refuse_closed(side, [AllocationItem(id_, 0)], loaded)
    if loaded[id_].party.id != party.id:
        raise side.refusals.of_another_party(**{side.names.document_id: str(id_)})
    if loaded[id_].currency != currency:
        raise RuleViolation(
            "currency_mismatch",
            f"The {side.words.document} is in {loaded[id_].currency}. A credit of its lines has the"
            " same currency.",
            field="currency",
            currency=currency,
            document_currency=loaded[id_].currency,
        )
    return loaded[id_]


def _rate_of_source(currency: str, source: Document | None) -> Worth | None:
    """Return the rate of the document that a credit comes from, if it has the same currency."""
    if source is None or source.worth is None or source.currency != currency:
        return None
    return Worth(currency, source.worth.rate)


def _reduced(credit: Credit, loaded: Documents, sign: int) -> Documents:
    """Reduce the lines of the source by an open credit; a `sign` below zero undoes that."""
    shares = credits.source_shares(credit)
    if not shares or credit.source_document_id is None:
        return loaded
    source = loaded[credit.source_document_id]
    return {**loaded, source.id: remaining_by_line.record_credited_lines(source, shares, sign)}


def _draft(
    side: Side,
    command: WriteCredit,
    party: Party,
    lines: tuple[CreditLine, ...],
    roles: Roles,
    context: Context,
) -> Credit:
    """Create a draft credit with the totals of its lines."""
    return Credit(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=command.external_id,
        number=command.number,
        state="draft",
        currency=context.currency,
        opened_at=None,
        voided_at=None,
        source_document_id=command.source_document_id,
        refund_id=None,
        tax_account_id=roles[side.tax],
        **_amounts(lines),
        memo=command.memo,
        transaction_tags=command.transaction_tags,
        metadata=command.metadata,
    )


def replaced(
    side: Side,
    credit: Credit,
    command: ReplaceCredit,
    referenced: TaxReferences,
    loaded: Documents,
    context: Context,
) -> AmendedCredit:
    """Replace the descriptive fields of a credit, and its allocations if a list is given.

    A list replaces the live allocations, and unchanged items keep their date. `opened_at` sends a
    draft, and its taxes are computed again at the rates of that day. If nothing changes, the result
    has the same credit object. Raises Conflict `invalid_state_transition`, `credit_not_sent`,
    `customer_archived` or `period_locked`; RuleViolation `immutable_field`,
    `allocation_exceeds_total` or `allocation_exceeds_outstanding`; the side's API errors.
    """
    wanted = or_else(command.allocations, items_of(credit.allocations))
    refuse_repeated(side, wanted)
    if credit.state == "void":
        raise _refused_move(side, credit, "A void credit cannot be changed.")
    written = replace(
        credit,
        memo=command.memo,
        transaction_tags=command.transaction_tags,
        metadata=command.metadata,
    )
    at, documents = command.opened_at, loaded
    if at is not None and credit.state == "draft":
        of_day = _of_day(side, written, referenced, loaded, context.day_of(at))
        written = _opened(side, of_day, at, context)
        documents = _reduced(written, loaded, 1)
    elif at is not None and at != credit.opened_at:
        raise RuleViolation(
            "immutable_field",
            f"The {side.names.opened_at} of a credit cannot be changed.",
            field=side.names.opened_at,
        )
    return allocated(side, credit, written, wanted, documents, context).since(loaded)


def revised(
    side: Side, credit: Credit, command: ChangeDocument, accounts: BookAccounts, context: Context
) -> Credit:
    """Change what a credit states beside its amounts, and the accounts of its lines.

    If nothing changes, the same object is returned. Raises Conflict `invalid_state_transition` or
    `account_archived`, and `in_opening_balance` for another account; RuleViolation
    `reference_not_found` or `control_account`; ValidationError `validation_error`.
    """
    if credit.state == "void":
        raise _refused_move(side, credit, "A void credit cannot be changed.")
    accounts = accounts.of(credit.currency, context.currency)
    lines = changed_lines(credit.lines, command.lines, accounts)
    lines = translated_credit(lines, credit.worth)
    if on_other_accounts(credit.lines, lines):
        refuse_in_opening(credit.opening_id, "credit")
    words = said(command, "external_id", "memo", "transaction_tags", "metadata")
    written = replace(credit, lines=lines, **words)
    return credit if written == credit else replace(written, updated_at=context.now)


def _of_day(
    side: Side, draft: Credit, referenced: TaxReferences, loaded: Documents, day: date
) -> Credit:
    """Compute a draft again at the rates of another day, from what is then left of its source."""
    if not is_coded(draft):
        return draft
    id_ = draft.source_document_id
    source = None if id_ is None else loaded.get(id_)
    if source is not None:
        refuse_not_open(side, source)
    lines = credit_lines.work_out_again(side, draft.lines, referenced, source, day)
    return replace(draft, **_amounts(lines))


def _amounts(lines: tuple[CreditLine, ...]) -> dict[str, Any]:
    """Return the lines and their totals.

    Raises RuleViolation `negative_amount` if the total is below 1, or `amount_too_large`.
    """
    tax_total = within_bounds(sum(line.tax_amount for line in lines))
    total = within_bounds(sum(amount for line in lines for _, amount in line.charged))
    if total < 1:
        raise RuleViolation(
            "negative_amount", "The total of the credit must be above zero.", amount=total
        )
    return {"lines": lines, "tax_total": tax_total, "total_amount": total}


def void(
    side: Side,
    credit: Credit,
    voided_at: datetime | None,
    loaded: Documents,
    context: Context,
) -> AmendedCredit:
    """Void a sent credit, at a given moment or now, and restore the lines of its source.

    Raises Conflict `invalid_state_transition`, `credit_of_refund`, `in_opening_balance`,
    `credit_applied` or `period_locked`.
    """
    if credit.state != "open":
        raise _refused_move(side, credit, f"Only a {side.opened_status} credit can be voided.")
    if credit.refund_id is not None:
        raise Conflict(
            "credit_of_refund",
            "The credit belongs to a refund. Change or cancel the refund instead.",
            refund_id=str(credit.refund_id),
        )
    refuse_in_opening(credit.opening_id, "credit")
    if credits.used(credit):
        raise _refused_void(side, credit)
    at = voided_at or context.now
    day = context.day_of(at)
    if voided_at is not None:
        refuse_locked(context, day)
    voided = replace(credit, state="void", voided_at=at, voided_on=day, updated_at=context.now)
    return AmendedCredit(voided, _reduced(credit, loaded, -1), ()).since(loaded)


def of_refund(
    side: Side,
    refund: Refund,
    line: CreditLine,
    accounts: Roles,
    context: Context,
    *,
    on: date,
    number: PendingNumber,
) -> Credit:
    """Create the credit that a part of a refund is kept as, with one line and sent on a day."""
    return Credit(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=refund.party,
        external_id=None,
        number=number,
        state="open",
        currency=refund.currency,
        opened_at=context.start_of(on),
        opened_on=on,
        voided_at=None,
        source_document_id=None,
        refund_id=refund.id,
        tax_account_id=accounts[side.tax],
        **_amounts((line,)),
    )


def withdraw(side: Side, credit: Credit, loaded: Documents, context: Context) -> AmendedCredit:
    """Void a credit together with its refund; what it settled is outstanding again.

    Raises Conflict `credit_applied` if another refund has paid it out.
    """
    if credit.refunded:
        raise _refused_void(side, credit)
    released = allocated(side, credit, credit, [], loaded, context)
    voided = replace(
        released.credit,
        state="void",
        voided_at=context.at,
        voided_on=context.day,
        updated_at=context.now,
    )
    return AmendedCredit(voided, released.documents, released.changed)


def _opened(side: Side, credit: Credit, at: datetime, context: Context) -> Credit:
    refuse_inactive(side, credit.party)
    day = context.day_of(at)
    refuse_locked(context, day)
    number = credit.number or PendingNumber(side.credit_series)
    credit = with_worth(credit, NO_WORTH_GIVEN, day, context)
    return replace(credit, state="open", opened_at=at, opened_on=day, number=number)


def with_worth(credit: Credit, given: GivenWorth, day: date, context: Context) -> Credit:
    """Return an opened credit with its exchange rate and its base amounts."""
    total, rate = credit.total_amount, credit.worth
    worth = worth_of(credit.currency, total, given, day, context, rate)
    if worth is None:
        return credit
    return replace(credit, worth=worth, lines=translated_credit(credit.lines, worth))


def _refused_void(side: Side, credit: Credit) -> Conflict:
    documents = [str(each.document_id) for each in live(credit.allocations)]
    return Conflict(
        "credit_applied",
        "The credit is applied or refunded. Remove its allocations and cancel its refunds first.",
        applied_amount=credits.applied(credit),
        refunded_amount=credit.refunded,
        **{f"{side.names.document_id}s": documents},
    )


def _refused_move(side: Side, credit: Credit, message: str) -> Conflict:
    allowed = [side.opened_status] if credit.state == "draft" else []
    return Conflict.of_state(message, credits.status(side, credit), allowed)
