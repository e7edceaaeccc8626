"""Purchases: a bill that is accepted once and paid once."""

from functools import partial

from tools.verify.journeys.facts import DAY, LATER, MOMENT
from tools.verify.story import Story, same


def buy(story: Story) -> None:
    """Create a vendor with a bill, and pay the bill."""
    check, books = partial(story.check, "purchases"), story.books
    with check("a vendor is made"):
        vendor = books.post("vendors/", {"company_name": "Raw Coffee Traders"})
    line = {"description": "Raw beans", "quantity": 3, "unit_price": 3_000, "tax_rate": 20}
    order = {
        "vendor_id": vendor["id"],
        "vendor_bill_number": "RCT-7",
        "bill_date": DAY,
        "received_at": MOMENT,
        "line_items": [line],
    }
    with check("a bill is received, and its total is exact"):
        bill = books.post("bills/", order)
        same("total_amount", bill["total_amount"], 10_800)
        same("outstanding_balance", bill["outstanding_balance"], 10_800)
    with check("the same number of the vendor is not taken twice"):
        refusal = books.refused("POST", "bills/", 409, "duplicate_bill_number", json=order)
        same("detail.id", refusal["detail"].get("id"), bill["id"])
    with check("a payment settles the bill"):
        part = {"bill_id": bill["id"], "amount_cents": 10_800}
        money = {"amount_cents": 10_800, "currency": "GBP", "payment_date": LATER}
        books.post(
            "bills/payments/",
            {
                "vendor_id": vendor["id"],
                "payment_method": "bank_transfer",
                "status": "completed",
                "allocations": [part],
                **money,
            },
        )
        paid = books.get(f"bills/{bill['id']}/")
        same("status", paid["status"], "paid")
        same("outstanding_balance", paid["outstanding_balance"], 0)
