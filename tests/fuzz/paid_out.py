"""What is planted of processors: money that they hold, and what they paid out of it."""

from typing import Any

from tests.builders.payouts import paid_out
from tests.builders.sales import paid, refunded
from tests.partner import Business

Record = dict[str, Any]
Pools = dict[str, list[str]]
CARD = {"payment_method": "credit_card", "payment_processor": "stripe"}
AT = "2026-07-20T10:00:00Z"


def plant_paid_out(pools: Pools, business: Business, customers: list[Record], many: int) -> None:
    """Plant payments and refund payments that wait at a processor, and payouts of others.

    The pools hold the ids, and the external ids of payouts that are known.
    """
    whose = [customers[n % len(customers)] for n in range(many)]
    waiting = [paid(business, each, 500 + n, **CARD) for n, each in enumerate(whose * 3)]
    means = {"method": "CREDIT_CARD", "completed_at": AT, "processor": "stripe"}
    back = [
        refunded(business, paid(business, each, 100), amount_cents=100, **means) for each in whose
    ]
    known = [
        paid_out(business, 490, external_id=f"payout-{n}", payment_ids=[item(business, each)])
        for n, each in enumerate(whose[:10])
    ]
    spare = [paid_out(business, 490, payment_ids=[item(business, each)]) for each in whose]
    pools |= {
        "card_payments": [each["id"] for each in waiting],
        "card_refund_payments": [each["refund_payments"][0]["id"] for each in back],
        "payouts": [each["id"] for each in known],
        "payout_words": [each["external_id"] for each in known],
        "spare_payouts": [each["id"] for each in spare],
    }


def item(business: Business, customer: Record) -> str:
    """A payment to be paid out at once."""
    return str(paid(business, customer, 500, processing_fee_cents=10, **CARD)["id"])
