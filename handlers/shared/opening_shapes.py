"""Serialization of opening balances."""

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.chart import Roles
from accounting.opening.openings import (
    OpenedBooks,
    OpenedWith,
    Opening,
    Tie,
    status,
    ties,
    totals,
)
from accounting.trade.credits import CreditLine
from accounting.trade.documents import LineItem
from accounting.trade.sides import PAYABLE, RECEIVABLE, Side
from handlers.shared.shapes import shape_rate
from persistence.books import Books

Line = TypeVar("Line", LineItem, CreditLine)


def summarize(books: Books, opening: Opening, roles: Roles) -> dict[str, Any]:
    """Serialize an opening balance for a list."""
    total = totals(opening, roles)
    return {
        "id": opening.id,
        "business_id": books.business_id,
        "date": opening.opened_on,
        "status": status(opening),
        "currency": opening.currency,
        "memo": opening.memo,
        "total_debit": total.debits,
        "total_credit": total.credits,
        "difference_cents": total.difference,
        "opening_balance_equity_cents": total.equity,
        **_documented(opening, RECEIVABLE, "receivables_cents", "customer"),
        **_documented(opening, PAYABLE, "payables_cents", "vendor"),
        "reversed_at": opening.reversed_at,
        "created_at": opening.created_at,
        "updated_at": opening.updated_at,
    }


def shape(
    books: Books, opened: OpenedBooks, accounts: Mapping[UUID, Account], roles: Roles
) -> dict[str, Any]:
    """Serialize an opening balance with its account balances and all its records."""
    opening, sales, purchases = opened.opening, opened.sales, opened.purchases
    found = ties(opening, accounts, roles)
    return {
        **summarize(books, opening, roles),
        "ties": not any(tie.difference for tie in found),
        "accounts": [
            _shape_account(accounts[id_], amount)
            for id_, amount in sorted(opening.stated.items(), key=lambda at: accounts[at[0]].code)
        ],
        "control_accounts": [_shape_tie(tie) for tie in found],
        "invoices": list(_shape_documents(RECEIVABLE, sales)),
        "bills": list(_shape_documents(PAYABLE, purchases)),
        "customer_credits": list(_shape_credits(RECEIVABLE, sales)),
        "vendor_credits": list(_shape_credits(PAYABLE, purchases)),
        "prepayments": [
            *_shape_payments(RECEIVABLE, sales),
            *_shape_payments(PAYABLE, purchases),
        ],
    }


def _documented(opening: Opening, side: Side, owed: str, party: str) -> dict[str, int]:
    """Return the totals of a side's documents, each amount positive."""
    held = opening.documented
    return {
        owed: abs(held[side.control]),
        f"{party}_credits_cents": abs(held[side.credits]),
        f"{party}_prepayments_cents": abs(held[side.prepayments]),
    }


def _shape_account(account: Account, amount: int) -> dict[str, Any]:
    return {
        "account": _named(account),
        "debit_amount": max(amount, 0),
        "credit_amount": max(-amount, 0),
    }


def _shape_tie(tie: Tie) -> dict[str, Any]:
    return {
        "account": _named(tie.account),
        "stated_cents": tie.stated,
        "documented_cents": tie.documented,
        "difference_cents": tie.difference,
    }


def _named(account: Account) -> dict[str, Any]:
    return {"id": account.id, "code": account.code, "name": account.name}


def _shape_documents(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.documents:
        yield {
            "id": each.id,
            side.names.number: each.number,
            "external_id": each.external_id,
            side.names.party_id: each.party.id,
            "outstanding_amount_cents": each.total_amount,
            "tax": [_shape_tax(line, line.subtotal, line.tax_total) for line in _coded(each.lines)],
        }


def _shape_credits(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.credits:
        yield {
            "id": each.id,
            side.names.credit_number: each.number,
            "external_id": each.external_id,
            side.names.party_id: each.party.id,
            "unapplied_amount_cents": each.total_amount,
            "tax": [_shape_tax(line, line.amount, line.tax_amount) for line in _coded(each.lines)],
        }


def _coded(lines: Iterable[Line]) -> Iterable[Line]:
    """Return the lines with a tax code; a record without tax has one line without a code."""
    return (line for line in lines if line.tax_code_id is not None)


def _shape_tax(line: LineItem | CreditLine, net: int, tax: int) -> dict[str, Any]:
    return {
        "tax_code_id": line.tax_code_id,
        "tax_rate": shape_rate(line.tax_rate),
        "net_cents": net,
        "tax_cents": tax,
    }


def _shape_payments(side: Side, opened: OpenedWith) -> Iterable[dict[str, Any]]:
    for each in opened.payments:
        yield {
            "id": each.id,
            "external_id": each.external_id,
            "customer_id": None,
            "vendor_id": None,
            side.names.party_id: each.party.id,
            "unapplied_amount_cents": each.total,
        }
