"""What is planted of purchases: vendors, what they are owed and paid, and what they give back.

Each kind that a run uses up is there many times over, and what others hang on is used up by none.
"""

from tests.builders.purchases import bill_paid, part, received
from tests.builders.trade import PURCHASES
from tests.builders.vendor_refunds import agreed_refund
from tests.fuzz.settled import (
    LARGE,
    Pools,
    Record,
    ids,
    in_turn,
    plant_credits,
    plant_documents,
    plant_payments,
    plant_write_offs,
)
from tests.partner import Business

VENDORS = 12


def plant_bought(pools: Pools, business: Business, many: int) -> None:
    """Plant vendors with their bills, payments, credits and refunds; the pools hold the ids."""
    vendors = [business.vendor(external_id=f"vendor-{n}") for n in range(VENDORS)]
    pools |= {
        "vendors": ids(vendors),
        "vendor_words": [f"vendor-{n}" for n in range(VENDORS)],
        "spare_vendors": ids(business.vendor() for _ in range(many)),
        "silent_vendors": ids(business.vendor() for _ in range(many)),
    }
    plant_bills(pools, business, vendors, many)
    plant_payments(pools, PURCHASES, business, vendors, many)
    plant_credits(pools, PURCHASES, business, vendors, many)
    plant_vendor_refunds(pools, business, in_turn(vendors, many))
    plant_write_offs(pools, PURCHASES, business, vendors, many)


def plant_bills(pools: Pools, business: Business, vendors: list[Record], many: int) -> None:
    """Bills, and for each vendor a paid bill and money that is not applied."""
    plant_documents(pools, PURCHASES, business, vendors, many)
    paid = [received(business, vendor, LARGE) for vendor in vendors]
    for vendor, bill in zip(vendors, paid, strict=True):
        bill_paid(business, vendor, LARGE, part(bill, LARGE))
    pools["paid_bills"] = ids(paid)
    pools["bills"] += ids(paid[:3])
    unapplied = (bill_paid(business, vendor, LARGE) for vendor in vendors)
    pools["unapplied_bill_payments"] = ids(unapplied)


def plant_vendor_refunds(pools: Pools, business: Business, whose: list[Record]) -> None:
    """Refunds whose payments come and bounce, and others to cancel."""
    agreed = [
        agreed_refund(business, vendor, 1_000_000, external_id=f"vendor-refund-{n}")
        for n, vendor in enumerate(whose)
    ]
    spare = [agreed_refund(business, vendor, 1_000 + n) for n, vendor in enumerate(whose)]
    pools |= {
        "vendor_refunds": ids([*agreed[:6], *spare[:4]]),
        "vendor_refund_payments": [payment_of(each) for each in agreed],
        "spare_vendor_refund_payments": [payment_of(each) for each in spare],
    }


def payment_of(refund: Record) -> str:
    """The id of the one payment of a refund."""
    return str(refund["vendor_refund_payments"][0]["id"])
