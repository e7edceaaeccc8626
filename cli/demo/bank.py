"""The demo's bank statement of one month: incoming and outgoing payments, and the bank's fee."""

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from accounting.trade.sides import RECEIVABLE, Side
from cli.demo.steps import Advance, NewPayment, PayingOut, Statement

Answer = dict[str, Any]

BANK = {
    "external_id": "first-quay",
    "display_name": "Business account",
    "currency": "GBP",
    "iban": "GB33BUKB20201555555555",
    "mask": "****5555",
    "institution_name": "First Quay Bank",
}
FEE_CENTS = 850


def statements(today: date) -> Iterator[Statement]:
    """Yield the statement of the last complete month, dated the first day of this month."""
    on = today.replace(day=1)
    yield Statement(on, f"statement-{on - timedelta(days=1):%Y-%m}")


def line_of(step: NewPayment | Advance, side: Side, amount: int) -> Answer:
    """Return the bank line for money that a customer sent or that a vendor received."""
    return {
        "external_id": f"line-of-{step.name}",
        "date": f"{step.on}",
        "amount_cents": amount,
        "direction": "credit" if side is RECEIVABLE else "debit",
        "description": step.name.upper().replace("-", " "),
        "counterparty_name": step.party.title(),
        "reference": step.name,
    }


def line_of_payout(step: PayingOut, amount: int) -> Answer:
    """Return the bank line for a payout of the payment processor."""
    return {
        "external_id": f"line-of-{step.name}",
        "date": f"{step.on}",
        "amount_cents": amount,
        "direction": "credit",
        "description": "CARD TAKINGS",
        "counterparty_name": "Stripe",
        "reference": step.name,
    }


def statement_of(step: Statement, bank_account_id: str, lines: Iterable[Answer]) -> Answer:
    """Return a statement of the previous month: its lines in order of date, then the bank's fee."""
    last = step.on - timedelta(days=1)
    fee = {
        "external_id": f"fee-{last:%Y-%m}",
        "date": f"{last}",
        "amount_cents": FEE_CENTS,
        "direction": "debit",
        "description": "Account fee",
        "counterparty_name": BANK["institution_name"],
    }
    month = f"{last:%Y-%m}"
    shown = [each for each in lines if each["date"].startswith(month)]
    return {
        "bank_account_id": bank_account_id,
        "transactions": [*sorted(shown, key=lambda each: str(each["date"])), fee],
    }
