"""The fields of an answer that a change of a record concerns.

`SHOWN` names the fields that show an attribute as it is stored, and `COMPUTED` those that answers
compute. Fields that show another record, such as the file of an invoice, are in the events of that
record.
"""

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Final

from accounting.bank import bank_transactions, payouts
from accounting.books.businesses import Context
from accounting.books.record_rates import base_total
from accounting.events.named_fields import SHOWN
from accounting.tax.codes import rate_on
from accounting.trade import credits, documents, parties, payments, refunds
from accounting.trade.payments import Payment
from accounting.trade.vendor_refund_payments import net_amount as net_of_refund

NOT_COMPARED: Final = frozenset({"id", "version", "created_at", "updated_at", "posted"})


def shown_fields(
    object_type: str, before: Any, after: Any, context: Context | None
) -> tuple[str, ...]:
    """Return the fields of the answer that differ, sorted; the status is not among them.

    An invoice with 40 of 100 paid that gets 60 more has another `outstanding_balance` and other
    `payment_allocations`.
    """
    changed = changed_attributes(before, after)
    if not changed:
        return ()
    names = SHOWN.get(object_type, {})
    found = {name for each in changed for name in names.get(each, (each,))}
    found |= {
        name
        for name, value_of in COMPUTED.get(object_type, {}).items()
        if value_of(before, context) != value_of(after, context)
    }
    return tuple(sorted(found))


def changed_attributes(before: Any, after: Any) -> tuple[str, ...]:
    """Return the names of the attributes that differ, without those that no event names.

    A value that nobody touched is the same object, so most attributes are compared by identity.
    """
    if before is after:
        return ()
    kind: Any = type(after)
    return tuple(
        name
        for name in compared(kind)
        if (old := getattr(before, name)) is not (new := getattr(after, name)) and old != new
    )


@cache
def compared(kind: Any) -> tuple[str, ...]:
    """Return the names of the attributes of a class that are compared."""
    return tuple(each.name for each in fields(kind) if each.name not in NOT_COMPARED)


ValueOf = Callable[[Any, Any], Any]
"""A function of a record and the context that returns the value of a field, or its inputs."""


def _of(function: Callable[[Any], Any]) -> ValueOf:
    return lambda value, _: function(value)


def _allocations(payment: Payment) -> Any:
    """Return the allocations of a payment as its answer shows them: each with its day, if any."""
    completed = payment.status == "completed"
    return [
        (
            each.document_id,
            each.amount,
            payments.applied_on(payment, each, None) if completed else None,
            each.description,
        )
        for each in payments.live_allocations(payment)
    ]


def _applied(payment: Payment) -> Any:
    completed = payment.status == "completed"
    return [
        (each.document_id, int(each.amount) if completed else 0)
        for each in payments.live_allocations(payment)
    ]


def _credited(credit: Any, _context: Any) -> Any:
    return [
        (each.document_id, each.amount, each.start) for each in credits.live_allocations(credit)
    ]


def _refunded(refund: Any, _context: Any) -> Any:
    return [
        (each.id, each.amount, each.description, each.metadata)
        for each in refunds.live_allocations(refund)
    ]


def _is_active(value: Any, _context: Any) -> bool:
    return value.archived_at is None


def _base_total(total: str) -> ValueOf:
    """Return the function of the base of a total, by the name of the total's attribute."""

    def value_of(record: Any, context: Context | None) -> Any:
        base_currency = record.currency if context is None else context.currency
        return base_total(record, getattr(record, total), base_currency)

    return value_of


def _in_base(function: Callable[[Any], Any]) -> ValueOf:
    """Return the function of a base amount of a document or credit; a draft may have none."""
    total = _base_total("total_amount")
    return lambda record, context: None if total(record, context) is None else function(record)


def _rate(record: Any, _context: Any) -> Any:
    return record.worth and record.worth.rate


def _money(total: str) -> Mapping[str, ValueOf]:
    return {"exchange_rate": _rate, "base_amount_cents": _base_total(total)}


def _document(payments_by: str, credits_by: str, refunds_by: str) -> Mapping[str, ValueOf]:
    return {
        "is_overdue": documents.is_overdue,
        "outstanding_balance": _of(documents.outstanding),
        "exchange_rate": _rate,
        "base_total_amount_cents": _base_total("total_amount"),
        "base_tax_total_cents": _in_base(documents.base_tax),
        "base_outstanding_cents": _in_base(documents.base_outstanding),
        "withholding_total": _of(documents.withheld),
        payments_by: lambda document, _: document.paid + document.reserved,
        credits_by: lambda document, _: document.credited,
        refunds_by: lambda document, _: document.refunded,
        "write_offs": lambda document, _: document.written_off,
    }


_CREDIT: Final[Mapping[str, ValueOf]] = {
    "allocations": _credited,
    "applied_amount": _of(credits.applied),
    "unapplied_amount": _of(credits.unapplied),
    "exchange_rate": _rate,
    "base_total_amount_cents": _base_total("total_amount"),
    "base_tax_total_cents": _in_base(credits.base_tax),
    "base_outstanding_cents": _in_base(credits.base_unapplied),
}
_PARTY: Final[Mapping[str, ValueOf]] = {
    "display_name": _of(parties.display_name),
    "is_active": lambda trader, _: trader.status == "ACTIVE",
    "is_archived": lambda trader, _: trader.archived_at is not None,
}
COMPUTED: Final[Mapping[str, Mapping[str, ValueOf]]] = {
    "invoice": _document("payment_allocations", "credit_allocations", "refund_allocations"),
    "bill": _document(
        "bill_payment_allocations", "vendor_credit_allocations", "vendor_refund_allocations"
    ),
    "invoice_payment": {
        "allocations": _of(_allocations),
        "applied_invoices": _of(_applied),
        "applied_amount_cents": lambda payment, _: int(payments.applied(payment)),
        "allocated_amount_cents": lambda payment, _: int(payments.allocated(payment)),
        "unapplied_amount_cents": _of(payments.unapplied),
        "remaining_amount_cents": _of(payments.remaining),
        **_money("total"),
        "net_amount": _of(payments.net_amount),
        "is_fully_allocated": _of(payments.is_fully_allocated),
    },
    "bill_payment": {
        "allocations": _of(_allocations),
        "allocated_amount_cents": lambda payment, _: int(payments.allocated_to_documents(payment)),
        "unallocated_amount_cents": _of(payments.remaining),
        **_money("total"),
        "is_fully_allocated": _of(payments.is_fully_allocated),
    },
    "customer_credit": _CREDIT,
    "vendor_credit": _CREDIT,
    "invoice_refund": {
        "allocations": _refunded,
        "base_amount_cents": _of(refunds.base_amount),
        "is_dedicated": _of(refunds.is_dedicated),
    },
    "invoice_refund_payment": {
        **_money("amount"),
    },
    "vendor_refund": {
        "allocations": _refunded,
        "allocated_amount": _of(refunds.allocated),
        "base_amount_cents": _of(refunds.base_amount),
        "unallocated_amount": _of(refunds.unallocated),
        "is_fully_allocated": lambda refund, _: refunds.unallocated(refund) == 0,
    },
    "vendor_refund_payment": {
        **_money("amount"),
        "net_amount": _of(net_of_refund),
    },
    "customer": {**_PARTY, "full_address": _of(parties.full_address)},
    "vendor": _PARTY,
    "account": {"is_active": _is_active},
    "tax_code": {
        "is_active": _is_active,
        "current_rate": lambda code, context: rate_on(code, context.today),
    },
    "business": {"is_active": _is_active},
    "bank_transaction": {
        "remaining_amount_cents": _of(bank_transactions.remaining),
        "is_reconciled": _of(bank_transactions.is_reconciled),
        "exchange_rate": _rate,
        "base_categorized_cents": _of(bank_transactions.base_categorized),
        "category": lambda line, _: line.parts if len(line.parts) == 1 else (),
    },
    "payout": {
        **_money("paid_out"),
        "net_amount_cents": _of(payouts.net_amount),
        "other_items_amount_cents": lambda payout, _: payouts.total(payout.other_items),
        "expected_net_amount_cents": _of(payouts.expected_net),
        "amount_variance_cents": _of(payouts.variance),
        "reconciliation_status": _of(payouts.reconciliation_status),
        "payments": lambda payout, _: [each.payment_id for each in payouts.listed(payout)],
        "payment_count": lambda payout, _: _count(payout, "payment_id"),
        "refund_payments": lambda payout, _: [
            each.refund_payment_id for each in payouts.listed(payout)
        ],
        "refund_payment_count": lambda payout, _: _count(payout, "refund_payment_id"),
    },
    "tax_return": {"superseded_by_id": lambda found, _: found.status == "superseded"},
    "journal_entry": {
        "total_debit": lambda entry, _: entry.total,
        "total_credit": lambda entry, _: entry.total,
    },
}


def _count(payout: Any, name: str) -> int:
    return sum(getattr(each, name) is not None for each in payouts.listed(payout))
