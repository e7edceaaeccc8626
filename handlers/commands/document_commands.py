"""Invoices and bills, and their write-offs."""

from datetime import datetime
from decimal import Decimal
from itertools import starmap

from accounting.absent import or_else, or_none
from accounting.trade.commands import (
    DocumentLine,
    InitialPayment,
    OpenDocument,
    TaxGiven,
    WriteDocument,
    WriteOffDocument,
)
from handlers.bodies import (
    BillCreate,
    BillReceive,
    BillReplace,
    InvoiceCreate,
    InvoiceInitialPayment,
    InvoiceReplace,
    InvoiceSend,
    KeyedTag,
    LineItemInput,
    SalesTaxInput,
    Voiding,
    WriteOffCreate,
)
from handlers.commands.account_commands import account
from handlers.commands.decimals import decimal
from handlers.commands.party_commands import party


def create_invoice(body: InvoiceCreate) -> WriteDocument:
    """Parse a new invoice with its payments."""
    payments = or_else(body["payments"], [])
    return _invoice(body, tuple(map(_payment, payments)))


def replace_invoice(body: InvoiceReplace) -> WriteDocument:
    """Parse the new contents of an invoice."""
    return _invoice(body, ())


def bill(body: BillCreate | BillReplace) -> WriteDocument:
    """Parse a new bill, or the new contents of one."""
    return WriteDocument(
        party=party(body["vendor_id"], body["vendor_external_id"]),
        external_id=or_none(body["external_id"]),
        number=or_none(body["bill_number"]),
        party_number=body["vendor_bill_number"],
        issue_date=body["bill_date"],
        opened_at=or_none(body["received_at"]),
        due_at=or_none(body["due_at"]),
        terms=or_none(body["terms"]),
        currency=or_none(body["currency"]),
        memo=or_none(body["memo"]),
        additional_discount=or_else(body["additional_discount"], 0),
        amounts_include_tax=or_else(body["amounts_include_tax"], False),
        transaction_tags=tuple(or_else(body["transaction_tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_line, enumerate(body["line_items"]))),
    )


def send_invoice(body: InvoiceSend | None) -> OpenDocument:
    """Parse when an invoice is sent and when it is due."""
    if body is None:
        return OpenDocument()
    return OpenDocument(or_none(body["sent_at"]), or_none(body["due_at"]))


def receive_bill(body: BillReceive | None) -> OpenDocument:
    """Parse when a bill is received and when it is due."""
    if body is None:
        return OpenDocument()
    return OpenDocument(or_none(body["received_at"]), or_none(body["due_at"]))


def voided_at(body: Voiding | None) -> datetime | None:
    """Return when a document is voided, if the body states it."""
    return None if body is None else or_none(body["voided_at"])


def write_off(body: WriteOffCreate | None) -> WriteOffDocument:
    """Parse the amount, account and details of a write-off."""
    if body is None:
        return WriteOffDocument()
    return WriteOffDocument(
        amount=body["amount_cents"],
        tax_relief=or_else(body["tax_relief"], False),
        write_off_at=or_none(body["write_off_at"]),
        account=account(body["destination_account"]),
        external_id=or_none(body["external_id"]),
        memo=or_none(body["memo"]),
        tags=tuple(map(_tag, or_else(body["tags"], []))),
    )


def _invoice(
    body: InvoiceCreate | InvoiceReplace, payments: tuple[InitialPayment, ...]
) -> WriteDocument:
    return WriteDocument(
        party=party(body["customer_id"], body["customer_external_id"]),
        external_id=or_none(body["external_id"]),
        number=or_none(body["invoice_number"]),
        issue_date=body["issue_date"],
        opened_at=or_none(body["sent_at"]),
        due_at=or_none(body["due_at"]),
        currency=or_none(body["currency"]),
        memo=or_none(body["memo"]),
        additional_discount=or_else(body["additional_discount"], 0),
        amounts_include_tax=or_else(body["amounts_include_tax"], False),
        transaction_tags=tuple(or_else(body["transaction_tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_line, enumerate(body["line_items"]))),
        payments=payments,
    )


def _line(place: int, item: LineItemInput) -> DocumentLine:
    return DocumentLine(
        place=f"line_items.{place}",
        quantity=Decimal(str(item["quantity"])),
        unit_price=item["unit_price"],
        discount_amount=or_else(item["discount_amount"], 0),
        account=account(item["account_identifier"]),
        taxes=tuple(map(_tax, or_else(item["sales_taxes"], []))),
        tax_rate=decimal(item["tax_rate"]),
        tax_code=or_none(item["tax_code"]),
        withholding_code=or_none(item["withholding_code"]),
        description=or_none(item["description"]),
        product=or_none(item["product"]),
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        tags=tuple(or_else(item["tags"], ())),
        metadata=or_none(item["metadata"]),
    )


def _tax(item: SalesTaxInput) -> TaxGiven:
    return TaxGiven(item["amount"], account(item["tax_account"]), or_none(item["tax_code"]))


def _tag(item: KeyedTag) -> tuple[str, str]:
    return item["key"], item["value"]


def _payment(item: InvoiceInitialPayment) -> InitialPayment:
    return InitialPayment(
        total=item["total_amount_cents"],
        payment_date=item["payment_date"],
        method=item["payment_method"],
        processor=or_none(item["payment_processor"]),
        fee=or_else(item["processing_fee_cents"], 0),
        external_id=or_none(item["external_id"]),
        payment_reference=or_none(item["payment_reference"]),
        note=or_none(item["note"]),
    )
