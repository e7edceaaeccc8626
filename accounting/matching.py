"""A line of a bank statement meets its money: what was on its way has come, and all that follows.

`accounting.banking` links one line and one target. Here a target that is linked in full completes
by the rules of its own kind, and takes along what it settles.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from accounting import banking, paying_out, settling, vendor_refunding
from accounting.banking import BankTransaction, Link, Target, Wanted
from accounting.chart import Roles
from accounting.documents import Document
from accounting.occasion import Occasion
from accounting.payments import Payment
from accounting.payouts import Payout
from accounting.refunds import VendorRefundPayment
from accounting.sides import Side
from accounting.vendor_refunding import Refunded

ON_ITS_WAY = frozenset({"pending", "processing"})


@dataclass(frozen=True, slots=True)
class Found:
    """A target with what moves when it completes.

    That are the documents of a payment, or the refund that a vendor pays. A payout is of no side.
    """

    side: Side | None
    target: Target
    documents: Mapping[UUID, Document] = field(default_factory=dict)
    refunded: Refunded | None = None


@dataclass(frozen=True, slots=True)
class Matched:
    """A line, its target and their link as they are now.

    `subjects` are what changed and is posted, the target among them; `moved` the documents that
    moved along.
    """

    transaction: BankTransaction
    target: Target
    link: Link
    subjects: tuple[Any, ...]
    moved: tuple[Document, ...] = ()


def match(
    found: Found, transaction: BankTransaction, wanted: Wanted, roles: Roles, occasion: Occasion
) -> Matched:
    """Link a line with its money; a target on its way that is linked in full completes.

    A payment of 100 that is pending completes with the second of two lines of 60 and 40. Raises
    what `banking.link` raises, and what a change to `completed` or `paid` does.
    """
    used, held, made = banking.link(found.side, transaction, found.target, wanted, occasion)
    matched = Matched(used, held, made, (held,))
    if held.status not in ON_ITS_WAY or not banking.is_linked_in_full(found.side, held):
        return matched
    return _completed(found, matched, roles, occasion)


def unmatch(found: Found, transaction: BankTransaction, link: Link, occasion: Occasion) -> Matched:
    """Take a link back. The money is not cancelled by that: it stays as it is."""
    unused, freed, ended = banking.unlink(transaction, found.target, link, occasion)
    return Matched(unused, freed, ended, (freed,))


def _completed(found: Found, matched: Matched, roles: Roles, occasion: Occasion) -> Matched:
    match matched.target:
        case Payment() as payment:
            assert found.side is not None, "a payment is of a side"
            done = settling.amend(
                found.side, payment, found.documents, {"status": "completed"}, occasion
            )
            return replace(
                matched, target=done.payment, subjects=(done.payment,), moved=done.changed
            )
        case Payout() as payout:
            paid = paying_out.reported_paid(payout, matched.transaction.booked_on, occasion)
            return replace(matched, target=paid, subjects=(paid,))
        case VendorRefundPayment() as payment:
            return _come_back(found, matched, payment, roles, occasion)
    raise ValueError("no other money is on its way")


def _come_back(
    found: Found, matched: Matched, linked: VendorRefundPayment, roles: Roles, occasion: Occasion
) -> Matched:
    """Let money of a vendor have come: on its own day, else on that of the line."""
    before = found.refunded
    assert before is not None, "money that a vendor pays back belongs to a refund"
    on = linked.payment_date or matched.transaction.booked_on
    body = {"status": "completed", "payment_date": on}
    after = vendor_refunding.amend(before.with_payment(linked), linked.id, body, roles, occasion)
    subjects, moved = vendor_refunding.changed(before, before.touched, after)
    return replace(
        matched, target=after.payment(linked.id), subjects=tuple(subjects), moved=tuple(moved)
    )
