"""The small business as a buyer: bills, their payments, and vendor refunds."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from accounting.absent import ABSENT, Absent
from accounting.trade import payments, refunds, vendor_refund_changes
from accounting.trade.commands import (
    AgreeVendorRefund,
    AnnouncePayment,
    ChangeVendorRefundPayment,
    RefundItem,
    VendorPaymentDetails,
    VendorRefundDetails,
)
from accounting.trade.parties import Party, PartyNamed
from accounting.trade.postings import Subject
from accounting.trade.refunds import Kind, VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE, Side
from accounting.trade.vendor_refund_allocation import AffectedTargets
from accounting.trade.vendor_refund_changes import AmendedRefund
from tests.accounting.samples import ACME, day
from tests.accounting.trade.business import Trade, with_details

BILL: Kind = "document"
PAYMENT: Kind = "payment"
CREDIT: Kind = "credit"
REFUNDED_CREDIT: Kind = "refunded_credit"


def returned(kind: Kind, amount: int, id_: UUID | None = None, **words: Any) -> RefundItem:
    return RefundItem(kind=kind, target_id=id_, amount=amount, **words)


def announced(*amounts: int, **facts: Any) -> tuple[AnnouncePayment, ...]:
    """Create announced payments of a refund."""
    return tuple(AnnouncePayment(amount=each, **facts) for each in amounts)


@dataclass
class Purchases(Trade):
    """The books of a business that buys."""

    side: Side = PAYABLE

    def agree(self, amount: int, *parts: RefundItem, loaded: Party = ACME, **facts: Any) -> UUID:
        """Create a refund with pending payments; return its id."""
        told = {"party": PartyNamed(loaded.id), "amount": amount, "allocations": parts, **facts}
        command = AgreeVendorRefund(**with_details(VendorRefundDetails, told))
        affected = AffectedTargets(self.documents, self.payments, self.credits)
        agreed = vendor_refund_changes.agree(
            command, loaded, affected, self.referenced, self.context()
        )
        return self.take_refunded(agreed)

    def allocate(self, id_: UUID, *parts: RefundItem, **facts: Any) -> None:
        """Replace the allocations of a refund, by its first payment that is not cancelled."""
        payments = self.payments_of(id_)
        first = next((each for each in payments if each.status != "cancelled"), payments[0])
        self.move(first.id, allocations=parts, **facts)

    def move(self, payment_id: UUID, status: str | Absent = ABSENT, **facts: Any) -> AmendedRefund:
        """Change a payment of a refund."""
        before = self.refunded(self.refund_payments[payment_id].refund_id)
        command = ChangeVendorRefundPayment(
            status=status, **with_details(VendorPaymentDetails, facts)
        )
        after = vendor_refund_changes.amend(
            before, payment_id, command, self.referenced, self.context()
        )
        self.take_refunded(after)
        return after

    def complete(self, id_: UUID, **facts: Any) -> UUID:
        """Complete the first pending payment of a refund; return its id."""
        payment = next(each for each in self.payments_of(id_) if each.status != "completed")
        self.move(payment.id, "completed", **facts)
        return payment.id

    def withdraw(self, payment_id: UUID) -> None:
        """Cancel a payment of a refund."""
        before = self.refunded(self.refund_payments[payment_id].refund_id)
        after = vendor_refund_changes.cancel(before, payment_id, self.referenced, self.context())
        self.take_refunded(after)

    def withdraw_refund(self, id_: UUID) -> None:
        """Cancel the only payment of a refund, and the refund with it."""
        [payment] = self.payments_of(id_)
        self.withdraw(payment.id)

    def payments_of(self, id_: UUID) -> list[VendorRefundPayment]:
        return [each for each in self.refund_payments.values() if each.refund_id == id_]

    def refund_of(self, id_: UUID) -> VendorRefund:
        refund = self.refunds[id_]
        assert isinstance(refund, VendorRefund)
        return refund

    def credit_of(self, id_: UUID) -> UUID:
        """Return the id of the credit that the latest allocation of a refund created."""
        kept = [each for each in self.refunds[id_].allocations if each.kind == "credit"]
        credit_id = kept[-1].target_id
        assert isinstance(credit_id, UUID)
        return credit_id

    def refunded(self, id_: UUID) -> AmendedRefund:
        affected = AffectedTargets(dict(self.documents), dict(self.payments), dict(self.credits))
        return AmendedRefund(self.refunds[id_], tuple(self.payments_of(id_)), affected)

    def take_refunded(self, after: AmendedRefund) -> UUID:
        """Keep and post all changes of a refund."""
        affected = after.affected
        subjects: list[Subject] = [after.refund, *after.payments, *affected.credits.values()]
        for each in [*subjects, *affected.payments.values(), *affected.documents.values()]:
            if self.subjects_like(each).get(each.id) != each:
                self.keep(each)
        return after.refund.id

    def status(self, id_: UUID) -> str:
        if id_ in self.refunds:
            return refunds.vendor_refund_status(self.refunds[id_], self.payments_of(id_))
        return super().status(id_)

    def held(self, payment_id: UUID) -> dict[UUID, int]:
        """Return the live allocations of a bill payment, by bill."""
        live = payments.live_allocations(self.payments[payment_id])
        return {each.document_id: each.amount for each in live}

    def paid_in_parts(self, *amounts: int) -> tuple[list[UUID], UUID]:
        """Create bills of successive days, and one payment of today that settles them all."""
        bills = [
            self.document(each, issue_date=day(str(2 + place)))
            for place, each in enumerate(amounts)
        ]
        return bills, self.pay(sum(amounts), *zip(bills, amounts, strict=True))
