"""Serialization of invoices and bills; the side determines the field names."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from typing import Any

from access.links import Links
from accounting.books.ledger import TaxPart
from accounting.tax.taxed_amounts import Tax
from accounting.trade import documents
from accounting.trade.documents import Document, LineItem
from accounting.trade.sides import RECEIVABLE, Side
from handlers.shared import attached_files, responses
from handlers.shared.foreign_amounts import serialize_base_of_document
from handlers.shared.responses import (
    MOST_TOLD,
    Warnings,
    day_start,
    serialize_party,
    serialize_rate,
)
from persistence.books import Trade
from persistence.files.stored_files import StoredFile
from persistence.trade.document_settlements import Settlements, ShownWriteOff

# Field names in answers that differ between sales and purchases.


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerNames:
    """Field names of one side; None where only the other side has the field."""

    party: str
    issue_date: str
    party_number: str | None
    payments: str
    credits: str
    refunds: str
    credit_id: str
    credit_account: str
    credit_refund: str | None


SALES = AnswerNames(
    party="customer",
    issue_date="issue_date",
    party_number=None,
    payments="payment_allocations",
    credits="credit_allocations",
    refunds="refund_allocations",
    credit_id="credit_note_id",
    credit_account="revenue_account_identifier",
    credit_refund=None,
)
PURCHASES = AnswerNames(
    party="vendor",
    issue_date="bill_date",
    party_number="vendor_bill_number",
    payments="bill_payment_allocations",
    credits="vendor_credit_allocations",
    refunds="vendor_refund_allocations",
    credit_id="vendor_credit_id",
    credit_account="expense_account_identifier",
    credit_refund="source_refund_id",
)


def names_of(side: Side) -> AnswerNames:
    """Return the field names of a side."""
    return SALES if side is RECEIVABLE else PURCHASES


def serialize(
    trade: Trade,
    document: Document,
    settlements: Settlements,
    stored: StoredFile | None,
    links: Links,
) -> dict[str, Any]:
    """Serialize a document with its lines and settlements."""
    return {
        **summarize(trade, document),
        "line_items": [serialize_line(line) for line in document.lines],
        **serialize_settlements(trade.side, settlements),
        "write_offs": [serialize_write_off(share) for share in settlements.write_offs],
        "warnings": _warnings(trade, document, settlements),
        "document": attached_files.summary(stored, links),
    }


def _warnings(trade: Trade, document: Document, settlements: Settlements) -> Warnings:
    context, names = trade.books.context, names_of(trade.side)
    own = {
        names.issue_date: document.issue_date,
        trade.side.names.opened_at: document.opened_at,
    }
    other = {
        "delivery_date": document.delivery_date,
        "due_at": document.due_at,
        "voided_at": document.voided_at,
        **_settled_days(names, settlements),
    }
    told = [
        *responses.of_distant_days(context, **own, **other),
        *responses.of_early_due_day(context, "due_at", document.due_at, **own),
        *responses.of_unusual_rate(context, document, document.opened_on),
        *responses.of_small_rates(document),
        *responses.of_rates_without_code(document),
    ]
    return told[:MOST_TOLD]


def _settled_days(names: AnswerNames, settlements: Settlements) -> dict[str, date]:
    """Return the days and moments of the payments and write-offs of a document, by their paths."""
    paid, written_off = enumerate(settlements.payments), enumerate(settlements.write_offs)
    return {
        **{f"{names.payments}.{place}.payment_date": each.payment_date for place, each in paid},
        **{f"write_offs.{place}.write_off_at": each.write_off_at for place, each in written_off},
    }


def serialize_settlements(side: Side, settlements: Settlements) -> dict[str, Any]:
    """Serialize the payments, credits and refunds of a document."""
    names = names_of(side)
    return {
        names.payments: [
            {
                side.names.payment_id: share.payment_id,
                "payment_date": share.payment_date,
                "payment_method": share.payment_method,
                "amount_cents": share.amount_cents,
                "payment_amount_cents": share.payment_amount_cents,
                "exchange_difference_cents": side.sign * share.exchanged,
            }
            for share in settlements.payments
        ],
        names.credits: [
            {
                names.credit_id: share.credit_id,
                "applied_at": day_start(share.applied_on),
                "amount_cents": share.amount_cents,
            }
            for share in settlements.credits
        ],
        names.refunds: [
            {
                "refund_id": share.refund_id,
                "allocated_at": day_start(share.allocated_on),
                "reference_number": share.reference_number,
                "amount_cents": share.amount_cents,
            }
            for share in settlements.refunds
        ],
    }


def serialize_taxes(taxes: Iterable[Tax]) -> list[dict[str, Any]]:
    """Serialize the taxes of a line, each non-recoverable part merged into its tax."""
    shown: list[dict[str, Any]] = []
    for tax in taxes:
        if tax.mark is not None and tax.mark.part is TaxPart.BLOCKED:
            shown[-1]["amount"] += tax.amount
            shown[-1]["blocked_amount"] = tax.amount
        else:
            shown.append(
                {
                    "amount": tax.amount,
                    "tax_account": {"type": "AccountId", "id": tax.account_id},
                    "tax_code_id": None if tax.mark is None else tax.mark.code_id,
                    "blocked_amount": 0,
                }
            )
    return shown


def serialize_write_off(share: ShownWriteOff) -> dict[str, Any]:
    """Serialize a write-off."""
    return {
        "id": share.id,
        "external_id": share.external_id,
        "amount_cents": share.amount_cents,
        "tax_relief": share.tax_relief,
        "tax_relieved_cents": share.tax_relieved_cents,
        "write_off_at": share.write_off_at,
        "memo": share.memo,
        "destination_account": {"type": "AccountId", "id": share.account_id},
        "tags": [{"key": key, "value": value} for key, value in share.tags],
    }


def summarize(trade: Trade, document: Document) -> dict[str, Any]:
    """Serialize a document for a list."""
    side, names, context = trade.side, names_of(trade.side), trade.books.context
    return {
        "type": side.words.document.capitalize(),
        "id": document.id,
        "business_id": trade.books.business_id,
        "external_id": document.external_id,
        side.names.number: document.number,
        **_of_bill(names, document),
        "status": documents.status(side, document, context),
        "is_overdue": documents.is_overdue(document, context),
        "currency": document.currency,
        side.names.party_id: document.party.id,
        names.party: serialize_party(document.party),
        names.issue_date: document.issue_date,
        "delivery_date": document.delivery_date,
        side.names.opened_at: document.opened_at,
        "due_at": document.due_at,
        "paid_at": day_start(document.paid_on),
        "voided_at": document.voided_at,
        "imported_at": document.imported_at,
        "subtotal": document.subtotal,
        "additional_discount": document.additional_discount,
        "discount_total": document.discount_total,
        "amounts_include_tax": document.amounts_include_tax,
        "tax_total": document.tax_total,
        "additional_sales_taxes_total": document.tax_total,
        "withholding_total": documents.withheld(document),
        "total_amount": document.total_amount,
        "outstanding_balance": documents.outstanding(document),
        **serialize_base_of_document(document, trade.books),
        "memo": document.memo,
        "tags": document.transaction_tags,
        "transaction_tags": document.transaction_tags,
        "metadata": document.metadata,
        "opening_balance_id": document.opening_id,
        "created_at": document.created_at,
        "updated_at": document.updated_at,
    }


def _of_bill(names: AnswerNames, document: Document) -> dict[str, Any]:
    """Return the vendor's own number and terms, which only a bill has."""
    if names.party_number is None:
        return {}
    return {names.party_number: document.party_number, "terms": document.terms}


def serialize_line(line: LineItem) -> dict[str, Any]:
    """Serialize one line; JSON keeps quantity and rate, of at most 15 digits, exactly."""
    return {
        "id": line.id,
        "external_id": line.external_id,
        "description": line.description,
        "product": line.product,
        "quantity": float(line.quantity),
        "unit_price": line.unit_price,
        "unit_price_decimal": f"{line.price:f}",
        "discount_amount": line.discount_amount,
        "account_identifier": {"type": "AccountId", "id": line.account_id},
        "tax_code_id": line.tax_code_id,
        "tax_rate": serialize_rate(line.tax_rate),
        "sales_taxes": serialize_taxes(line.taxes),
        "withholding_code_id": line.withholding_code_id,
        "subtotal": line.subtotal,
        "sales_taxes_total": line.tax_total,
        "withholding_total": line.withheld_total,
        "self_assessed_total": -sum(
            tax.amount
            for tax in line.self_assessed
            if tax.mark is not None and tax.mark.part is TaxPart.OUTPUT
        ),
        "total_amount": line.total_amount,
        "memo": line.memo,
        "tags": line.tags,
        "metadata": line.metadata,
    }
