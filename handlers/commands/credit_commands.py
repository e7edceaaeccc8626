"""Credits of both sides, and their allocations."""

from itertools import starmap

from accounting.absent import Absent, for_each, or_else, or_none
from accounting.trade.allocation import AllocationItem
from accounting.trade.commands import CreditLineGiven, ReplaceCredit, WriteCredit
from handlers.bodies import (
    AccountIdentifier,
    CustomerCreditAllocationInput,
    CustomerCreditCreate,
    CustomerCreditLineInput,
    CustomerCreditReplace,
    VendorCreditAllocationInput,
    VendorCreditCreate,
    VendorCreditLineInput,
    VendorCreditReplace,
)
from handlers.commands.account_commands import account
from handlers.commands.party_commands import party


def create_customer_credit(body: CustomerCreditCreate) -> WriteCredit:
    """Parse a new credit for a customer."""
    return WriteCredit(
        party=party(body["customer_id"], body["customer_external_id"]),
        external_id=or_none(body["external_id"]),
        number=or_none(body["credit_note_number"]),
        opened_at=or_none(body["sent_at"]),
        source_document_id=or_none(body["source_invoice_id"]),
        currency=or_none(body["currency"]),
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_customer_line, enumerate(body["line_items"]))),
        allocations=or_else(for_each(body["allocations"], _to_invoice), ()),
    )


def replace_customer_credit(body: CustomerCreditReplace) -> ReplaceCredit:
    """Parse the new contents of a credit for a customer."""
    return ReplaceCredit(
        opened_at=or_none(body["sent_at"]),
        allocations=for_each(body["allocations"], _to_invoice),
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
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
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
        lines=tuple(starmap(_vendor_line, enumerate(body["line_items"]))),
        allocations=or_else(for_each(body["allocations"], _to_bill), ()),
    )


def replace_vendor_credit(body: VendorCreditReplace) -> ReplaceCredit:
    """Parse the new contents of a credit from a vendor."""
    return ReplaceCredit(
        opened_at=or_none(body["received_at"]),
        allocations=for_each(body["allocations"], _to_bill),
        memo=or_none(body["memo"]),
        transaction_tags=tuple(or_else(body["tags"], ())),
        metadata=or_none(body["metadata"]),
    )


def _customer_line(place: int, item: CustomerCreditLineInput) -> CreditLineGiven:
    return _line(place, item, item["revenue_account_identifier"])


def _vendor_line(place: int, item: VendorCreditLineInput) -> CreditLineGiven:
    return _line(place, item, item["expense_account_identifier"])


def _line(
    place: int,
    item: CustomerCreditLineInput | VendorCreditLineInput,
    named: AccountIdentifier | Absent,
) -> CreditLineGiven:
    return CreditLineGiven(
        place=f"line_items.{place}",
        amount=item["amount"],
        tax_amount=or_none(item["tax_amount_cents"]),
        account=account(named),
        tax_code=or_none(item["tax_code"]),
        source_line_id=or_none(item["source_line_id"]),
        memo=or_none(item["memo"]),
        tags=tuple(or_else(item["tags"], ())),
        metadata=or_none(item["metadata"]),
    )


def _to_invoice(place: int, item: CustomerCreditAllocationInput) -> AllocationItem:
    where = f"allocations.{place}.invoice_id"
    return AllocationItem(item["invoice_id"], item["amount"], place=where)


def _to_bill(place: int, item: VendorCreditAllocationInput) -> AllocationItem:
    where = f"allocations.{place}.bill_id"
    return AllocationItem(item["bill_id"], item["amount"], place=where)
