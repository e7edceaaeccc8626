"""Lines of a bank statement, the payouts they match, and their links with money."""

from typing import Any
from uuid import UUID

from accounting.bank import bank_matches, bank_postings
from accounting.bank.bank_accounts import BankAccount
from accounting.bank.bank_matches import MatchResult, MatchTarget
from accounting.bank.bank_postings import Banked
from accounting.bank.bank_transactions import BankTransaction
from accounting.bank.commands import LinkTransaction
from accounting.bank.payouts import Payout
from tests.accounting.samples import (
    BORN,
    ROLES,
    STORED,
    account_id,
    amounts,
    day,
    identifiers,
    written,
)
from tests.accounting.trade.business import Trade

SAVINGS = account_id("1110")
new_id = identifiers(20_000)


def bank_account(**facts: Any) -> BankAccount:
    """Create the current account of a business in pounds."""
    known = {"id": UUID(int=1), "display_name": "Current", "currency": "GBP", **STORED}
    return BankAccount(**{**known, "account_id": account_id("1100"), **facts})


def line(amount: int, on: str = "12", **facts: Any) -> BankTransaction:
    """Create a line of the savings account; a positive amount is money in."""
    known = {
        "id": new_id(),
        "bank_account_id": UUID(int=1),
        "account_id": SAVINGS,
        "external_id": "line",
        "booked_on": day(on),
        "amount": abs(amount),
        "direction": "credit" if amount > 0 else "debit",
        "currency": "GBP",
        "imported_at": BORN,
        "source_format": "json",
    }
    return BankTransaction(**{**STORED, **known, **facts})


def payout(paid_out: int, **facts: Any) -> Payout:
    known = {
        **{"id": new_id(), "external_id": None, "processor": "stripe", "paid_out": paid_out},
        **{"fee": 0, "additional_refunds": 0, "currency": "GBP"},
        **{"status": "pending", "completed_at": None},
    }
    return Payout(**{**STORED, **known, **facts})


def target(trade: Trade, payment: UUID) -> MatchTarget:
    return MatchTarget(trade.side, trade.payments[payment], trade.documents)


def match(
    trade: Trade,
    transaction: BankTransaction,
    found: MatchTarget,
    amount: int | None = None,
    *,
    back: bool = False,
) -> MatchResult:
    named = {"target_type": "any", "target_id": found.target.id}
    command = LinkTransaction(**named, amount=amount, back=back)
    return bank_matches.match(found, transaction, command, ROLES, trade.context())


def matched(
    trade: Trade,
    payment: UUID,
    transaction: BankTransaction,
    amount: int | None = None,
    *,
    back: bool = False,
) -> MatchResult:
    """Match a line with a payment, or with its return, and keep the changed payment."""
    done = match(trade, transaction, target(trade, payment), amount, back=back)
    trade.documents.update((each.id, each) for each in done.moved)
    trade.keep(done.target)
    return done


def posted_by(subject: Banked) -> list[tuple[str, dict[str, int]]]:
    """Return the day and the amounts of each entry of a subject that belongs to no side."""
    entries = bank_postings.entries_for(subject, ROLES, None)
    return [(written(entry.entry_date), amounts(entry)) for entry in entries]
