"""What may happen to an invoice or bill: made, replaced, opened, voided, deleted."""

from datetime import date, datetime, timedelta
from typing import Any

from accounting.absent import Absent, or_none
from accounting.books.context import Context, refuse_locked, refuse_other_currency
from accounting.books.numbers import Pending
from accounting.errors import Conflict, RuleBroken
from accounting.tax.day_codes import Referenced
from accounting.trade.commands import OpenDocument, WriteDocument
from accounting.trade.documents import Document, is_coded, opened_on, status, touched
from accounting.trade.in_opening import refuse_in_opening
from accounting.trade.line_items import Amounts, given_discount, work_out, work_out_again
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.sides import Side
from accounting.values import replace


def create(
    side: Side,
    command: WriteDocument,
    party: Party,
    referenced: Referenced,
    context: Context,
) -> Document:
    """Make a document; with a moment of sending it opens at once.

    Two at 1000 less 100, less 90 on the whole, with 20 % tax, come to 2172. Raises what `work_out`
    does; RuleBroken `currency_mismatch` or `reference_mismatch`; Conflict `customer_archived`,
    `vendor_not_active` or `period_locked`.
    """
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    refuse_other_currency(command.currency, context)
    issue_date = or_none(command.issue_date)
    day = _tax_point(side, issue_date, command.opened_at, context)
    amounts = work_out(side, command, referenced, day, (), context)
    draft = Document(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=party,
        external_id=command.external_id,
        number=command.number,
        party_number=or_none(command.party_number),
        state="draft",
        currency=context.currency,
        issue_date=issue_date,
        opened_at=None,
        opened_on=None,
        voided_at=None,
        paid_on=None,
        imported_at=None,
        **_contents(command, amounts),
    )
    at = command.opened_at
    return draft if at is None else _opened(side, draft, at, None, context)


def replaced(
    side: Side,
    document: Document,
    command: WriteDocument,
    party: Party,
    referenced: Referenced,
    context: Context,
) -> Document:
    """Make a document anew from what is said of it now.

    Its identity, numbers, external id and the moment it was sent stay where nothing is said of
    them, and so does its date where the ledger goes by it; what else is absent is cleared. A draft
    with a moment of sending opens. Refuses what `create` refuses, and a document that is void or
    that something is allocated to.
    """
    refuse_replacing(side, document, context)
    if party.id != document.party.id:
        _refuse_new_party(side, document)
        refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    refuse_other_currency(command.currency, context)
    issue_date, party_number = command.issue_date, command.party_number
    if isinstance(issue_date, Absent):
        issue_date = document.issue_date if side.dated_by_issue else None
    if isinstance(party_number, Absent):
        party_number = document.party_number
    opened_at = command.opened_at or document.opened_at
    day = _tax_point(side, issue_date, opened_at, context)
    amounts = work_out(side, command, referenced, day, document.lines, context)
    written = replace(
        document,
        party=party,
        external_id=command.external_id or document.external_id,
        number=command.number or document.number,
        party_number=party_number,
        issue_date=issue_date,
        **_contents(command, amounts),
    )
    if opened_at is not None:
        written = _opened(side, written, opened_at, document.opened_at, context)
    return document if written == document else replace(written, updated_at=context.now)


def open_document(
    side: Side,
    document: Document,
    command: OpenDocument,
    referenced: Referenced,
    context: Context,
) -> Document:
    """Send a draft, at a given moment or now; it takes a number where it has none.

    Tax by code is worked out again by the rates of its day. Raises Conflict
    `invalid_state_transition`, `customer_archived` or `period_locked`; RuleBroken
    `tax_rate_missing`, and what its amounts at other rates are refused for.
    """
    if document.state != "draft":
        raise _refused_move(
            side, document, context, f"The {side.words.document} is {side.opened_status} already."
        )
    refuse_inactive(side, document.party)
    due_at = command.due_at or document.due_at
    due = replace(document, due_at=due_at, updated_at=context.now)
    opened_at = command.opened_at or context.now
    on = _tax_point(side, document.issue_date, opened_at, context)
    refuse_locked(context, on)
    return opened(side, _of_day(side, due, referenced, on), opened_at)


def opened(side: Side, document: Document, opened_at: datetime) -> Document:
    """Fill in what follows from the moment of sending: the day, the due moment, the number.

    Without a `due_at` it is due the party's days after its day in the books: a bill of 3 January
    that is received on the 5th, at 30 days, on 2 February.
    """
    on = ledger_day(side, document.issue_date, opened_at)
    days = document.party.payment_terms_days
    due_at = document.due_at
    if due_at is None and days is not None:
        due_at = opened_at + (on - opened_at.date()) + timedelta(days=days)
    return replace(
        document,
        state="open",
        opened_at=opened_at,
        opened_on=on,
        due_at=due_at,
        number=document.number or Pending(side.series),
        paid_on=None if document.total_amount else on,
    )


def void(side: Side, document: Document, voided_at: datetime | None, context: Context) -> Document:
    """Take an open document back, at a given moment or now.

    Raises Conflict `invalid_state_transition`, `in_opening_balance`, `period_locked`, or the side's
    refusal where something is allocated.
    """
    if document.state != "open":
        raise _refused_move(
            side, document, context, f"Only an open {side.words.document} can be voided."
        )
    refuse_in_opening(document.opening_id, side.words.document)
    refuse_touched(side, document)
    if voided_at is not None:
        refuse_locked(context, voided_at.date())
    return replace(
        document,
        state="void",
        voided_at=voided_at or context.now,
        paid_on=None,
        updated_at=context.now,
    )


def refuse_deleting(side: Side, document: Document, context: Context) -> None:
    """Refuse to delete anything but a draft.

    Raises Conflict `invalid_state_transition`.
    """
    if document.state != "draft":
        raise _refused_move(side, document, context, "Only a draft can be deleted.")


def refuse_replacing(side: Side, document: Document, context: Context) -> None:
    """Refuse to edit a void document, or an open one that something is allocated to.

    Raises Conflict `invalid_state_transition`, `in_opening_balance`, or the side's refusal.
    """
    if document.state == "void":
        raise _refused_move(
            side, document, context, f"A void {side.words.document} stays as it is."
        )
    refuse_in_opening(document.opening_id, side.words.document)
    refuse_touched(side, document)


def refuse_touched(side: Side, document: Document) -> None:
    """Refuse while anything is allocated, credited, refunded or written off."""
    affected = touched(document)
    if any(affected.values()):
        raise side.refusals.has_allocations(**affected)


def _refuse_new_party(side: Side, document: Document) -> None:
    """Refuse another customer or vendor of what was sent or received: a draft may change its own.

    Raises RuleBroken `immutable_field`.
    """
    if document.state != "draft":
        raise RuleBroken(
            "immutable_field",
            f"The {side.names.party_id} does not change once the {side.words.document} is"
            f" {side.opened_status}. Void it, and make another one.",
            field=side.names.party_id,
        )


def _refused_move(side: Side, document: Document, context: Context, message: str) -> Conflict:
    allowed = {"draft": [side.opened_status], "open": ["voided"]}.get(document.state, [])
    return Conflict.of_state(message, status(side, document, context.today), allowed)


def ledger_day(side: Side, issue_date: date | None, opened_at: datetime) -> date:
    """Say on which day what is opened stands in the books."""
    return issue_date if side.dated_by_issue and issue_date is not None else opened_at.date()


def _tax_point(
    side: Side, issue_date: date | None, opened_at: datetime | None, context: Context
) -> date:
    """Say by the rates of which day tax is worked out: that in the books, of a draft today."""
    return ledger_day(side, issue_date, opened_at or context.now)


def _of_day(side: Side, draft: Document, referenced: Referenced, day: date) -> Document:
    """Work a draft out by the rates of another day than it was written on."""
    if not is_coded(draft):
        return draft
    inclusive = draft.amounts_include_tax
    discount = given_discount(draft.lines, draft.additional_discount, inclusive=inclusive)
    amounts = work_out_again(side, draft.lines, discount, referenced, day, inclusive=inclusive)
    return replace(draft, **_amounts(amounts))


def _amounts(amounts: Amounts) -> dict[str, Any]:
    return {
        "lines": amounts.lines,
        "additional_discount": amounts.additional_discount,
        "subtotal": amounts.subtotal,
        "discount_total": amounts.discount_total,
        "tax_total": amounts.tax_total,
        "total_amount": amounts.total_amount,
    }


def _contents(command: WriteDocument, amounts: Amounts) -> dict[str, Any]:
    """List what a document says anew each time that it is written."""
    return {
        **_amounts(amounts),
        "amounts_include_tax": command.amounts_include_tax,
        "due_at": command.due_at,
        "terms": command.terms,
        "memo": command.memo,
        "transaction_tags": command.transaction_tags,
        "metadata": command.metadata,
    }


def _opened(
    side: Side, written: Document, at: datetime, before: datetime | None, context: Context
) -> Document:
    """Open what was written; a day that it does not have yet must lie outside the lock."""
    if before is None:
        refuse_inactive(side, written.party)
    opening = opened(side, written, at)
    if written.opened_on != opening.opened_on:
        refuse_locked(context, opened_on(opening))
    return opening
