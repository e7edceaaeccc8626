"""Invoices and bills, and their write-offs."""

from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from itertools import starmap
from uuid import UUID

from accounting.absent import ABSENT, Absent, for_each, or_else, or_none
from accounting.trade.commands import (
    ChangeDocument,
    ChangeLine,
    DocumentLine,
    InitialPayment,
    OpenDocument,
    TaxGiven,
    WriteDocument,
    WriteOffDocument,
)
from accounting.trade.parties import CustomerDetails, PartyNamed, VendorDetails
from handlers.bodies import (
    AccountIdentifier,
    BillCreate,
    BillReceive,
    BillReplace,
    BillUpdate,
    CustomerCreate,
    CustomerCreditLineChange,
    CustomerUpdate,
    InvoiceCreate,
    InvoiceInitialPayment,
    InvoiceReplace,
    InvoiceSend,
    InvoiceUpdate,
    KeyedTag,
    LineItemChange,
    LineItemInput,
    SalesTaxInput,
    VendorCreate,
    VendorCreditLineChange,
    VendorUpdate,
    Voiding,
    WriteOffCreate,
)
from handlers.shared.account_commands import account
from handlers.shared.foreign_amounts import given_worth

# Customers and vendors, and references to them in other bodies.


def party(id: UUID | Absent, external_id: str | Absent) -> PartyNamed:
    """Parse a reference to a customer or vendor."""
    return PartyNamed(or_none(id), or_none(external_id))


def customer(body: CustomerCreate | CustomerUpdate) -> CustomerDetails:
    """Parse a customer; both names of the credit limit have the same meaning."""
    limit = body["credit_limit_cents"]
    return CustomerDetails(
        external_id=body["external_id"],
        reference_number=body["reference_number"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_line1=body["address_line1"],
        address_line2=body["address_line2"],
        city=body["city"],
        state_county=body["state_county"],
        postal_code=body["postal_code"],
        country=body["country"],
        address_string=body["address_string"],
        vat_number=body["vat_number"],
        notes=body["notes"],
        tax_exempt=body["tax_exempt"],
        transaction_tags=tags(body["transaction_tags"]),
        payment_terms_days=body["payment_terms_days"],
        credit_limit_cents=body["credit_limit"] if limit is ABSENT else limit,
        metadata=body["metadata"],
    )


def create_vendor(body: VendorCreate) -> VendorDetails:
    """Parse a new vendor."""
    return VendorDetails(
        external_id=body["external_id"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_string=body["address_string"],
        memo=body["memo"],
        transaction_tags=tags(body["transaction_tags"]),
        country=body["country"],
        vat_number=body["vat_number"],
        payment_terms_days=body["payment_terms_days"],
        metadata=body["metadata"],
    )


def change_vendor(body: VendorUpdate) -> VendorDetails:
    """Parse changes to a vendor; `status` in the body is the vendor's standing."""
    return VendorDetails(
        external_id=body["external_id"],
        individual_name=body["individual_name"],
        company_name=body["company_name"],
        email=body["email"],
        mobile_phone=body["mobile_phone"],
        office_phone=body["office_phone"],
        address_string=body["address_string"],
        memo=body["memo"],
        standing=body["status"],
        transaction_tags=tags(body["transaction_tags"]),
        payment_terms_days=body["payment_terms_days"],
        metadata=body["metadata"],
    )


def tags(given: list[str] | Absent) -> tuple[str, ...] | Absent:
    """Return tags as a tuple; ABSENT if they were not sent."""
    return given if isinstance(given, Absent) else tuple(given)


# Decimal numbers, which are sent as JSON numbers or as strings.


def decimal(given: Decimal | str | Absent) -> Decimal | None:
    """Parse an optional decimal number."""
    return None if isinstance(given, Absent) else Decimal(str(given))


def _price(whole: int | Absent, exact: str | Absent) -> int | Decimal:
    """Parse the price of one unit, in minor units; the contract requires one of the two."""
    return Decimal(str(exact)) if isinstance(whole, Absent) else whole


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
        delivery_date=body["delivery_date"],
        opened_at=or_none(body["received_at"]),
        due_at=or_none(body["due_at"]),
        terms=or_none(body["terms"]),
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"]),
        memo=or_none(body["memo"]),
        additional_discount=or_else(body["additional_discount"], 0),
        amounts_include_tax=or_else(body["amounts_include_tax"], False),
        transaction_tags=tuple(or_else(body["transaction_tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_line, enumerate(body["line_items"]))),
    )


def change_document(body: InvoiceUpdate | BillUpdate) -> ChangeDocument:
    """Parse the changes to an invoice, or those to a bill that an invoice has too."""
    return ChangeDocument(
        external_id=body["external_id"],
        due_at=body["due_at"],
        memo=body["memo"],
        transaction_tags=tags(body["transaction_tags"]),
        metadata=body["metadata"],
        lines=or_else(for_each(body["line_items"], _line_change), ()),
    )


def change_bill(body: BillUpdate) -> ChangeDocument:
    """Parse changes to a bill that leave its amounts."""
    number, terms = body["vendor_bill_number"], body["terms"]
    return replace(change_document(body), party_number=number, terms=terms)


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
        delivery_date=body["delivery_date"],
        opened_at=or_none(body["sent_at"]),
        due_at=or_none(body["due_at"]),
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"]),
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
        unit_price=_price(item["unit_price"], item["unit_price_decimal"]),
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


def _line_change(place: int, item: LineItemChange) -> ChangeLine:
    return replace(
        line_change(place, item, item["account_identifier"]),
        description=item["description"],
        product=item["product"],
        external_id=item["external_id"],
    )


def line_change(
    place: int,
    item: LineItemChange | CustomerCreditLineChange | VendorCreditLineChange,
    named: AccountIdentifier | Absent,
) -> ChangeLine:
    """Parse the changes that lines of documents and of credits have in common."""
    return ChangeLine(
        id=item["id"],
        place=f"line_items.{place}",
        account=account(named),
        memo=item["memo"],
        tags=tags(item["tags"]),
        metadata=item["metadata"],
    )


def _tax(item: SalesTaxInput) -> TaxGiven:
    return TaxGiven(item["amount"], account(item["tax_account"]), or_none(item["tax_code"]))


def _tag(item: KeyedTag) -> tuple[str, str]:
    return item["key"], item["value"]


def _payment(item: InvoiceInitialPayment) -> InitialPayment:
    return InitialPayment(
        bank_account_id=or_none(item["bank_account_id"]),
        total=item["total_amount_cents"],
        payment_date=item["payment_date"],
        method=item["payment_method"],
        processor=or_none(item["payment_processor"]),
        fee=or_else(item["processing_fee_cents"], 0),
        worth=given_worth(item["exchange_rate"], item["base_amount_cents"]),
        external_id=or_none(item["external_id"]),
        payment_reference=or_none(item["payment_reference"]),
        note=or_none(item["note"]),
    )
