"""The change of a record: the record as it was loaded, compared with the record as it is saved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import reconciliation_status
from accounting.books import revaluations
from accounting.books.businesses import Context
from accounting.events.fields import shown_fields
from accounting.opening import openings
from accounting.trade import credits, documents, refunds
from accounting.trade.refunds import RefundPayment
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side

RefundPayments = Sequence[RefundPayment]
StatusOf = Callable[[Any, Any, RefundPayments], str | None]
"""A function that returns the status of a record as its answers show it.

The status of a vendor refund depends on its payments; other records have none here.
"""


@dataclass(frozen=True, slots=True)
class Change:
    """A change of one record: the type of its event, its statuses and its changed fields.

    `kind` is "created", "updated" or "deleted". `fields` are the fields of the answer that changed,
    sorted; None where there is nothing to compare with.
    """

    type: str
    kind: str
    previous_status: str | None
    status: str | None
    fields: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class PaymentsOf:
    """The payments of a vendor refund before and after a change."""

    before: RefundPayments = ()
    after: RefundPayments = ()


NO_PAYMENTS: Final = PaymentsOf()


def change_of(
    object_type: str,
    before: Any,
    after: Any,
    context: Context | None,
    payments: PaymentsOf = NO_PAYMENTS,
) -> Change:
    """Return the change of a record that is saved.

    `before` is None for a new record, and `after` for a deleted one. An invoice with 40 of 100 paid
    that gets 60 more is `invoice.paid`, from partially_paid to paid. A record that is saved has a
    new version, so it has an event even if no field of its answer changes.
    """
    status_of: StatusOf = STATUSES.get(object_type, _stored_status)
    was = None if before is None else status_of(before, context, payments.before)
    if after is None:
        return Change(f"{object_type}.deleted", "deleted", was, None)
    status = status_of(after, context, payments.after)
    if before is None:
        return Change(f"{object_type}.created", "created", None, status)
    if _ended(before, after):
        return Change(f"{object_type}.deleted", "deleted", was, None)
    changed = shown_fields(object_type, before, after, context)
    if status != was:
        changed = tuple(sorted({*changed, "status"}))
    word = _word(object_type, before, after, was, status)
    return Change(f"{object_type}.{word}", "updated", was, status, changed)


def _ended(before: Any, after: Any) -> bool:
    """Return whether a record has become invisible: a deleted rule or payout, an ended transfer."""
    return any(
        getattr(before, name, None) is None and getattr(after, name, None) is not None
        for name in ("deleted_at", "ended_at")
    )


def _word(object_type: str, before: Any, after: Any, was: str | None, status: str | None) -> str:
    """Return the most specific word for a change of a record that still exists."""
    if (archived := _set_or_cleared(before, after, "archived_at")) is not None:
        return "archived" if archived else "unarchived"
    if getattr(before, "lock_date", None) != getattr(after, "lock_date", None):
        return (
            "period_locked" if _locks_more(before.lock_date, after.lock_date) else "period_unlocked"
        )
    if _set_or_cleared(before, after, "reversed_at"):
        return "reversed"
    if object_type == "bank_transaction":
        return _word_of_line(before, after)
    if object_type == "payout" and reconciliation_status(after) != reconciliation_status(before):
        return "reconciled" if reconciliation_status(after) == "fully_reconciled" else "updated"
    return word_of_status(object_type, was, status)


def word_of_status(object_type: str, was: str | None, status: str | None) -> str:
    """Return the word for a record with a new status.

    A draft that is opened is sent, also if it is overdue or paid then. An invoice is sent once: a
    payment that is undone leaves it `updated`, or `reopened` if it was closed.
    """
    if status == was or status is None:
        return "updated"
    opening = OPENED.get(object_type)
    if opening is not None and was == "draft":
        return opening
    if was in CLOSED and status in REOPENED.get(object_type, ()):
        return "reopened"
    if status == opening:
        return "updated"
    word = _WORDS_OF_STATUSES.get(status, status)
    return word if status in NAMED_STATUSES.get(object_type, ()) else "updated"


def _set_or_cleared(before: Any, after: Any, name: str) -> bool | None:
    """Return whether a moment is set now; None where that did not change."""
    was, now = getattr(before, name, None), getattr(after, name, None)
    return None if (was is None) is (now is None) else now is not None


def _locks_more(before: date | None, after: date | None) -> bool:
    return after is not None and (before is None or after > before)


def _word_of_line(before: BankTransaction, after: BankTransaction) -> str:
    """Return the word for a bank line: of 100 with 60 linked and now all, it is matched."""
    if after.linked != before.linked:
        return "matched" if after.linked > before.linked else "unmatched"
    if after.categorized != before.categorized:
        return "categorized" if after.categorized > before.categorized else "uncategorized"
    return "updated"


OPENED: Final[Mapping[str, str]] = {
    "invoice": "sent",
    "bill": "received",
    "customer_credit": "sent",
    "vendor_credit": "received",
}
"""The word for a draft that is opened."""
CLOSED: Final = frozenset({"paid", "refunded", "written_off", "closed"})
_OPEN: Final = frozenset({"partially_paid", "partially_written_off", "overdue"})
REOPENED: Final[Mapping[str, frozenset[str]]] = {
    "invoice": _OPEN | {"sent"},
    "bill": _OPEN | {"received"},
    "bank_reconciliation": frozenset({"open"}),
}
_DOCUMENT: Final = frozenset(
    {
        *("partially_paid", "paid", "partially_written_off", "written_off", "refunded"),
        *("overdue", "voided"),
    }
)
_CREDIT: Final = frozenset({"partially_applied", "applied", "void"})
_MONEY: Final = frozenset({"pending", "processing", "completed", "failed", "cancelled"})
NAMED_STATUSES: Final[Mapping[str, frozenset[str]]] = {
    "invoice": _DOCUMENT,
    "bill": _DOCUMENT,
    "customer_credit": _CREDIT,
    "vendor_credit": _CREDIT,
    "invoice_payment": _MONEY | {"refunded"},
    "bill_payment": _MONEY,
    "invoice_refund": frozenset({"processing", "paid", "cancelled"}),
    "invoice_refund_payment": frozenset({"cancelled"}),
    "vendor_refund": frozenset({"partially_allocated", "allocated", "completed", "cancelled"}),
    "vendor_refund_payment": _MONEY,
    "payout": frozenset({"pending", "processing", "paid", "failed", "cancelled"}),
    "bank_reconciliation": frozenset({"closed"}),
    "journal_entry": frozenset({"rejected"}),
    "tax_return": frozenset({"filed", "superseded"}),
}
"""The statuses of each kind of record that are words of its events."""
_WORDS_OF_STATUSES: Final = {"void": "voided"}


def _stored_status(value: Any, _context: Context, _payments: RefundPayments) -> str | None:
    found: str | None = getattr(value, "status", None)
    return found


def _of_document(side: Side) -> StatusOf:
    return lambda value, context, _: documents.status(side, value, context)


def _of_credit(side: Side) -> StatusOf:
    return lambda value, *_: credits.status(side, value)


STATUSES: Final[Mapping[str, StatusOf]] = {
    "invoice": _of_document(RECEIVABLE),
    "bill": _of_document(PAYABLE),
    "customer_credit": _of_credit(RECEIVABLE),
    "vendor_credit": _of_credit(PAYABLE),
    "invoice_refund": lambda value, *_: refunds.invoice_refund_status(value),
    "vendor_refund": lambda value, _, payments: refunds.vendor_refund_status(value, payments),
    "opening_balance": lambda value, *_: openings.status(value),
    "revaluation": lambda value, *_: revaluations.status(value),
}
