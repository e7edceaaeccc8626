"""Common data of the journeys; all dates are in the past of any server's clock."""

from typing import Any, Final

DAY: Final = "2025-03-14"
MOMENT: Final = f"{DAY}T09:00:00Z"
LATER: Final = "2025-03-20"
LATER_MOMENT: Final = f"{LATER}T09:00:00Z"


def invoice(customer_id: str, cents: int, **facts: Any) -> dict[str, Any]:
    """Return the body of an invoice that is sent, with one line without tax."""
    line = {"description": "Work", "quantity": 1, "unit_price": cents}
    return {"customer_id": customer_id, "sent_at": MOMENT, "line_items": [line], **facts}


def payment(customer_id: str, cents: int, **facts: Any) -> dict[str, Any]:
    """Return the body of a bank transfer that is not allocated."""
    return {
        "customer_id": customer_id,
        "total_amount_cents": cents,
        "currency": "GBP",
        "payment_date": LATER,
        "payment_method": "bank_transfer",
        **facts,
    }
