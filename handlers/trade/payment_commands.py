"""Payments of both sides, and their allocations."""

from datetime import date
from typing import Any

from accounting.absent import ABSENT, Absent, for_each, or_else, or_none, present
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import (
    AgreeRefund,
    AgreeVendorRefund,
    AnnouncePayment,
    ChangePayment,
    ChangeVendorRefundPayment,
    PaymentDetails,
    PayRefund,
    RecordPayment,
    RefundItem,
    VendorPaymentDetails,
    VendorRefundDetails,
)
from accounting.trade.refunds import GivenBackLine
from handlers.bodies import (
    BillAllocationInput,
    BillPaymentCreate,
    BillPaymentUpdate,
    InvoiceAllocationInput,
    InvoicePaymentChanges,
    InvoicePaymentCreate,
    InvoiceRefundCreate,
    InvoiceRefundForm,
    InvoiceRefundPaymentCancel,
    InvoiceRefundPaymentCreate,
    RefundedLine,
    VendorRefundAllocationInput,
    VendorRefundCreate,
    VendorRefundForm,
    VendorRefundInitialPayment,
    VendorRefundPaymentCreate,
    VendorRefundPaymentUpdate,
    VendorRefundUpdate,
)
from handlers.shared.foreign_amounts import given_worth
from handlers.trade.document_commands import party, tags


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
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        processor=or_none(body["payment_processor"]),
        fee=or_else(body["processing_fee_cents"], 0),
        status=or_else(body["status"], "completed"),
        external_id=or_none(body["external_id"]),
        idempotency_key=idempotency_key,
        bank_account_id=or_none(body["bank_account_id"]),
        details=_invoice_payment_details(body),
    )


def change_invoice_payment(body: InvoicePaymentChanges, *, whole: bool = False) -> ChangePayment:
    """Parse changes to a payment from a customer; `whole` if the payment is replaced."""
    return ChangePayment(
        party=party(body["customer_id"], body["customer_external_id"]),
        total=body["total_amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=for_each(body["allocations"], _to_invoice),
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        processor=body["payment_processor"],
        fee=body["processing_fee_cents"],
        status=body["status"],
        status_date=or_none(body["status_date"]),
        external_id=body["external_id"],
        bank_account_id=body["bank_account_id"],
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
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        fee=or_else(body["processing_fee_cents"], 0),
        status=or_else(body["status"], "completed"),
        external_id=or_none(body["external_id"]),
        idempotency_key=idempotency_key,
        bank_account_id=or_none(body["bank_account_id"]),
        details=_bill_payment_details(body),
    )


def change_bill_payment(body: BillPaymentUpdate) -> ChangePayment:
    """Parse changes to a payment to a vendor."""
    return ChangePayment(
        total=body["amount_cents"],
        payment_date=body["payment_date"],
        method=body["payment_method"],
        allocations=for_each(body["allocations"], _to_bill),
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        fee=body["processing_fee_cents"],
        status=body["status"],
        status_date=or_none(body["status_date"]),
        external_id=body["external_id"],
        bank_account_id=body["bank_account_id"],
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
    return AllocationItem(
        present(item["invoice_id"]),
        item["amount_cents"],
        place=f"allocations.{place}.invoice_id",
        on=or_none(item["allocation_date"]),
        document_amount=or_none(item["document_amount_cents"]),
    )


def _to_bill(place: int, item: BillAllocationInput) -> AllocationItem:
    return AllocationItem(
        present(item["bill_id"]),
        item["amount_cents"],
        or_none(item["description"]),
        place=f"allocations.{place}.bill_id",
        on=or_none(item["allocation_date"]),
        document_amount=or_none(item["document_amount_cents"]),
    )


# Refunds to customers and from vendors, and their payments.


def agree_refund(body: InvoiceRefundCreate | InvoiceRefundForm) -> AgreeRefund:
    """Parse a new refund to a customer; the method is in capitals in the contract."""
    return AgreeRefund(
        document_id=or_none(body["invoice_id"]),
        payment_id=or_none(body["payment_id"]),
        credit_id=or_none(body["credit_id"]),
        amount=body["amount_cents"],
        lines=or_else(for_each(body["lines"], _given_back), ()),
        method=or_else(body["method"], "bank_transfer").lower(),
        processor=or_none(body["processor"]),
        fee=or_else(body["refund_processing_fee_cents"], 0),
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        completed_at=or_none(body["completed_at"]),
        external_id=or_none(body["external_id"]),
        memo=or_none(body["memo"]),
        reference_number=or_none(body["reference_number"]),
        metadata=or_none(body["metadata"]),
        bank_account_id=or_none(body["bank_account_id"]),
    )


def _given_back(place: int, item: RefundedLine) -> GivenBackLine:
    return GivenBackLine(item["line_id"], item["amount_cents"], f"lines.{place}")


def pay_refund(body: InvoiceRefundPaymentCreate | None) -> PayRefund:
    """Parse a payment of a refund to a customer."""
    if body is None:
        return PayRefund()
    method = body["method"]
    return PayRefund(
        amount=body["amount_cents"],
        method=None if isinstance(method, Absent) else method.lower(),
        processor=or_none(body["processor"]),
        fee=or_none(body["refund_processing_fee_cents"]),
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        completed_at=or_none(body["completed_at"]),
        external_id=or_none(body["external_id"]),
        memo=or_none(body["memo"]),
        transaction_tags=or_none(body["transaction_tags"]),
        metadata=or_none(body["metadata"]),
        bank_account_id=or_none(body["bank_account_id"]),
    )


def agree_vendor_refund(body: VendorRefundCreate) -> AgreeVendorRefund:
    """Parse a new refund from a vendor with its planned payments."""
    amount = or_else(body["total_refunded_amount"], body["total_refunded_amount_cents"])
    assert amount is not ABSENT, "the contract asks for one of the two"
    return AgreeVendorRefund(
        party=party(body["vendor_id"], body["vendor_external_id"]),
        amount=amount,
        allocations=or_else(for_each(body["allocations"], _item), ()),
        payments=tuple(map(_announced, or_else(body["payments"], []))),
        currency=body["currency"],
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        refund_date=or_none(body["refund_date"]),
        refund_type=or_else(body["refund_type"], "overpayment"),
        external_id=or_none(body["external_id"]),
        reference_number=or_none(body["reference_number"]),
        details=describe_vendor_refund(body),
    )


def agree_vendor_refund_payment(body: VendorRefundPaymentCreate) -> AgreeVendorRefund:
    """Parse a new refund from a vendor with its single payment."""
    payment = AnnouncePayment(
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        method=or_else(body["payment_method"], "bank_transfer"),
        fee=or_else(body["processing_fee_cents"], 0),
        bank_account_id=or_none(body["bank_account_id"]),
        details=VendorPaymentDetails(
            payment_reference=body["payment_reference"],
            processor=body["processor"],
            description=body["description"],
            memo=body["memo"],
            metadata=body["metadata"],
        ),
    )
    return AgreeVendorRefund(
        party=party(body["vendor_id"], body["vendor_external_id"]),
        amount=body["total_amount_cents"],
        allocations=or_else(for_each(body["allocations"], _item), ()),
        payments=(payment,),
        currency=body["currency"],
        worth=given_worth(body["exchange_rate"]),
        refund_date=or_none(body["refund_date"]),
        refund_type=or_else(body["refund_type"], "overpayment"),
        external_id=or_none(body["external_id"]),
        details=VendorRefundDetails(
            description=body["description"],
            memo=body["memo"],
            reason=body["reason"],
            metadata=body["metadata"],
        ),
    )


def cancelled_on(body: InvoiceRefundPaymentCancel | None) -> date | None:
    """Return the day on which a refund payment is cancelled, if the body states it."""
    return None if body is None else or_none(body["status_date"])


def describe_vendor_refund(
    body: VendorRefundCreate | VendorRefundUpdate | VendorRefundForm,
) -> VendorRefundDetails:
    """Parse the descriptive fields of a refund from a vendor."""
    return VendorRefundDetails(
        description=body["description"],
        memo=body["memo"],
        reason=body["reason"],
        metadata=body["metadata"],
        expected_completion_date=body["expected_completion_date"],
    )


def change_vendor_refund_payment(body: VendorRefundPaymentUpdate) -> ChangeVendorRefundPayment:
    """Parse changes to a payment of a refund from a vendor."""
    return ChangeVendorRefundPayment(
        status=body["status"],
        status_date=or_none(body["status_date"]),
        payment_date=body["payment_date"],
        method=body["payment_method"],
        fee=body["processing_fee_cents"],
        bank_account_id=body["bank_account_id"],
        worth=given_worth(body["exchange_rate"], body["base_amount_cents"]),
        allocations=for_each(body["allocations"], _item),
        details=VendorPaymentDetails(
            payment_reference=body["payment_reference"],
            processor_payment_id=body["processor_payment_id"],
            processor=body["processor"],
            failure_reason=body["failure_reason"],
            description=body["description"],
            memo=body["memo"],
            transaction_tags=body["transaction_tags"],
            metadata=body["metadata"],
        ),
    )


def _announced(item: VendorRefundInitialPayment) -> AnnouncePayment:
    return AnnouncePayment(
        amount=item["amount_cents"],
        method=or_else(item["payment_method"], "bank_transfer"),
        payment_date=or_none(item["payment_date"]),
        fee=or_else(item["processing_fee_cents"], 0),
        bank_account_id=or_none(item["bank_account_id"]),
        worth=given_worth(item["exchange_rate"], item["base_amount_cents"]),
        details=VendorPaymentDetails(
            payment_reference=item["payment_reference"],
            processor_payment_id=item["processor_payment_id"],
            processor=item["processor"],
            description=item["description"],
            memo=item["memo"],
            transaction_tags=item["transaction_tags"],
            metadata=item["metadata"],
        ),
    )


def _item(place: int, item: VendorRefundAllocationInput) -> RefundItem:
    where = f"allocations.{place}"
    facts: dict[str, Any] = {
        "amount": item["amount_cents"],
        "description": or_none(item["description"]),
        "metadata": or_none(item["metadata"]),
    }
    match item["allocation_type"]:
        case "bill":
            target, where = or_none(item["bill_id"]), f"{where}.bill_id"
            lines = or_else(for_each(item["lines"], _given_back), ())
            return RefundItem(kind="document", target_id=target, lines=lines, place=where, **facts)
        case "payment":
            target, where = or_none(item["bill_payment_id"]), f"{where}.bill_payment_id"
            return RefundItem(kind="payment", target_id=target, place=where, **facts)
        case "vendor_credit":
            target, where = or_none(item["vendor_credit_id"]), f"{where}.vendor_credit_id"
            return RefundItem(kind="refunded_credit", target_id=target, place=where, **facts)
        case "credit":
            code = or_none(item["tax_code"])
            return RefundItem(kind="credit", target_id=None, tax_code=code, place=where, **facts)
