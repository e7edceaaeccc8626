"""Requests that revalue an invoice in dollars."""

from tests.builders.trade import SALES, Record
from tests.partner import Business

REVALUATIONS = "revaluations/"


def in_dollars(shop: Business, party: Record, total: int = 10_000) -> Record:
    """Send an invoice in dollars at 0.90."""
    return SALES.open(shop, party, total, currency="USD", exchange_rate=0.9)


def revalued(shop: Business, party: Record, day: str, rate: float = 0.97) -> Record:
    """Send an invoice in dollars, and create a revaluation of all dollars."""
    in_dollars(shop, party)
    return shop.made(REVALUATIONS, {"date": day, "rates": {"USD": rate}})
