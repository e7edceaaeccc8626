"""Changes of invoices and bills: create, replace, open, void and delete."""

from dataclasses import replace
from datetime import date, datetime
from typing import Any

from accounting.absent import or_else, or_none, said
from accounting.books.accounts import BookAccounts
from accounting.books.businesses import Context, refuse_locked
from accounting.books.foreign import Worth
from accounting.books.numbers import PendingNumber
from accounting.books.record_rates import NO_WORTH_GIVEN, currency_or_base, given_rate, worth_of
from accounting.books.time_zones import days_later
from accounting.errors import Conflict, RuleViolation
from accounting.tax.day_codes import TaxReferences
from accounting.trade.commands import ChangeDocument, OpenDocument, WriteDocument
from accounting.trade.documents import Document, is_coded, opened_on, status, touched
from accounting.trade.holds import refuse_in_opening
from accounting.trade.line_changes import changed_lines, on_other_accounts
from accounting.trade.line_items import Amounts, given_discount, work_out, work_out_again
from accounting.trade.parties import Party, refuse_inactive, refuse_reference_mismatch
from accounting.trade.sides import Side
from accounting.trade.translation import translated


def create(
    side: Side,
    command: WriteDocument,
    party: Party,
    referenced: TaxReferences,
    context: Context,
) -> Document:
    """Create a document; with `opened_at` it is opened immediately.

    Two at 1000 less 100, less 90 on the document, with 20 % tax, are 2172. Raises the errors of
    `work_out`, `given_rate` and `worth_of`; RuleViolation `reference_mismatch`; Conflict
    `customer_archived`, `vendor_not_active` or `period_locked`.
    """
    refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    currency = currency_or_base(command.currency, context)
    issue_date, delivery_date = or_none(command.issue_date), or_none(command.delivery_date)
    day = ledger_day(issue_date, command.opened_at or context.now, context)
    referenced = referenced.of(currency, context.currency)
    amounts = work_out(side, command, referenced, delivery_date or day, (), context)
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
        currency=currency,
        worth=given_rate(currency, command.worth, context),
        issue_date=issue_date,
        delivery_date=delivery_date,
        opened_at=None,
        opened_on=None,
        voided_at=None,
        paid_on=None,
        imported_at=None,
        **_contents(command, amounts),
    )
    at = command.opened_at
    return draft if at is None else _opened(side, draft, at, day, context)


def replaced(
    side: Side,
    document: Document,
    command: WriteDocument,
    party: Party,
    referenced: TaxReferences,
    context: Context,
) -> Document:
    """Replace the content of a document.

    Its identity, numbers, external id, opening moment, issue date and delivery date stay if they
    are absent; any other absent field is cleared. A draft with `opened_at` opens. An invoice that
    its issue date does not date keeps its day, unless the issue date changes. Raises the errors of
    `create` and `refuse_replacing`; RuleViolation `immutable_field` for a new party or currency of
    an opened document. The exchange rate stays unless one is given.
    """
    refuse_replacing(side, document, context)
    if party.id != document.party.id:
        _refuse_new_party(side, document)
        refuse_inactive(side, party)
    refuse_reference_mismatch(party, command.party.external_id)
    currency, worth = _currency_and_rate(side, document, command, context)
    dated = _dated(document, command)
    opened_at = command.opened_at or document.opened_at
    day = _ledger_day(dated, opened_at or context.now, context, document)
    supplied = dated.delivery_date or day
    referenced = referenced.of(currency, context.currency)
    amounts = work_out(side, command, referenced, supplied, document.lines, context)
    written = replace(
        dated,
        party=party,
        currency=currency,
        worth=worth,
        external_id=command.external_id or document.external_id,
        number=command.number or document.number,
        party_number=or_else(command.party_number, document.party_number),
        **_contents(command, amounts),
    )
    if opened_at is not None:
        written = _opened(side, written, opened_at, day, context)
    return document if written == document else replace(written, updated_at=context.now)


def revised(
    side: Side,
    document: Document,
    command: ChangeDocument,
    accounts: BookAccounts,
    context: Context,
) -> Document:
    """Change what a document states beside its amounts, and the accounts of its lines.

    A due moment of null follows the payment terms again. If nothing changes, the same object is
    returned. Raises Conflict `invalid_state_transition` or `account_archived`, and
    `in_opening_balance` for another account; RuleViolation `reference_not_found` or
    `control_account`; ValidationError `validation_error`.
    """
    if document.state == "void":
        raise _refused_change(side, document, context)
    facts = ("external_id", "party_number", "due_at", "terms")
    words = ("memo", "transaction_tags", "metadata")
    accounts = accounts.of(document.currency, context.currency)
    lines = changed_lines(document.lines, command.lines, accounts)
    lines = translated(lines, document.worth)
    if on_other_accounts(document.lines, lines):
        refuse_in_opening(document.opening_id, side.words.document)
    written = replace(document, lines=lines, **said(command, *facts, *words))
    if command.due_at is None and written.opened_at is not None:
        on = opened_on(written)
        if written.opening_id is not None:  # Its own day is before the day of the opening.
            on = ledger_day(written.issue_date, written.opened_at, context)
        usual = _usual_due_at(written.party, written.opened_at, on, context)
        written = replace(written, due_at=usual)
    return document if written == document else replace(written, updated_at=context.now)


def open_document(
    side: Side,
    document: Document,
    command: OpenDocument,
    referenced: TaxReferences,
    context: Context,
) -> Document:
    """Open a draft, at a given moment or now, and give it a number if it has none.

    Tax by code is computed again at the rates of its day of supply. Raises Conflict
    `invalid_state_transition`, `customer_archived` or `period_locked`; RuleViolation
    `tax_rate_missing`, `negative_amount` or `amount_too_large`.
    """
    if document.state != "draft":
        raise _refused_move(
            side, document, context, f"The {side.words.document} is already {side.opened_status}."
        )
    refuse_inactive(side, document.party)
    due_at = command.due_at or document.due_at
    due = replace(document, due_at=due_at, dated_by_issue=True, updated_at=context.now)
    opened_at = command.opened_at or context.now
    on = _ledger_day(due, opened_at, context)
    refuse_locked(context, on)
    dated = _of_day(side, due, referenced, due.delivery_date or on)
    return opened(side, dated, opened_at, on, context)


def opened(
    side: Side, document: Document, opened_at: datetime, on: date, context: Context
) -> Document:
    """Fill in the fields that follow from the opening: state, day, due moment and number.

    Without a `due_at` it is due after the party's payment terms, in days from its accounting date:
    a bill of 3 January that is received on the 5th, at 30 days, is due on 2 February. A document in
    a foreign currency takes its exchange rate and its base amounts. Raises the errors of
    `worth_of`.
    """
    total, rate = document.total_amount, document.worth
    worth = worth_of(document.currency, total, NO_WORTH_GIVEN, on, context, rate)
    return replace(
        document,
        worth=worth,
        lines=translated(document.lines, worth),
        state="open",
        opened_at=opened_at,
        opened_on=on,
        due_at=document.due_at or _usual_due_at(document.party, opened_at, on, context),
        number=document.number or PendingNumber(side.series),
        paid_on=None if document.total_amount else on,
    )


def _currency_and_rate(
    side: Side, document: Document, command: WriteDocument, context: Context
) -> tuple[str, Worth | None]:
    """Return the currency of a replaced document, and the rate that it has so far.

    Raises RuleViolation `immutable_field` for another currency of an opened document.
    """
    currency = currency_or_base(command.currency or document.currency, context)
    given = given_rate(currency, command.worth, context)
    if currency == document.currency:
        return currency, given or document.worth
    if document.state != "draft":
        raise _fixed("currency", side)
    return currency, given


def _usual_due_at(party: Party, opened_at: datetime, on: date, context: Context) -> datetime | None:
    """Return the moment after the party's payment terms, from the day `on`; None without terms."""
    days = party.payment_terms_days
    if days is None:
        return None
    early = (on - context.day_of(opened_at)).days
    return days_later(opened_at, early + days, context.business.timezone)


def void(side: Side, document: Document, voided_at: datetime | None, context: Context) -> Document:
    """Void an open document, at a given moment or now.

    Raises Conflict `invalid_state_transition`, `in_opening_balance`, `period_locked`, or the side's
    API error if anything is allocated.
    """
    if document.state != "open":
        raise _refused_move(
            side, document, context, f"Only an open {side.words.document} can be voided."
        )
    refuse_in_opening(document.opening_id, side.words.document)
    refuse_touched(side, document)
    if voided_at is not None:
        refuse_locked(context, context.day_of(voided_at))
    voided_at = voided_at or context.now
    return replace(
        document,
        state="void",
        voided_at=voided_at,
        voided_on=context.day_of(voided_at),
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
    """Refuse to edit a void document, or one that anything is allocated to.

    Raises Conflict `invalid_state_transition`, `in_opening_balance`, or the side's API error.
    """
    if document.state == "void":
        raise _refused_change(side, document, context)
    refuse_in_opening(document.opening_id, side.words.document)
    refuse_touched(side, document)


def refuse_touched(side: Side, document: Document) -> None:
    """Refuse if anything is allocated, credited, refunded or written off.

    Raises the side's API error, Conflict `invoice_has_allocations` or `bill_has_allocations`.
    """
    affected = touched(document)
    if any(affected.values()):
        raise side.refusals.has_allocations(**affected)


def _refuse_new_party(side: Side, document: Document) -> None:
    """Refuse a new customer or vendor, unless the document is a draft.

    Raises RuleViolation `immutable_field`.
    """
    if document.state != "draft":
        raise _fixed(side.names.party_id, side)


def _fixed(field: str, side: Side) -> RuleViolation:
    return RuleViolation(
        "immutable_field",
        f"The {field} cannot change after the {side.words.document} is {side.opened_status}. Void"
        " it and create a new one.",
        field=field,
    )


def _refused_change(side: Side, document: Document, context: Context) -> Conflict:
    message = f"A void {side.words.document} cannot be changed."
    return _refused_move(side, document, context, message)


def _refused_move(side: Side, document: Document, context: Context, message: str) -> Conflict:
    allowed = {"draft": [side.opened_status], "open": ["voided"]}.get(document.state, [])
    return Conflict.of_state(message, status(side, document, context), allowed)


def ledger_day(issue_date: date | None, opened_at: datetime, context: Context) -> date:
    """Return the accounting date of a document that opens at a moment: its issue date, if any."""
    return context.day_of(opened_at) if issue_date is None else issue_date


def _ledger_day(
    document: Document, opened_at: datetime, context: Context, before: Document | None = None
) -> date:
    """Return the accounting date of a document that opens at a moment.

    An invoice from before issue dates counted is dated by its opening alone. A document that was
    opened at this moment `before` keeps its day in another time zone.
    """
    if _is_dated_by_issue(document):
        return ledger_day(document.issue_date, opened_at, context)
    if before is not None and before.opened_at == opened_at and not _is_dated_by_issue(before):
        return opened_on(before)
    return ledger_day(None, opened_at, context)


def _is_dated_by_issue(document: Document) -> bool:
    return document.dated_by_issue and document.issue_date is not None


def _dated(document: Document, command: WriteDocument) -> Document:
    """Return a document with the dates of a command; absent dates stay.

    A draft, and a document whose issue date changes, is dated by its issue date from now on.
    """
    issue_date = or_else(command.issue_date, document.issue_date)
    by_issue = document.dated_by_issue or document.state == "draft"
    return replace(
        document,
        issue_date=issue_date,
        delivery_date=or_else(command.delivery_date, document.delivery_date),
        dated_by_issue=by_issue or issue_date != document.issue_date,
    )


def _of_day(side: Side, draft: Document, referenced: TaxReferences, day: date) -> Document:
    """Compute a draft again at the tax rates of another day, if its tax depends on the day."""
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
    """Return the fields that every write of a document replaces."""
    return {
        **_amounts(amounts),
        "amounts_include_tax": command.amounts_include_tax,
        "due_at": command.due_at,
        "terms": command.terms,
        "memo": command.memo,
        "transaction_tags": command.transaction_tags,
        "metadata": command.metadata,
    }


def _opened(side: Side, written: Document, at: datetime, on: date, context: Context) -> Document:
    """Open a document; refuse a new accounting date inside the lock."""
    if written.opened_at is None:
        refuse_inactive(side, written.party)
    if written.opened_on != on:
        refuse_locked(context, on)
    return opened(side, written, at, on, context)
