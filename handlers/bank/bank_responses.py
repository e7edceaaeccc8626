"""Serialization of bank accounts and bank transactions."""

from collections.abc import Iterable
from typing import Any

from access.links import Links
from accounting.bank import bank_transactions
from accounting.bank.bank_accounts import SHOWN
from accounting.bank.bank_links import Link
from accounting.bank.bank_transactions import BankTransaction, CategoryPart
from handlers.shared import attached_files
from handlers.shared.foreign_amounts import serialize_exchange_rate
from handlers.shared.responses import movement, serialize_account
from persistence.bank.bank_accounts import BankAccountRecord
from persistence.bank.bank_transactions import BankTransactionRecord
from persistence.books import Books


def serialize_bank_account(books: Books, record: BankAccountRecord) -> dict[str, Any]:
    """Serialize a bank account with its ledger account."""
    bank_account = record.bank_account
    return {
        "id": bank_account.id,
        "business_id": books.business_id,
        "external_id": bank_account.external_id,
        "display_name": bank_account.display_name,
        "currency": bank_account.currency,
        "account": serialize_account(record.ledger),
        **{name: getattr(bank_account, name) for name in SHOWN},
        "is_active": record.ledger.archived_at is None,
        "created_at": bank_account.created_at,
        "updated_at": bank_account.updated_at,
    }


def serialize_bank_transaction(
    books: Books, record: BankTransactionRecord, made: Iterable[Link], links: Links
) -> dict[str, Any]:
    """Serialize a bank transaction with its live links, its category and its document."""
    line, sign = record.transaction, bank_transactions.sign(record.transaction)
    return {
        "id": line.id,
        "business_id": books.business_id,
        "bank_account_id": line.bank_account_id,
        "bank_account_name": record.bank_account_name,
        "external_id": line.external_id,
        "date": line.booked_on,
        "amount_cents": line.amount,
        "direction": line.direction,
        "currency": line.currency,
        "description": line.description,
        "counterparty_name": line.counterparty_name,
        "reference": line.reference,
        "source_format": line.source_format,
        "linked_amount_cents": line.linked,
        "categorized_amount_cents": line.categorized,
        **serialize_category_in_base(books, line),
        "rounding_difference_cents": line.rounding,
        "remaining_amount_cents": bank_transactions.remaining(line),
        "is_reconciled": bank_transactions.is_reconciled(line),
        "after_closing": line.after_closing,
        "links": [serialize_link(each, sign) for each in made],
        "category": serialize_category(record),
        "splits": [serialize_part(record, each) for each in line.parts],
        "categorized_by_rule_id": line.rule_id,
        "document": attached_files.summary(record.document, links),
        "imported_at": line.imported_at,
        "created_at": line.created_at,
        "updated_at": line.updated_at,
    }


def serialize_category_in_base(books: Books, line: BankTransaction) -> dict[str, Any]:
    """Serialize the exchange rate and the base of what is categorized."""
    return {
        "exchange_rate": serialize_exchange_rate(line, books),
        "base_categorized_cents": bank_transactions.base_categorized(line),
    }


def serialize_link(link: Link, sign: int) -> dict[str, Any]:
    """Serialize a link with its target; the `sign` of its bank transaction is 1 for money in."""
    return {
        "reconciliation_link_id": link.id,
        "target_type": link.target_type,
        "target_id": link.target_id,
        "of": movement(back=link.back),
        "amount_cents": link.amount,
        "target_amount_cents": int(link.of_target),
        "exchange_difference_cents": sign * link.difference,
        "rounding_difference_cents": link.rounding,
        "other_bank_transaction_id": link.other_id,
        "memo": link.memo,
        "reconciled_at": link.linked_at,
    }


def serialize_category(record: BankTransactionRecord) -> dict[str, Any] | None:
    """Serialize the category of a bank transaction; None if it has none, or several parts."""
    parts = record.transaction.parts
    if len(parts) != 1:
        return None
    return {
        "account": serialize_account(record.accounts[parts[0].account_id]),
        "amount_cents": parts[0].amount,
        "memo": parts[0].memo,
    }


def serialize_part(record: BankTransactionRecord, part: CategoryPart) -> dict[str, Any]:
    """Serialize one part of a categorized bank transaction."""
    return {
        "account": serialize_account(record.accounts[part.account_id]),
        "amount_cents": part.amount,
        "tax_code_id": None if part.tax is None else part.tax.code_id,
        "tax_cents": 0 if part.tax is None else part.tax.total,
        "memo": part.memo,
        "customer_id": part.customer_id,
        "vendor_id": part.vendor_id,
        "tags": part.tags,
    }
