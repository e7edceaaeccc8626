"""Payments of both sides, and their allocations."""

from accounting.absent import ABSENT, for_each, or_else, or_none
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import ChangePayment, PaymentDetails, RecordPayment
from accounting.trade.party_details import PartyNamed
from handlers.bodies import (
    BillAllocationInput,
    BillPaymentCreate,
    BillPaymentUpdate,
    InvoiceAllocationInput,
    InvoicePaymentChanges,
    InvoicePaymentCreate,
)
from handlers.commands.party_commands import party, tags


def create_invoice_payment(
    body: InvoicePaymentCreate, idempotency_key: str | None = None
) -> RecordPayment:
    """Parse a new payment from a customer; its idempotency key is stored and returned."""
    return RecordPayment(
        party=party(body["customer_id"], body["customer_external_id"]),
        total=body["total_amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=or_else(for_each(body["allocations"], _to_invoice), ()),
        currency=body["currency"],
        processor=or_none(body["payment_processor"]),
        fee=or_else(body["processing_fee_cents"], 0),
        status=or_else(body["status"], "completed"),
        external_id=or_none(body["external_id"]),
        idempotency_key=idempotency_key,
        details=_invoice_payment_details(body),
    )


def change_invoice_payment(body: InvoicePaymentChanges, *, whole: bool = False) -> ChangePayment:
    """Parse changes to a payment from a customer; `whole` if the payment is replaced."""
    return ChangePayment(
        party=PartyNamed(or_none(body["customer_id"])),
        total=body["total_amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=for_each(body["allocations"], _to_invoice),
        currency=or_none(body["currency"]),
        processor=body["payment_processor"],
        fee=body["processing_fee_cents"],
        status=body["status"],
        external_id=body["external_id"],
        details=_invoice_payment_details(body),
        whole=whole,
    )


def create_bill_payment(
    body: BillPaymentCreate, idempotency_key: str | None = None
) -> RecordPayment:
    """Parse a new payment to a vendor; its idempotency key is stored and returned."""
    return RecordPayment(
        party=party(body["vendor_id"], body["vendor_external_id"]),
        total=body["amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=or_else(for_each(body["allocations"], _to_bill), ()),
        currency=body["currency"],
        fee=or_else(body["processing_fee_cents"], 0),
        status=or_else(body["status"], "completed"),
        external_id=or_none(body["external_id"]),
        idempotency_key=idempotency_key,
        details=_bill_payment_details(body),
    )


def change_bill_payment(body: BillPaymentUpdate) -> ChangePayment:
    """Parse changes to a payment to a vendor."""
    return ChangePayment(
        total=body["amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=for_each(body["allocations"], _to_bill),
        fee=body["processing_fee_cents"],
        status=body["status"],
        external_id=body["external_id"],
        details=_bill_payment_details(body),
    )


def _invoice_payment_details(body: InvoicePaymentCreate | InvoicePaymentChanges) -> PaymentDetails:
    """Parse the descriptive fields; `note` takes precedence over `notes`, its older name."""
    note, older = body["note"], body["notes"]
    return PaymentDetails(
        note=older if note is ABSENT or (note is None and older is not ABSENT) else note,
        payment_reference=body["payment_reference"],
        bank_reference=body["bank_reference"],
        processor_reference=body["processor_reference"],
        references=body["references"],
        transaction_tags=tags(body["transaction_tags"]),
        metadata=body["metadata"],
    )


def _bill_payment_details(body: BillPaymentCreate | BillPaymentUpdate) -> PaymentDetails:
    return PaymentDetails(
        note=body["memo"],
        payment_reference=body["payment_reference"],
        check_number=body["check_number"],
        transaction_tags=tags(body["transaction_tags"]),
        metadata=body["metadata"],
    )


def _to_invoice(place: int, item: InvoiceAllocationInput) -> AllocationItem:
    where = f"allocations.{place}.invoice_id"
    return AllocationItem(item["invoice_id"], item["amount_cents"], place=where)


def _to_bill(place: int, item: BillAllocationInput) -> AllocationItem:
    where, description = f"allocations.{place}.bill_id", or_none(item["description"])
    return AllocationItem(item["bill_id"], item["amount_cents"], description, place=where)
