"""What a line of a bank statement may be: open money, ranked by amount, reference, name and day.

Every reason counts for itself; a line of 98 for a payment of 100 less a fee of 2 that names it, by
the same party and on the same day, is the best there is.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from uuid import UUID

from accounting.bank.bank_transactions import BankTransaction, remaining

MOST = 20
AMOUNT, REFERENCE, NAME, DAY = 50, 30, 15, 5
"""What each reason counts at most, of 100 in all."""
NEAR = 90  # Days; further off the day counts nothing.
LIKE = 0.75  # From here on two names are one, written differently.
LEAST = 15  # With less a candidate is no suggestion: a day alone says nothing.

_APART = re.compile(r"[\W_]+")
# They tell what a company is, not which one.
_FORMS = frozenset(
    {"ltd", "limited", "llp", "plc", "gmbh", "ug", "ag", "bv", "nv", "sl", "sa", "srl", "inc", "co"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """Money that a line could be: how much of it no line shows yet, whose it is, and its names.

    `references` are all that it is known by: numbers, external ids, those of what it settles.
    """

    target_type: str
    target_id: UUID
    amount: int
    on: date | None
    party_name: str | None
    references: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a line may be, how much of it, a score up to 100, and why."""

    target_type: str
    target_id: UUID
    amount: int
    score: int
    reasons: tuple[str, ...]


def rank(transaction: BankTransaction, open_items: Iterable[OpenItem]) -> list[Suggestion]:
    """Rank what a line may be, the likeliest first, at most `MOST`."""
    found = [_weigh(transaction, each) for each in open_items]
    likely = [each for each in found if each.score >= LEAST and each.reasons]
    return sorted(likely, key=lambda each: (-each.score, each.target_id))[:MOST]


def _weigh(transaction: BankTransaction, item: OpenItem) -> Suggestion:
    left = remaining(transaction)
    weights = {
        "amount": AMOUNT if item.amount == left else 0,
        "reference": REFERENCE if _is_named(transaction, item) else 0,
        "name": round(NAME * _likeness(transaction, item)),
        "date": round(DAY * _nearness(transaction.booked_on, item.on)),
    }
    reasons = tuple(reason for reason, weight in weights.items() if weight)
    amount = min(left, item.amount)
    score = sum(weights.values())
    return Suggestion(item.target_type, item.target_id, amount, score, reasons)


def _is_named(transaction: BankTransaction, item: OpenItem) -> bool:
    """Tell whether the line says one of the names: of INV-000001, "PAYMENT INV 000001 THANKS" does.

    Short names say too little: they have to be the whole reference.
    """
    said = _words(f"{transaction.reference or ''} {transaction.description or ''}")
    whole = _words(transaction.reference or "")
    for reference in item.references:
        name = _words(reference)
        if name and (name == whole or (len("".join(name)) >= 4 and _within(name, said))):
            return True
    return False


def _within(name: list[str], said: list[str]) -> bool:
    """Tell whether words stand among others one after another, however they were parted."""
    return f" {' '.join(name)} " in f" {' '.join(said)} " or "".join(name) in said


def _likeness(transaction: BankTransaction, item: OpenItem) -> float:
    """Say how like the party's name is what the line says of whom it is: from 0 to 1."""
    name = _told(item.party_name)
    if not name:
        return 0.0
    counterparty, description = _told(transaction.counterparty_name), _told(transaction.description)
    if _within(name, counterparty) or _within(name, description):
        return 1.0
    ratio = SequenceMatcher(None, " ".join(name), " ".join(counterparty)).ratio()
    return ratio if ratio >= LIKE else 0.0


def _nearness(booked_on: date, on: date | None) -> float:
    """Say how near two days are: 1 on the same one, 0 from 90 days on."""
    if on is None:
        return 0.0
    return max(0.0, 1 - abs((booked_on - on).days) / NEAR)


def _told(text: str | None) -> list[str]:
    return [word for word in _words(text or "") if word not in _FORMS]


def _words(text: str) -> list[str]:
    return [word for word in _APART.split(text.casefold()) if word]
