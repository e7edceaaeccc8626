"""What answers must say of the model's records: the fields of each that follow from others."""

from datetime import datetime
from itertools import accumulate
from typing import Any

from tests.model.books import Books
from tests.model.records import Credit, Customer, Invoice, Payment, Refund, RefundPayment

View = dict[str, Any]
Record = Invoice | Payment | Credit | Refund | RefundPayment | Customer


def view(books: Books, record: Record) -> View:
    """Say what an answer about a record must hold; lists in any order are sets of pairs."""
    match record:
        case Invoice():
            return invoice(books, record)
        case Payment():
            return payment(books, record)
        case Credit():
            return credit(books, record)
        case Refund():
            return refund(books, record)
        case RefundPayment():
            return refund_payment(record)
        case Customer():
            return {
                "outstanding_balance": books.owed_by(record),
                "is_archived": record.archived,
            }


def invoice(books: Books, record: Invoice) -> View:
    priced = record.priced
    settled = books.outstanding(record) == 0 and record.state == "open"
    return {
        "customer_id": record.customer.id,
        "external_id": record.external_id,
        "invoice_number": record.number,
        "status": books.status(record),
        "is_overdue": books.is_overdue(record),
        "subtotal": priced.subtotal,
        "discount_total": priced.discount_total,
        "tax_total": priced.tax,
        "total_amount": priced.total,
        "outstanding_balance": books.outstanding(record),
        "due_at": record.due_at and record.due_at.date(),
        "paid_at": settled,
        "voided_at": record.state == "void",
        "payment_allocations": parts(books.payments_of(record)),
        "credit_allocations": {
            (each.id, each.parts[record.id])
            for each in books.credits.values()
            if record.id in each.parts
        },
        "refund_allocations": parts((each, each.amount) for each in books.refunds_of(record)),
        "write_offs": parts((each, each.amount) for each in books.write_offs_of(record)),
    }


def payment(books: Books, record: Payment) -> View:
    applied = record.status == "completed"
    return {
        "customer_id": record.customer.id,
        "external_id": record.external_id,
        "status": record.status,
        "payment_method": record.method,
        "payment_date": record.paid_on.isoformat(),
        "total_amount_cents": record.total,
        "applied_amount_cents": books.applied(record),
        "allocated_amount_cents": books.allocated(record),
        "unapplied_amount_cents": record.total - books.applied(record),
        "remaining_amount_cents": books.remaining(record),
        "processing_fee_cents": record.fee,
        "net_amount": record.total - record.fee,
        "is_fully_allocated": books.remaining(record) == 0,
        "allocations": set(record.parts.items()),
        "refund_allocations": given_back(books, record),
        "applied_invoices": {
            (
                id,
                amount if applied else 0,
                books.status(books.invoices[id]),
                books.outstanding(books.invoices[id]),
            )
            for id, amount in record.parts.items()
        },
    }


def given_back(books: Books, record: Payment) -> set[tuple[str, str | None, int]]:
    """What refunds give back of a payment: its own, and its share of those of its invoices.

    The refunds of an invoice lie over the completed payments that settle it, the oldest first.
    """
    laid: set[tuple[str, str | None, int]] = {
        (each.id, None, each.amount) for each in books.refunds_of(record)
    }
    for invoice in [books.invoices[id] for id in record.parts]:
        paid = [pair for pair in books.payments_of(invoice) if pair[0].status == "completed"]
        paid.sort(key=lambda pair: (pair[0].paid_on, pair[0].id))
        refunds = sorted(books.refunds_of(invoice), key=lambda each: (each.agreed_on, each.id))
        for payment, begin, end in laid_out(paid):
            for refund, first, last in laid_out([(each, each.amount) for each in refunds]):
                amount = min(end, last) - max(begin, first)
                if payment is record and amount > 0:
                    laid.add((refund.id, invoice.id, amount))
    return laid


def laid_out(amounts: list[tuple[Any, int]]) -> list[tuple[Any, int, int]]:
    """Lay amounts end to end: where each begins and ends."""
    ends = list(accumulate(amount for _, amount in amounts))
    return [(each, end - amount, end) for (each, amount), end in zip(amounts, ends, strict=True)]


def credit(books: Books, record: Credit) -> View:
    return {
        "customer_id": record.customer.id,
        "external_id": record.external_id,
        "credit_note_number": record.number,
        "source_invoice_id": record.source,
        "status": books.credit_status(record),
        "sent_at": record.sent_at,
        "voided_at": record.state == "void",
        "tax_total": record.tax,
        "total_amount": record.total,
        "applied_amount": record.used,
        "unapplied_amount": books.unapplied(record),
        "allocations": {
            (id, amount, books.outstanding(books.invoices[id]))
            for id, amount in record.parts.items()
        },
    }


def refund(books: Books, record: Refund) -> View:
    if record.cancelled:
        allocations = set()
    elif record.invoice is not None:
        owed = books.outstanding(record.invoice)
        allocations = {("invoice", record.invoice.id, record.amount, owed)}
    else:
        assert record.payment is not None
        allocations = {("payment", record.payment.id, record.amount, None)}
    return {
        "customer_id": record.customer.id,
        "external_id": record.external_id,
        "status": record.status,
        "method": record.method,
        "refunded_amount": record.amount,
        "paid_amount": record.paid,
        "completed_at": record.status == "paid",
        "is_dedicated": not record.cancelled,
        "allocations": allocations,
        "refund_payments": {(each.id, each.amount, word(each)) for each in record.payments},
    }


def refund_payment(record: RefundPayment) -> View:
    return {
        "external_id": record.external_id,
        "status": word(record),
        "refunded_amount": record.amount,
        "refund_processing_fee": record.fee,
        "method": record.method,
        "cancelled_at": record.cancelled,
    }


def word(record: RefundPayment) -> str:
    return "cancelled" if record.cancelled else "completed"


def parts(pairs: Any) -> set[tuple[str, int]]:
    return {(each.id, amount) for each, amount in pairs}


# How an answer is brought to the same form.


def read_allocation(each: Any) -> tuple[Any, ...]:
    """Read an item of `allocations`, which payments, credits and refunds have each their own of."""
    owed = each.get("invoice_outstanding_balance_cents")
    if "allocation_type" in each:
        target = each["invoice_id"] or each["payment_id"]
        return each["allocation_type"], target, each["amount"], owed
    if owed is None:
        return each["invoice_id"], each["amount_cents"]
    return each["invoice_id"], each["amount_cents"], owed


def read_refund(each: Any) -> tuple[Any, ...]:
    """Read an item of `refund_allocations`; that of a payment names the invoice as well."""
    if "invoice_id" in each:
        return each["refund_id"], each["invoice_id"], each["amount_cents"]
    return each["refund_id"], each["amount_cents"]


READ = {
    "payment_allocations": lambda each: (each["payment_id"], each["amount_cents"]),
    "credit_allocations": lambda each: (each["credit_note_id"], each["amount_cents"]),
    "refund_allocations": read_refund,
    "write_offs": lambda each: (each["id"], each["amount_cents"]),
    "applied_invoices": lambda each: (
        each["id"],
        each["applied_amount_cents"],
        each["status"],
        each["outstanding_amount_cents"],
    ),
    "refund_payments": lambda each: (each["id"], each["refunded_amount"], each["status"]),
    "allocations": read_allocation,
}


def differences(expected: View, answer: Any) -> dict[str, tuple[Any, Any]]:
    """Name each field in which an answer differs: what it should be, and what it is."""
    found = {}
    for name, value in expected.items():
        shown = answer[name]
        if isinstance(value, set):
            items = [READ[name](each) for each in shown]
            shown = set(items) if len(set(items)) == len(items) else items
        elif shown is not None and name in ("due_at", "sent_at"):
            at = datetime.fromisoformat(shown)
            shown = at.date() if name == "due_at" else at
        elif name in ("paid_at", "voided_at", "cancelled_at", "completed_at"):
            shown = shown is not None
        if shown != value:
            found[name] = (value, shown)
    return found
