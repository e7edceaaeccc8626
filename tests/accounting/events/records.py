"""Small records of every kind, and the words that the contract has for their events."""

from collections.abc import Mapping
from dataclasses import fields
from datetime import date, datetime
from decimal import Decimal
from enum import Enum
from functools import cache
from typing import Any, Literal, get_args, get_origin, get_type_hints
from uuid import UUID

from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_rules import BankRule
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.payouts import Payout
from accounting.bank.reconciliations import Reconciliation
from accounting.bank.transfers import Transfer
from accounting.books.accounts import Account
from accounting.books.manual_entries import ManualEntry
from accounting.books.revaluations import Revaluation
from accounting.opening.openings import Opening
from accounting.tax.codes import TaxCode
from accounting.tax.returns import TaxReturn
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.parties import Customer, Party, Vendor
from accounting.trade.payments import Payment
from accounting.trade.refunds import (
    InvoiceRefund,
    RefundPayment,
    VendorRefund,
    VendorRefundPayment,
)
from accounting.trade.write_offs import WriteOff
from persistence.files.stored_files import StoredFile
from persistence.partners.registry import RegisteredBusiness
from tests.accounting.samples import ACME, BORN
from tests.contract.document import document, follow, named

KINDS: Mapping[str, type] = {
    "business": RegisteredBusiness,
    "account": Account,
    "tax_code": TaxCode,
    "customer": Customer,
    "vendor": Vendor,
    "invoice": Document,
    "bill": Document,
    "invoice_payment": Payment,
    "bill_payment": Payment,
    "customer_credit": Credit,
    "vendor_credit": Credit,
    "write_off": WriteOff,
    "bill_write_off": WriteOff,
    "invoice_refund": InvoiceRefund,
    "invoice_refund_payment": RefundPayment,
    "vendor_refund": VendorRefund,
    "vendor_refund_payment": VendorRefundPayment,
    "payout": Payout,
    "bank_account": BankAccount,
    "bank_rule": BankRule,
    "bank_transaction": BankTransaction,
    "bank_transfer": Transfer,
    "bank_reconciliation": Reconciliation,
    "opening_balance": Opening,
    "revaluation": Revaluation,
    "tax_return": TaxReturn,
    "journal_entry": ManualEntry,
    "document": StoredFile,
}
"""The class of each kind of record that has events."""

_EMPTY: Mapping[Any, Any] = {
    **{UUID: UUID(int=1), int: 0, str: "", bool: False, Decimal: Decimal(0), Party: ACME},
    **{datetime: BORN, date: BORN.date(), tuple: (), Any: None},
}


def made(object_type: str, **values: Any) -> Any:
    """Return a record with these values; all others are empty."""
    kind: Any = KINDS[object_type]
    hints = get_type_hints(kind)
    required = (each.name for each in fields(kind) if each.default is each.default_factory)
    empty = {name: _empty(hints[name]) for name in required if name not in values}
    return kind(**empty, **values)


def _empty(hint: Any) -> Any:
    if type(None) in get_args(hint):
        return None
    if get_origin(hint) is Literal:
        return get_args(hint)[0]
    kind = get_origin(hint) or hint
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    return _EMPTY.get(kind, {})


@cache
def words_of_contract() -> frozenset[str]:
    """Return the types of events in the contract."""
    return frozenset(document()["components"]["schemas"]["EventType"]["enum"])


@cache
def answer_of(object_type: str) -> Mapping[str, Any]:
    """Return the fields of the answer of a kind of record; none where it has no answer."""
    if object_type == "bank_transfer":
        return {}
    if object_type in ("write_off", "bill_write_off"):
        return _properties(document()["components"]["schemas"]["WriteOff"])
    if object_type == "vendor_refund_payment":
        return _properties(document()["components"]["schemas"]["VendorRefundPayment"])
    content = named(f"get_{object_type}").node["responses"]["200"]["content"]
    return _properties(content["application/json"]["schema"])


def statuses_of(object_type: str) -> tuple[str, ...]:
    """Return the statuses of a kind of record; none where its answer has none."""
    return tuple(follow(answer_of(object_type).get("status", {})).get("enum", ()))


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    found = follow(dict(schema))
    properties = dict(found.get("properties", {}))
    for each in found.get("allOf", ()):
        properties |= _properties(each)
    return properties
