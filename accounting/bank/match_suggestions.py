"""Match suggestions: open items for a bank transaction, ranked by amount, reference, name and day.

Each reason scores by itself. The best match is a transaction of 98 for a payment of 100 less a fee
of 2, which names the payment, with the same party and day.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from difflib import SequenceMatcher
from itertools import islice
from uuid import UUID

from accounting.bank.bank_transactions import BankTransaction, remaining

MOST = 20
MOST_COMBINATIONS, MOST_PARTS = 5, 5
"""The largest number of combinations, and of items in one."""
# The limits of a search: the items of one party, the steps, and the sets that are compared.
MOST_ADDED, MOST_TRIES, MOST_SETS = 30, 5_000, 200
AMOUNT, REFERENCE, NAME, DAY = 50, 30, 15, 5
"""The highest score of each reason, 100 in all."""
NEAR = 90  # Days; from here on the day scores nothing.
LIKE = 0.75  # From this similarity on, two names count as the same.
LEAST = 15  # The lowest score of a suggestion: the day alone is not enough.

_APART = re.compile(r"[\W_]+")
# Legal forms do not identify a company.
_FORMS = frozenset(
    {"ltd", "limited", "llp", "plc", "gmbh", "ug", "ag", "bv", "nv", "sl", "sa", "srl", "inc", "co"}
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenItem:
    """Money that a transaction could show: the amount not linked yet, its party, its references.

    `references` are all its numbers and external ids, and those of the documents that it settles.
    With `back` the transaction could show the return of the money.
    """

    target_type: str
    target_id: UUID
    amount: int
    on: date | None
    party_name: str | None
    references: tuple[str, ...] = ()
    party_id: UUID | None = None
    back: bool = False


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A possible match: the target, its amount, a score up to 100, and the reasons."""

    target_type: str
    target_id: UUID
    amount: int
    score: int
    reasons: tuple[str, ...]
    back: bool = False


@dataclass(frozen=True, slots=True)
class Combination:
    """Several open items of one party, whose amounts add up to that of a transaction."""

    items: tuple[OpenItem, ...]
    score: int
    reasons: tuple[str, ...]


def rank(transaction: BankTransaction, open_items: Iterable[OpenItem]) -> list[Suggestion]:
    """Return the possible matches of a transaction, the best first, at most `MOST`."""
    found = [_weigh(transaction, each) for each in open_items]
    likely = [each for each in found if each.score >= LEAST and each.reasons]
    return sorted(likely, key=lambda each: (-each.score, each.target_id))[:MOST]


def combine(transaction: BankTransaction, open_items: Iterable[OpenItem]) -> list[Combination]:
    """Return sets of 2 to 5 open items of one party that add up to a transaction, the best first.

    Payments of 40 and 60 of one customer are a combination for a transaction of 100.
    """
    left = remaining(transaction)
    by_party: dict[UUID, list[OpenItem]] = defaultdict(list)
    for item in open_items:
        if item.party_id is not None and not item.back and 0 < item.amount < left:
            by_party[item.party_id].append(item)
    found: list[Combination] = []
    for of_party in by_party.values():
        largest = sorted(of_party, key=lambda each: -each.amount)[:MOST_ADDED]
        weights = {each.target_id: _weights(transaction, each) for each in largest}
        sets = islice(_adding_up(largest, left), MOST_SETS)
        found += [_together(items, [weights[each.target_id] for each in items]) for items in sets]
    found.sort(key=lambda each: (-each.score, [item.target_id for item in each.items]))
    return found[:MOST_COMBINATIONS]


def _adding_up(items: Sequence[OpenItem], total: int) -> Iterator[tuple[OpenItem, ...]]:
    """Yield sets of up to `MOST_PARTS` items with a total; `items` are the largest first.

    The search ends after `MOST_TRIES` steps: many equal amounts have many sets.
    """
    tries = 0
    waiting: list[tuple[int, int, tuple[OpenItem, ...]]] = [(0, total, ())]
    while waiting and tries < MOST_TRIES:
        tries += 1
        start, left, chosen = waiting.pop()
        for place in range(start, len(items)):
            rest = left - items[place].amount
            together = (*chosen, items[place])
            if rest == 0:
                yield together
            room = MOST_PARTS - len(together)
            if 0 < rest <= room * items[place].amount:
                waiting.append((place + 1, rest, together))


def _together(items: tuple[OpenItem, ...], each: Sequence[dict[str, int]]) -> Combination:
    shares = {name: sum(weights[name] for weights in each) // len(each) for name in each[0]}
    weights = {**shares, "amount": AMOUNT}
    return Combination(items, sum(weights.values()), _reasons(weights))


def _weigh(transaction: BankTransaction, item: OpenItem) -> Suggestion:
    left = remaining(transaction)
    weights = _weights(transaction, item)
    amount = min(left, item.amount)
    score = sum(weights.values())
    reasons = _reasons(weights)
    return Suggestion(item.target_type, item.target_id, amount, score, reasons, item.back)


def _weights(transaction: BankTransaction, item: OpenItem) -> dict[str, int]:
    """Return the score of each reason for an item."""
    return {
        "amount": AMOUNT if item.amount == remaining(transaction) else 0,
        "reference": REFERENCE if _is_named(transaction, item) else 0,
        "name": round(NAME * _likeness(transaction, item)),
        "date": round(DAY * _nearness(transaction.booked_on, item.on)),
    }


def _reasons(weights: dict[str, int]) -> tuple[str, ...]:
    return tuple(reason for reason, weight in weights.items() if weight)


def _is_named(transaction: BankTransaction, item: OpenItem) -> bool:
    """Return whether a transaction names one of the references, as "PAYMENT INV 000001" does.

    A reference of fewer than 4 letters and digits must be the whole reference of the transaction.
    """
    said = _words(f"{transaction.reference or ''} {transaction.description or ''}")
    whole = _words(transaction.reference or "")
    for reference in item.references:
        name = _words(reference)
        if name and (name == whole or (len("".join(name)) >= 4 and _within(name, said))):
            return True
    return False


def _within(name: list[str], said: list[str]) -> bool:
    """Return whether words occur in sequence among others, or joined as one of them."""
    return f" {' '.join(name)} " in f" {' '.join(said)} " or "".join(name) in said


def _likeness(transaction: BankTransaction, item: OpenItem) -> float:
    """Return the similarity (0 to 1) of the party's name and the counterparty on the line."""
    name = _told(item.party_name)
    if not name:
        return 0.0
    counterparty, description = _told(transaction.counterparty_name), _told(transaction.description)
    if _within(name, counterparty) or _within(name, description):
        return 1.0
    ratio = SequenceMatcher(None, " ".join(name), " ".join(counterparty)).ratio()
    return ratio if ratio >= LIKE else 0.0


def _nearness(booked_on: date, on: date | None) -> float:
    """Return the nearness of two days: 1 for the same day, 0 from 90 days on."""
    if on is None:
        return 0.0
    return max(0.0, 1 - abs((booked_on - on).days) / NEAR)


def _told(text: str | None) -> list[str]:
    return [word for word in _words(text or "") if word not in _FORMS]


def _words(text: str) -> list[str]:
    return [word for word in _APART.split(text.casefold()) if word]
