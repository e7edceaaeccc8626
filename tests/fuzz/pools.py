"""Pools of ids and words that a run draws from, by name, and what both sides call theirs."""

from collections.abc import Iterable

from tests.builders.trade import PURCHASES, SALES, Record

Pools = dict[str, list[str]]
LARGE = 50_000_000
PAYMENT = {SALES: "payment", PURCHASES: "bill_payment"}
CREDIT = {SALES: "credit", PURCHASES: "vendor_credit"}
"""What pools and paths call a payment and a credit of a side."""


def in_turn(parties: list[Record], many: int) -> list[Record]:
    """So many parties, each in its turn."""
    return [parties[n % len(parties)] for n in range(many)]


def ids(records: Iterable[Record]) -> list[str]:
    """The ids of records."""
    return [record["id"] for record in records]
