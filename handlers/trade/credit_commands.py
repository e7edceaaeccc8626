"""Parsing of customer credits and vendor credits, and of their allocations."""

from datetime import datetime
from itertools import starmap

from accounting.absent import Absent, for_each, or_else, or_none, present
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import (
    ChangeDocument,
    ChangeLine,
    CreditLineGiven,
    ReplaceCredit,
    WriteCredit,
)
from handlers.bodies import (
    AccountIdentifier,
    CustomerCreditAllocationInput,
    CustomerCreditCreate,
    CustomerCreditLineChange,
    CustomerCreditLineInput,
    CustomerCreditReplace,
    CustomerCreditUpdate,
    VendorCreditAllocationInput,
    VendorCreditCreate,
    VendorCreditLineChange,
    VendorCreditLineInput,
    VendorCreditReplace,
    VendorCreditUpdate,
)
from handlers.shared.account_commands import account
from handlers.shared.foreign_amounts import given_worth
from handlers.trade.document_commands import line_change, party, tags


def create_customer_credit(body: CustomerCreditCreate) -> WriteCredit:
    """Parse a new credit for a customer."""
    return WriteCredit(
        party=party(body["customer_id"], body["customer_external_id"]),
        external_id=or_none(body["external_id"]),
        number=or_none(body["credit_note_number"]),
        opened_at=or_none(body["sent_at"]),
        source_document_id=or_none(body["source_invoice_id"]),
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"]),
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_customer_line, enumerate(body["line_items"]))),
        allocations=or_else(for_each(body["allocations"], _to_invoice), ()),
    )


def create_vendor_credit(body: VendorCreditCreate) -> WriteCredit:
    """Parse a new credit from a vendor."""
    return WriteCredit(
        party=party(body["vendor_id"], body["vendor_external_id"]),
        external_id=or_none(body["external_id"]),
        number=or_none(body["vendor_credit_number"]),
        opened_at=or_none(body["received_at"]),
        source_document_id=or_none(body["source_bill_id"]),
        currency=or_none(body["currency"]),
        worth=given_worth(body["exchange_rate"]),
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_vendor_line, enumerate(body["line_items"]))),
        allocations=or_else(for_each(body["allocations"], _to_bill), ()),
    )


def replace_customer_credit(body: CustomerCreditReplace) -> ReplaceCredit:
    """Parse the new contents of a credit for a customer."""
    return _replaced(body, body["sent_at"], for_each(body["allocations"], _to_invoice))


def replace_vendor_credit(body: VendorCreditReplace) -> ReplaceCredit:
    """Parse the new contents of a credit from a vendor."""
    return _replaced(body, body["received_at"], for_each(body["allocations"], _to_bill))


def change_customer_credit(body: CustomerCreditUpdate) -> ChangeDocument:
    """Parse changes to a credit for a customer that leave its amounts."""
    return _changed(body, for_each(body["line_items"], _customer_line_change))


def change_vendor_credit(body: VendorCreditUpdate) -> ChangeDocument:
    """Parse changes to a credit from a vendor that leave its amounts."""
    return _changed(body, for_each(body["line_items"], _vendor_line_change))


def _replaced(
    body: CustomerCreditReplace | VendorCreditReplace,
    opened_at: datetime | Absent | None,
    allocations: tuple[AllocationItem, ...] | Absent,
) -> ReplaceCredit:
    return ReplaceCredit(
        opened_at=or_none(opened_at),
        allocations=allocations,
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
    )


def _changed(
    body: CustomerCreditUpdate | VendorCreditUpdate, lines: tuple[ChangeLine, ...] | Absent
) -> ChangeDocument:
    return ChangeDocument(
        external_id=body["external_id"],
        memo=body["memo"],
        transaction_tags=tags(body["tags"]),
        metadata=body["metadata"],
        lines=or_else(lines, ()),
    )


def _customer_line_change(place: int, item: CustomerCreditLineChange) -> ChangeLine:
    return line_change(place, item, item["revenue_account_identifier"])


def _vendor_line_change(place: int, item: VendorCreditLineChange) -> ChangeLine:
    return line_change(place, item, item["expense_account_identifier"])


def _customer_line(place: int, item: CustomerCreditLineInput) -> CreditLineGiven:
    return _credit_line(place, item, item["revenue_account_identifier"])


def _vendor_line(place: int, item: VendorCreditLineInput) -> CreditLineGiven:
    return _credit_line(place, item, item["expense_account_identifier"])


def _credit_line(
    place: int,
    item: CustomerCreditLineInput | VendorCreditLineInput,
    named: AccountIdentifier | Absent,
) -> CreditLineGiven:
    return CreditLineGiven(
        place=f"line_items.{place}",
        amount=item["amount"],
        tax_amount=or_none(or_else(item["tax_amount"], item["tax_amount_cents"])),
        account=account(named),
        tax_code=or_none(item["tax_code"]),
        source_line_id=or_none(item["source_line_id"]),
        memo=or_none(item["memo"]),
        tags=tuple(or_else(item["tags"], ())),
        metadata=or_none(item["metadata"]),
    )


def _to_invoice(place: int, item: CustomerCreditAllocationInput) -> AllocationItem:
    where, on = f"allocations.{place}.invoice_id", or_none(item["allocation_date"])
    return AllocationItem(present(item["invoice_id"]), item["amount"], place=where, on=on)


def _to_bill(place: int, item: VendorCreditAllocationInput) -> AllocationItem:
    where, on = f"allocations.{place}.bill_id", or_none(item["allocation_date"])
    return AllocationItem(present(item["bill_id"]), item["amount"], place=where, on=on)
