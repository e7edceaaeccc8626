"""The moves of what is owed: opened, replaced, voided, deleted; and what each of them refuses."""

from dataclasses import replace
from datetime import datetime, timedelta

from accounting.books.context import Context, refuse_locked
from accounting.books.numbers import Pending
from accounting.errors import Conflict
from accounting.trade.documents import Document, opened_on, status
from accounting.trade.parties import refuse_inactive
from accounting.trade.sides import Side


def open_document(
    side: Side,
    document: Document,
    opened_at: datetime | None,
    context: Context,
    due_at: datetime | None = None,
) -> Document:
    """Send a draft, at a given moment or now; it takes a number where it has none.

    Raises Conflict `invalid_state_transition`, `customer_archived` or `period_locked`.
    """
    if document.state != "draft":
        raise _refused_move(
            side, document, context, f"The {side.noun} is {side.opened_word} already."
        )
    refuse_inactive(side, document.party)
    due = replace(document, due_at=due_at or document.due_at, updated_at=context.now)
    sent = opened(side, due, opened_at or context.now)
    refuse_locked(context, opened_on(sent))
    return sent


def opened(side: Side, document: Document, opened_at: datetime) -> Document:
    """Fill in what follows from the moment of sending: the day, the due moment, the number.

    Without a `due_at` it is due the party's days after its day in the books: a bill of 3 January
    that is received on the 5th, at 30 days, on 2 February.
    """
    on = opened_at.date()
    if side.dated_by_issue and document.issue_date is not None:
        on = document.issue_date
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

    Raises Conflict `invalid_state_transition`, `period_locked`, or the side's refusal where
    something is allocated.
    """
    if document.state != "open":
        raise _refused_move(side, document, context, f"Only an open {side.noun} can be voided.")
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

    Raises Conflict `invalid_state_transition`, or the side's refusal.
    """
    if document.state == "void":
        raise _refused_move(side, document, context, f"A void {side.noun} stays as it is.")
    refuse_touched(side, document)


def refuse_touched(side: Side, document: Document) -> None:
    """Refuse while anything is allocated, credited, refunded or written off."""
    affected = {
        "allocated": document.paid + document.reserved,
        "credited": document.credited,
        "refunded": document.refunded,
        "written_off": document.written_off,
    }
    if any(affected.values()):
        raise side.has_allocations(**affected)


def _refused_move(side: Side, document: Document, context: Context, message: str) -> Conflict:
    allowed = {"draft": [side.opened_word], "open": ["voided"]}.get(document.state, [])
    return Conflict.of_state(message, status(side, document, context.today), allowed)
