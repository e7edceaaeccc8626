"""Pools of IDs and words that a run draws from, by name, and the names of each side in them."""

from collections.abc import Iterable

from tests.builders.trade import PURCHASES, SALES, Record

Pools = dict[str, list[str]]
LARGE = 50_000_000
PAYMENT = {SALES: "payment", PURCHASES: "bill_payment"}
CREDIT = {SALES: "credit", PURCHASES: "vendor_credit"}
"""The names of a payment and a credit of a side, in pools and paths."""


def in_turn(parties: list[Record], many: int) -> list[Record]:
    """Return so many parties, repeated in their order."""
    return [parties[n % len(parties)] for n in range(many)]


def ids(records: Iterable[Record]) -> list[str]:
    return [record["id"] for record in records]
