"""Opening balances: account balances, and open items of customers and vendors."""

from functools import partial

from accounting.absent import for_each, or_else, or_none
from accounting.books.commands import EntryLineGiven
from accounting.opening.commands import (
    OpenAccountGiven,
    OpenBooks,
    OpenCreditGiven,
    OpenDocumentGiven,
    OpenTaxGiven,
    OpenWithSide,
    PrepaymentGiven,
)
from accounting.trade.parties import PartyNamed
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from handlers.bodies import (
    OpeningAccountInput,
    OpeningBalanceCreate,
    OpeningBillInput,
    OpeningCustomerCreditInput,
    OpeningInvoiceInput,
    OpeningNetInput,
    OpeningPrepaymentInput,
    OpeningTaxInput,
    OpeningVendorCreditInput,
)
from handlers.books.journal_commands import signed
from handlers.shared.account_commands import any_account
from handlers.shared.foreign_amounts import given_worth
from handlers.trade.document_commands import party


def open_books(body: OpeningBalanceCreate) -> OpenBooks:
    """Parse opening balances; prepayments are sorted by their side."""
    prepaid = or_else(for_each(body["prepayments"], _prepayment), ())
    return OpenBooks(
        on=body["date"],
        accounts=tuple(map(_balance, or_else(body["accounts"], []))),
        sales=OpenWithSide(
            documents=or_else(for_each(body["invoices"], _invoice), ()),
            credits=or_else(for_each(body["customer_credits"], _customer_credit), ()),
            prepayments=tuple(each for side, each in prepaid if side is RECEIVABLE),
        ),
        purchases=OpenWithSide(
            documents=or_else(for_each(body["bills"], _bill), ()),
            credits=or_else(for_each(body["vendor_credits"], _vendor_credit), ()),
            prepayments=tuple(each for side, each in prepaid if side is PAYABLE),
        ),
        memo=or_none(body["memo"]),
    )


def _balance(item: OpeningAccountInput) -> EntryLineGiven:
    return EntryLineGiven(
        any_account(item["account"]),
        signed(item),
        currency=or_none(item["currency"]),
        currency_amount=or_none(item["currency_amount"]),
    )


def _invoice(place: int, item: OpeningInvoiceInput) -> OpenDocumentGiven:
    return OpenDocumentGiven(
        place=f"invoices.{place}",
        taxes=or_else(for_each(item["tax"], partial(_tax, f"invoices.{place}")), ()),
        accounts=or_else(for_each(item["accounts"], partial(_net, f"invoices.{place}")), ()),
        party=party(item["customer_id"], item["customer_external_id"]),
        amount=item["outstanding_amount_cents"],
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        currency=or_none(item["currency"]),
        worth=given_worth(item["exchange_rate"], item["base_outstanding_cents"]),
        issue_date=item["issue_date"],
        number=item["invoice_number"],
        opened_at=or_none(item["sent_at"]),
        due_at=or_none(item["due_at"]),
    )


def _bill(place: int, item: OpeningBillInput) -> OpenDocumentGiven:
    return OpenDocumentGiven(
        place=f"bills.{place}",
        taxes=or_else(for_each(item["tax"], partial(_tax, f"bills.{place}")), ()),
        accounts=or_else(for_each(item["accounts"], partial(_net, f"bills.{place}")), ()),
        party=party(item["vendor_id"], item["vendor_external_id"]),
        amount=item["outstanding_amount_cents"],
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        currency=or_none(item["currency"]),
        worth=given_worth(item["exchange_rate"], item["base_outstanding_cents"]),
        issue_date=item["bill_date"],
        number=or_none(item["bill_number"]),
        party_number=or_none(item["vendor_bill_number"]),
        opened_at=or_none(item["received_at"]),
        due_at=or_none(item["due_at"]),
    )


def _customer_credit(place: int, item: OpeningCustomerCreditInput) -> OpenCreditGiven:
    return OpenCreditGiven(
        place=f"customer_credits.{place}",
        taxes=or_else(for_each(item["tax"], partial(_tax, f"customer_credits.{place}")), ()),
        accounts=or_else(
            for_each(item["accounts"], partial(_net, f"customer_credits.{place}")), ()
        ),
        party=party(item["customer_id"], item["customer_external_id"]),
        amount=item["unapplied_amount_cents"],
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        currency=or_none(item["currency"]),
        worth=given_worth(item["exchange_rate"], item["base_outstanding_cents"]),
        number=item["credit_note_number"],
        opened_at=item["sent_at"],
    )


def _vendor_credit(place: int, item: OpeningVendorCreditInput) -> OpenCreditGiven:
    return OpenCreditGiven(
        place=f"vendor_credits.{place}",
        taxes=or_else(for_each(item["tax"], partial(_tax, f"vendor_credits.{place}")), ()),
        accounts=or_else(for_each(item["accounts"], partial(_net, f"vendor_credits.{place}")), ()),
        party=party(item["vendor_id"], item["vendor_external_id"]),
        amount=item["unapplied_amount_cents"],
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        currency=or_none(item["currency"]),
        worth=given_worth(item["exchange_rate"], item["base_outstanding_cents"]),
        number=or_none(item["vendor_credit_number"]),
        opened_at=item["received_at"],
    )


def _tax(place: str, number: int, item: OpeningTaxInput) -> OpenTaxGiven:
    return OpenTaxGiven(
        place=f"{place}.tax.{number}",
        tax_code=item["tax_code"],
        net=item["net_cents"],
        tax=item["tax_cents"],
    )


def _net(place: str, number: int, item: OpeningNetInput) -> OpenAccountGiven:
    return OpenAccountGiven(
        place=f"{place}.accounts.{number}",
        account=any_account(item["account"]),
        net=item["net_cents"],
    )


def _prepayment(place: int, item: OpeningPrepaymentInput) -> tuple[Side, PrepaymentGiven]:
    """Parse a prepayment with its side: sales if it names a customer, else purchases."""
    customer = party(item["customer_id"], item["customer_external_id"])
    side = PAYABLE if customer == PartyNamed() else RECEIVABLE
    vendor = party(item["vendor_id"], item["vendor_external_id"])
    return side, PrepaymentGiven(
        place=f"prepayments.{place}",
        party=customer if side is RECEIVABLE else vendor,
        amount=item["unapplied_amount_cents"],
        external_id=or_none(item["external_id"]),
        memo=or_none(item["memo"]),
        currency=or_none(item["currency"]),
        worth=given_worth(item["exchange_rate"], item["base_outstanding_cents"]),
        payment_date=item["payment_date"],
        method=or_else(item["payment_method"], "bank_transfer"),
        reference=or_none(item["payment_reference"]),
    )
