"""The same business as it buys: bills, what pays them, and what vendors give back."""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from accounting.trade import payments, refunds, vendor_refund_changes
from accounting.trade.documents import status
from accounting.trade.parties import Party
from accounting.trade.postings import Subject
from accounting.trade.refunds import VendorRefund, VendorRefundPayment
from accounting.trade.sides import PAYABLE, Side
from accounting.trade.vendor_refund_allocation import Affected
from accounting.trade.vendor_refund_changes import Refunded
from tests.accounting.trade import ACME, ROLES, Trade, allocations, credit_line, day, line, uses

BILL = "bill"
PAYMENT = "payment"
CREDIT = "credit"


def returned(kind: str, amount: int, id_: UUID | None = None, **words: Any) -> dict[str, Any]:
    """One allocation of a refund, as a body says it."""
    target = {} if id_ is None else {{BILL: "bill_id", PAYMENT: "bill_payment_id"}[kind]: id_}
    return {"allocation_type": kind, "amount_cents": amount, **target, **words}


INACTIVE = replace(ACME, status="INACTIVE")
NOT_ACTIVE = [INACTIVE, *(replace(ACME, status=each) for each in ("BLOCKED", "ARCHIVED"))]
TAXED = line(8_333, sales_taxes=[{"amount": 1_667}])


def to_bills(*parts: tuple[UUID, int]) -> list[dict[str, Any]]:
    """Allocations of a bill payment, as a body says them."""
    return allocations(*parts, side=PAYABLE)


def uses_of(*parts: tuple[UUID, int]) -> list[dict[str, Any]]:
    """What a vendor credit is used for, as its body says it."""
    return uses(*parts, side=PAYABLE)


def vendor_credit_line(amount: int, tax: int = 0, code: str | None = None) -> dict[str, Any]:
    return credit_line(amount, tax, code, PAYABLE)


@dataclass
class Purchases(Trade):
    """The books of a business that buys; what is an invoice there is a bill here."""

    side: Side = PAYABLE

    def bill(self, *lines: Any, **body: Any) -> UUID:
        return self.invoice(*lines, **body)

    def paid_bill(self, *lines: Any, **body: Any) -> tuple[UUID, UUID]:
        """A bill and the payment that settles all of it."""
        bill = self.bill(*lines, **body)
        total = self.documents[bill].total_amount
        return bill, self.pay(total, (bill, total))

    def agree(self, amount: int, *parts: dict[str, Any], party: Party = ACME, **body: Any) -> UUID:
        """Agree on a refund; its payments are pending."""
        facts = {"total_amount_cents": amount, "allocations": list(parts), **body}
        if facts.get("refund_date") is not None:
            facts["refund_date"] = day(facts["refund_date"])
        affected = Affected(self.documents, self.payments, self.credits)
        agreed = vendor_refund_changes.agree(facts, party, affected, ROLES, self.context())
        return self.take_refunded(agreed)

    def allocate(self, id_: UUID, *parts: dict[str, Any], **body: Any) -> None:
        """Allocate a refund anew, by its first payment that is not cancelled."""
        payments = self.payments_of(id_)
        first = next((each for each in payments if each.status != "cancelled"), payments[0])
        self.move(first.id, allocations=list(parts), **body)

    def move(self, payment_id: UUID, status: str | None = None, **body: Any) -> Refunded:
        """Change a payment of a refund."""
        before = self.refunded(self.refund_payments[payment_id].refund_id)
        facts = body if status is None else {"status": status, **body}
        after = vendor_refund_changes.amend(before, payment_id, facts, ROLES, self.context())
        self.take_refunded(after)
        return after

    def complete(self, id_: UUID, **body: Any) -> UUID:
        """Let the first payment of a refund come, and give its id."""
        payment = next(each for each in self.payments_of(id_) if each.status != "completed")
        self.move(payment.id, "completed", **body)
        return payment.id

    def withdraw(self, payment_id: UUID) -> None:
        """Cancel a payment of a refund."""
        before = self.refunded(self.refund_payments[payment_id].refund_id)
        after = vendor_refund_changes.cancel(before, payment_id, ROLES, self.context())
        self.take_refunded(after)

    def payments_of(self, id_: UUID) -> list[VendorRefundPayment]:
        return [each for each in self.refund_payments.values() if each.refund_id == id_]

    def refund_of(self, id_: UUID) -> VendorRefund:
        refund = self.refunds[id_]
        assert isinstance(refund, VendorRefund)
        return refund

    def credit_of(self, id_: UUID) -> UUID:
        """The credit that the latest part of a refund is kept as."""
        kept = [each for each in self.refunds[id_].allocations if each.kind == "credit"]
        credit_id = kept[-1].target_id
        assert isinstance(credit_id, UUID)
        return credit_id

    def refunded(self, id_: UUID) -> Refunded:
        affected = Affected(dict(self.documents), dict(self.payments), dict(self.credits))
        return Refunded(self.refunds[id_], tuple(self.payments_of(id_)), affected)

    def take_refunded(self, after: Refunded) -> UUID:
        """Keep and post all that a refund changed."""
        affected = after.affected
        subjects: list[Subject] = [after.refund, *after.payments, *affected.credits.values()]
        for each in [*subjects, *affected.payments.values(), *affected.documents.values()]:
            if self.shelf(each).get(each.id) != each:
                self.keep(each)
        return after.refund.id


def word(trade: Purchases, id_: UUID) -> str:
    """The status of a refund or a bill."""
    if id_ in trade.refunds:
        return refunds.vendor_refund_status(trade.refunds[id_], trade.payments_of(id_))
    return status(PAYABLE, trade.documents[id_], day(trade.today))


def held(trade: Purchases, payment: UUID) -> dict[UUID, int]:
    """What of a bill payment is applied to which bill."""
    live = payments.live_allocations(trade.payments[payment])
    return {each.document_id: each.amount for each in live}


def parted(trade: Purchases, *amounts: int) -> tuple[list[UUID], UUID]:
    """Bills of later and later days, and one payment of today that settles them all."""
    bills = [trade.bill(each, bill_date=day(str(2 + at))) for at, each in enumerate(amounts)]
    return bills, trade.pay(sum(amounts), *zip(bills, amounts, strict=True))
