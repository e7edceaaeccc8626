"""Matching of a bank transaction with its money, which completes a pending target.

`bank_links` links one transaction and one target. Here a target that is linked in full completes by
the rules of its own kind, together with the documents that it settles, and a completed one whose
return is linked fails.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any
from uuid import UUID

from accounting.bank import bank_links, payout_changes
from accounting.bank.bank_links import EntryMoney, Link, Target
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import LinkTransaction
from accounting.bank.payouts import Payout
from accounting.books.businesses import Context
from accounting.books.chart import Roles
from accounting.tax.day_codes import TaxReferences
from accounting.trade import invoice_refund_changes, payment_changes, vendor_refund_changes
from accounting.trade.commands import ChangePayment, ChangeVendorRefundPayment
from accounting.trade.documents import Document
from accounting.trade.holds import times_returned
from accounting.trade.payments import Payment
from accounting.trade.refunds import InvoiceRefund, RefundPayment, VendorRefundPayment
from accounting.trade.sides import Side
from accounting.trade.vendor_refund_changes import AmendedRefund


@dataclass(frozen=True, slots=True)
class MatchTarget:
    """A target with the records that change when it completes or comes back.

    These are the documents of a payment, the refund that a vendor pays, or the refund that a
    payment to a customer pays. A payout and an entry have no side.
    """

    side: Side | None
    target: Target
    documents: Mapping[UUID, Document] = field(default_factory=dict)
    refunded: AmendedRefund | None = None
    refund: InvoiceRefund | None = None


@dataclass(frozen=True, slots=True)
class MatchResult:
    """A bank transaction, its target and their link after a change.

    `subjects` are the changed records that are posted, among them the target; `moved` are the
    documents that changed with it.
    """

    transaction: BankTransaction
    target: Target
    link: Link
    subjects: tuple[Any, ...]
    moved: tuple[Document, ...] = ()


def match(
    found: MatchTarget,
    transaction: BankTransaction,
    command: LinkTransaction,
    roles: Roles,
    context: Context,
) -> MatchResult:
    """Link a bank transaction with its money; a pending target that is linked in full completes.

    A pending payment of 100 completes with the second of two transactions of 60 and 40. Completed
    money whose return is linked fails on the day of the transaction. Raises what `bank_links.link`
    raises, and what the change of the status raises.
    """
    used, held, made = bank_links.link(found.side, transaction, found.target, command, context)
    matched = MatchResult(used, held, made, (held,))
    if isinstance(held, EntryMoney):  # An entry is posted already.
        return replace(matched, subjects=())
    if _is_of_an_earlier_movement(held, transaction.booked_on, back=command.back):
        return matched
    if command.back:
        return _returned(found, matched, roles, context) if held.status == "completed" else matched
    if held.status not in bank_links.ON_ITS_WAY or not bank_links.is_linked_in_full(
        found.side, held
    ):
        return matched
    return _completed(found, matched, roles, context)


def unmatch(
    found: MatchTarget, transaction: BankTransaction, link: Link, context: Context
) -> MatchResult:
    """Remove a link. The money is not cancelled: it stays as it is.

    Raises Conflict `bank_reconciled`.
    """
    unused, freed, ended = bank_links.unlink(transaction, found.target, link, context)
    subjects = () if isinstance(freed, EntryMoney) else (freed,)
    return MatchResult(unused, freed, ended, subjects)


def _completed(
    found: MatchTarget, matched: MatchResult, roles: Roles, context: Context
) -> MatchResult:
    match matched.target:
        case Payment() as payment:
            assert found.side is not None, "a payment is of a side"
            again = matched.transaction.booked_on if payment.completions else None
            command = ChangePayment(status="completed", status_date=again)
            done = payment_changes.amend(found.side, payment, found.documents, command, context)
            return replace(
                matched, target=done.payment, subjects=(done.payment,), moved=done.changed
            )
        case Payout() as payout:
            paid = payout_changes.reported_paid(payout, matched.transaction.booked_on, context)
            return replace(matched, target=paid, subjects=(paid,))
        case VendorRefundPayment() as payment:
            booked_on = matched.transaction.booked_on
            paid_back = ChangeVendorRefundPayment(
                status="completed",
                payment_date=payment.payment_date or booked_on,
                status_date=booked_on if payment.completions else None,
            )
            return _vendor_refunded(found, matched, payment, paid_back, roles, context)
    raise ValueError("no other money is on its way")


def _is_of_an_earlier_movement(money: Target, on: date, *, back: bool) -> bool:
    """Return whether a transaction is dated before the present movement of money began.

    Of money that came back on the 5th and is pending again, a transaction of the 1st shows the
    first movement. Of money completed again on the 10th, one of the 5th shows the first return.
    """
    if not isinstance(money, Payment | RefundPayment) or not times_returned(money):
        return False
    last = money.completions[-1]
    since = last.start if back else last.end
    return since is not None and on < since


def _returned(
    found: MatchTarget, matched: MatchResult, roles: Roles, context: Context
) -> MatchResult:
    """Return the match of completed money that fails on the day of the transaction.

    A refund payment to a customer has no failed state, so it is cancelled.
    """
    on = matched.transaction.booked_on
    match matched.target:
        case Payment() as payment:
            assert found.side is not None, "a payment is of a side"
            command = ChangePayment(status="failed", status_date=on)
            failed = payment_changes.amend(found.side, payment, found.documents, command, context)
            return replace(
                matched, target=failed.payment, subjects=(failed.payment,), moved=failed.changed
            )
        case VendorRefundPayment() as payment:
            sent_back = ChangeVendorRefundPayment(status="failed", status_date=on)
            return _vendor_refunded(found, matched, payment, sent_back, roles, context)
        case RefundPayment() as payment:
            assert found.refund is not None, "money that a customer gets back belongs to a refund"
            refund, cancelled = invoice_refund_changes.cancel_payment(
                found.refund, payment, on, context
            )
            return replace(matched, target=cancelled, subjects=(refund, cancelled))
    raise ValueError("no other money comes back")


def _vendor_refunded(
    found: MatchTarget,
    matched: MatchResult,
    linked: VendorRefundPayment,
    command: ChangeVendorRefundPayment,
    roles: Roles,
    context: Context,
) -> MatchResult:
    """Change a refund payment of a vendor together with its refund."""
    before = found.refunded
    assert before is not None, "money that a vendor pays back belongs to a refund"
    held = before.with_payment(linked)
    after = vendor_refund_changes.amend(
        held, linked.id, command, TaxReferences.by_role(roles), context
    )
    subjects, moved = vendor_refund_changes.changed(before, before.affected, after)
    return replace(
        matched, target=after.payment(linked.id), subjects=tuple(subjects), moved=tuple(moved)
    )
