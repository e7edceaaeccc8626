"""Amounts in foreign currencies: exchange rates in bodies, and base amounts in answers."""

from decimal import Decimal
from typing import Any

from accounting.absent import ABSENT, Absent
from accounting.books.record_rates import ForeignRecord, GivenWorth, base_total, in_major_units
from accounting.trade import credits, documents, refunds
from accounting.trade.allocation import Allocation, exchange_difference
from accounting.trade.credits import Credit
from accounting.trade.documents import Document
from accounting.trade.refunds import Refund
from accounting.trade.sides import Side
from persistence.books import Books

Rate = Decimal | str | Absent


def given_worth(rate: Rate, base_amount: int | Absent = ABSENT) -> GivenWorth:
    """Parse an exchange rate and a base amount that a body may give."""
    exact = rate if isinstance(rate, Absent) else Decimal(str(rate))
    return GivenWorth(exact, base_amount)


def serialize_base_of_document(document: Document, books: Books) -> dict[str, Any]:
    """Serialize the exchange rate and the base amounts of a document; a draft may have none."""
    tax = documents.base_tax(document)
    left = documents.base_outstanding(document)
    return _with_rate(document, books, document.total_amount, tax, left)


def serialize_base_of_credit(credit: Credit, books: Books) -> dict[str, Any]:
    """Serialize the exchange rate and the base amounts of a credit; a draft may have none."""
    tax, left = credits.base_tax(credit), credits.base_unapplied(credit)
    return _with_rate(credit, books, credit.total_amount, tax, left)


def _with_rate(
    record: ForeignRecord, books: Books, total: int, tax: int, left: int
) -> dict[str, Any]:
    base = base_total(record, total, books.currency)
    return {
        "exchange_rate": serialize_exchange_rate(record, books),
        "base_total_amount_cents": base,
        "base_tax_total_cents": None if base is None else tax,
        "base_outstanding_cents": None if base is None else left,
    }


def serialize_money(money: ForeignRecord, total: int, books: Books) -> dict[str, Any]:
    """Serialize the exchange rate and the base amount of money with a total."""
    return {
        "exchange_rate": serialize_exchange_rate(money, books),
        "base_amount_cents": base_total(money, total, books.currency),
    }


def serialize_base_of_refund(refund: Refund) -> dict[str, Any]:
    """Serialize the base of what a refund gives back."""
    return {"base_amount_cents": refunds.base_amount(refund)}


def serialize_exchange_rate(record: ForeignRecord, books: Books) -> float | None:
    """Return the rate of a record in major units, with 12 digits; 1 in base, None on a draft."""
    if record.currency == books.currency:
        return 1
    if record.worth is None:
        return None
    return float(in_major_units(record.worth.rate, record.currency, books.currency))


def serialize_settling(side: Side, allocation: Allocation) -> dict[str, Any]:
    """Serialize what an allocation settles of its document, and its gain or loss on exchange."""
    return {
        "document_amount_cents": int(allocation.settles),
        "exchange_difference_cents": exchange_difference(side, allocation),
    }
