"""What is planted of purchases: vendors, what they are owed and paid, and what they give back.

Each kind that a run uses up is there many times over, and what others hang on is used up by none.
"""

from collections.abc import Iterable
from typing import Any

from tests.builders.purchases import bill_paid, received, vendor_credited
from tests.builders.trade import PURCHASES
from tests.builders.vendor_refunds import agreed_refund
from tests.fuzz.settled import LARGE, Pools, Record, plant_write_offs
from tests.partner import Business

VENDORS = 12


def plant_bought(pools: Pools, business: Business, many: int) -> None:
    """Plant vendors with their bills, payments, credits and refunds; the pools hold the ids."""
    vendors = [business.vendor(external_id=f"vendor-{n}") for n in range(VENDORS)]
    whose = [vendors[n % len(vendors)] for n in range(many)]
    pools |= {
        "vendors": ids(vendors),
        "vendor_words": [f"vendor-{n}" for n in range(VENDORS)],
        "spare_vendors": ids(business.vendor() for _ in range(many)),
        "silent_vendors": ids(business.vendor() for _ in range(many)),
    }
    plant_bills(pools, business, vendors, whose)
    plant_bill_payments(pools, business, vendors, whose)
    plant_vendor_credits(pools, business, vendors, whose)
    plant_vendor_refunds(pools, business, whose)
    plant_write_offs(pools, PURCHASES, business, vendors, many)


def plant_bills(
    pools: Pools, business: Business, vendors: list[Record], whose: list[Record]
) -> None:
    """Drafts, received ones, one for each vendor that is owed much, and one that is paid."""
    many = len(whose)
    drafts = [draft(business, vendor, 1_000 + n) for n, vendor in enumerate(whose * 3)]
    opened = [
        received(
            business, vendor, 100_000 + n, external_id=f"bill-{n}", vendor_bill_number=f"B-{n}"
        )
        for n, vendor in enumerate(whose * 2)
    ]
    owed = [received(business, vendor, 90_000_000) for vendor in vendors]
    paid = [received(business, vendor, LARGE) for vendor in vendors]
    for vendor, bill in zip(vendors, paid, strict=True):
        share = {"bill_id": bill["id"], "amount_cents": LARGE}
        bill_paid(business, vendor, LARGE, allocations=[share])
    pools |= {
        "draft_bills": ids(drafts[:many]),
        "spare_draft_bills": ids(drafts[many : 2 * many]),
        "received_bills": ids(opened[:many]),
        "open_bills": ids([*drafts[2 * many :], *opened[many:]]),
        "owed_bills": ids(owed),
        "paid_bills": ids(paid),
        "bills": ids([*drafts[:5], *opened[:5], *owed[:3], *paid[:3]]),
    }


def draft(business: Business, vendor: Record, total: int) -> Record:
    """A bill that is not received yet."""
    line = {"quantity": 1, "unit_price": total}
    return business.made("bills/", {"vendor_id": vendor["id"], "line_items": [line]})


def plant_bill_payments(
    pools: Pools, business: Business, vendors: list[Record], whose: list[Record]
) -> None:
    """Completed ones, some of them allocated, pending ones, and much that is not applied."""
    owed = pools["owed_bills"]
    payments = [
        bill_paid(
            business,
            vendor,
            10_000 + n,
            external_id=f"bill-payment-{n}",
            allocations=[{"bill_id": owed[n % len(owed)], "amount_cents": 100}] * (n % 3 == 0),
        )
        for n, vendor in enumerate(whose)
    ]
    pools |= {
        "bill_payments": ids(payments),
        "pending_bill_payments": ids(
            bill_paid(business, vendor, 700, status="pending") for vendor in whose
        ),
        "unapplied_bill_payments": ids(bill_paid(business, vendor, LARGE) for vendor in vendors),
    }


def plant_vendor_credits(
    pools: Pools, business: Business, vendors: list[Record], whose: list[Record]
) -> None:
    """Credits to apply, one for each vendor, drafts, and others to void."""
    received = [vendor_credited(business, vendor, LARGE) for vendor in vendors]
    spare = [
        vendor_credited(business, vendor, 1_000 + n, external_id=f"vendor-credit-{n}")
        for n, vendor in enumerate(whose)
    ]
    drafts = [
        business.made(
            "vendor-credits/", {"vendor_id": vendor["id"], "line_items": [{"amount": 900}]}
        )
        for vendor in whose
    ]
    pools |= {
        "received_vendor_credits": ids(received),
        "spare_vendor_credits": ids(spare),
        # A draft is received once; what is received can be applied again and again.
        "changed_vendor_credits": ids([*received, *drafts[: len(received)]]),
        "vendor_credits": ids([*received[:5], *drafts[-3:], *spare[:3]]),
    }


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


def ids(records: Iterable[dict[str, Any]]) -> list[str]:
    """The ids of records."""
    return [record["id"] for record in records]
