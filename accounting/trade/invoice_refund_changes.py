"""Refunds to customers: agree, pay and cancel, with the documents, payments or credits refunded."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

from accounting.absent import or_else
from accounting.books.businesses import Context, refuse_locked
from accounting.books.chart import Roles, processor_of
from accounting.books.ledger import Span, Split, added, negative, take
from accounting.books.record_rates import refuse_unused, worth_of
from accounting.errors import Conflict, ValidationError
from accounting.trade import credits, documents, payments, refund_targets, refunds
from accounting.trade.commands import AgreeRefund, PayRefund
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.holds import held_to
from accounting.trade.payments import (
    NO_BANKS,
    MoneyBanks,
    Payment,
    chosen_bank,
    completions_after,
    context_of_status,
    own_account,
)
from accounting.trade.refund_targets import (
    Target,
    facts_of,
    of_credit,
    of_document,
    of_payment,
    refuse_more_than,
    take_back,
)
from accounting.trade.refunds import (
    GivenBackLine,
    InvoiceRefund,
    Refund,
    RefundAllocation,
    RefundPayment,
)
from accounting.trade.sides import RECEIVABLE


@dataclass(frozen=True, slots=True)
class AgreedRefund:
    """A refund, its target, and the payment that was created with it."""

    refund: InvoiceRefund
    target: Document | Payment | Credit
    payment: RefundPayment | None


def refundable(target: Document | Payment | Credit) -> int:
    """Return the amount that can be refunded.

    Of a document: the completed payments applied to it less its live refunds, and at most what is
    left of its lines; 1000 paid with 300 refunded is 700. Of a payment: its remaining amount while
    it is completed. Of a sent credit: the unused amount.
    """
    if isinstance(target, Document):
        return refund_targets.refundable(target)
    if isinstance(target, Credit):
        return credits.unapplied(target)
    return payments.remaining(target) if target.status == "completed" else 0


def agree(
    command: AgreeRefund,
    target: Document | Payment | Credit,
    roles: Roles,
    context: Context,
    banks: MoneyBanks = NO_BANKS,
) -> AgreedRefund:
    """Create a refund; with `completed_at` it is paid immediately.

    The default amount is the sum of the given lines, or else all that can be refunded. Raises
    RuleViolation `refund_exceeds_refundable`, `bank_account_inactive` or, for a rate of a refund
    that is paid later, `exchange_rate_not_needed`; Conflict `credit_not_sent` or `period_locked`.
    """
    if isinstance(target, Credit):
        credits.refuse_not_open(RECEIVABLE, target, "refunded")
    if command.completed_at is not None:
        refuse_locked(context, context.day_of(command.completed_at))
    given = command.completed_at or context.now
    usual = sum(each.amount for each in command.lines) or refundable(target)
    amount = or_else(command.amount, usual)
    refuse_more_than(refundable(target), amount, **facts_of(RECEIVABLE, target))
    allocation, after = _given_back(target, amount, command.lines, roles, context)
    refund = InvoiceRefund(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        party=target.party,
        external_id=command.external_id,
        amount=amount,
        currency=target.currency,
        is_foreign=target.currency != context.currency,
        agreed_on=max(context.day_of(given), _day_of(target)),
        completed_at=None,
        cancelled_at=None,
        allocations=(allocation,),
        method=command.method,
        processor=command.processor or processor_of(command.method),
        fee=command.fee,
        bank=chosen_bank(command.bank_account_id, banks, currency=target.currency),
        memo=command.memo,
        reference_number=command.reference_number,
        metadata=command.metadata,
    )
    if command.completed_at is None:
        refuse_unused(command.worth)
        return AgreedRefund(refund, after, None)
    paid, payment = pay(refund, PayRefund(completed_at=given, worth=command.worth), context)
    return AgreedRefund(paid, after, payment)


def cancel(refund: InvoiceRefund, target: Target, context: Context) -> tuple[InvoiceRefund, Target]:
    """Cancel a refund of which nothing is paid.

    Raises Conflict `invalid_state_transition`.
    """
    if refund.cancelled_at is not None:
        raise _refused_move(refund, "The refund is already cancelled.")
    if refund.paid:
        raise _refused_move(refund, "Part of the refund is paid. Cancel its payments first.")
    [allocation] = refunds.live_allocations(refund)
    cancelled = replace(
        refund,
        cancelled_at=context.now,
        cancelled_on=context.today,
        allocations=(replace(allocation, end=context.today),),
        updated_at=context.now,
    )
    return cancelled, take_back(allocation, target, context)


def pay(
    refund: InvoiceRefund, command: PayRefund, context: Context, banks: MoneyBanks = NO_BANKS
) -> tuple[InvoiceRefund, RefundPayment]:
    """Pay a refund, by default all that is not paid yet.

    Each payment is split over what is left of each part of the refund, so the last one closes it
    exactly: of 8333 and 1667, 3333 takes 2777 and 556. Raises Conflict `invalid_state_transition`
    or `period_locked`; RuleViolation `refund_exceeds_refundable`, `bank_account_inactive` or those
    of `worth_of`.
    """
    if refund.cancelled_at is not None:
        raise _refused_move(refund, "A cancelled refund cannot be paid.")
    amount = or_else(command.amount, refunds.rest(refund))
    refuse_more_than(refunds.rest(refund), amount, refund_id=str(refund.id), paid=refund.paid)
    if command.completed_at is not None:
        refuse_locked(context, context.day_of(command.completed_at))
    completed_at = command.completed_at or context.now
    completed_on = context.day_of(completed_at)
    split = take(refunds.parts(refund), refund.settled, amount)
    payment = RefundPayment(
        id=context.identify(),
        version=0,
        created_at=context.now,
        updated_at=context.now,
        refund_id=refund.id,
        party=refund.party,
        external_id=command.external_id,
        amount=amount,
        currency=refund.currency,
        **_means(refund, command, banks, context),
        status="completed",
        completed_at=completed_at,
        completed_on=completed_on,
        worth=worth_of(refund.currency, amount, command.worth, completed_on, context),
        cancelled_at=None,
        completions=(Span(),),
        splits=(split,),
        about=refunds.about(refund),
        memo=command.memo,
        transaction_tags=command.transaction_tags,
        metadata=command.metadata,
    )
    return _paid(refund, amount, split, completed_at, context), payment


def cancel_payment(
    refund: InvoiceRefund, payment: RefundPayment, status_date: date | None, context: Context
) -> tuple[InvoiceRefund, RefundPayment]:
    """Cancel a payment of a refund on a day, by default today; its amount is owed again.

    Its matches with bank lines stay. Raises Conflict `invalid_state_transition` if it is
    cancelled already, `in_payout` while a payout holds it, and `period_locked`; RuleViolation
    `date_out_of_order`.
    """
    if payment.status != "completed":
        raise Conflict.of_state("The refund payment is already cancelled.", payment.status)
    spans, status, dated = payment.completions, payment.status, refunds.dated_on(payment)
    context = context_of_status(spans, status, "cancelled", status_date, dated, context)
    cancelled = replace(
        payment,
        status="cancelled",
        cancelled_at=context.at,
        completions=completions_after(spans, status, "cancelled", context),
        updated_at=context.now,
    )
    owed = _paid(refund, -payment.amount, negative(payment.splits[-1]), None, context)
    return owed, held_to(RECEIVABLE, payment, cancelled)


def refuse_elsewhere(refund: Refund, known: RefundPayment) -> None:
    """Refuse an external id that a payment of another refund has.

    Raises Conflict `duplicate_external_id`.
    """
    if known.refund_id != refund.id:
        raise Conflict(
            "duplicate_external_id",
            "A payment of another refund has this external_id.",
            external_id=known.external_id,
            id=str(known.id),
            refund_id=str(known.refund_id),
        )


def _given_back(
    target: Document | Payment | Credit,
    amount: int,
    lines: Sequence[GivenBackLine],
    roles: Roles,
    context: Context,
) -> tuple[RefundAllocation, Document | Payment | Credit]:
    if isinstance(target, Document):
        return of_document(RECEIVABLE, target, amount, roles, context, lines=lines)
    if lines:
        raise ValidationError.fields(lines=["is allowed only with invoice_id"])
    if isinstance(target, Credit):
        return of_credit(target, amount, context)
    return of_payment(RECEIVABLE, target, amount, roles, context)


def _day_of(target: Document | Payment | Credit) -> date:
    if isinstance(target, Document):
        return documents.opened_on(target)
    if isinstance(target, Credit):
        return credits.opened_on(target)
    return target.payment_date


def _means(
    refund: InvoiceRefund, command: PayRefund, banks: MoneyBanks, context: Context
) -> dict[str, Any]:
    """Return method, processor, accounts and fee of a payment: its own, else the refund's.

    The refund's fee applies while nothing is paid; its processor and its bank account apply to its
    own method.
    """
    method = command.method or refund.method
    own = method == refund.method
    remembered = refund.processor if own else processor_of(method)
    named = chosen_bank(command.bank_account_id, banks, currency=refund.currency)
    bank = named or (refund.bank if own else None)
    fee = command.fee
    if fee is None:
        fee = 0 if refund.paid else refund.fee
    processor = command.processor or remembered
    return {
        "method": method,
        "processor": processor,
        "bank": bank,
        "own_account_id": own_account(RECEIVABLE, refund.currency, method, processor, context),
        "fee": fee,
    }


def _paid(
    refund: InvoiceRefund, amount: int, split: Split, at: datetime | None, context: Context
) -> InvoiceRefund:
    paid = refund.paid + amount
    return replace(
        refund,
        paid=paid,
        settled=added(refund.settled, split),
        completed_at=at if paid == refund.amount else None,
        updated_at=context.now,
    )


def _refused_move(refund: InvoiceRefund, message: str) -> Conflict:
    state = refunds.invoice_refund_status(refund)
    return Conflict.of_state(message, state, ["paid"] if state == "processing" else [])
