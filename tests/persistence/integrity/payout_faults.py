"""A business with payouts of a processor: bounced payments, refunds and failed payouts.

The faults to plant in it, each with the checks that find it.
"""

from collections.abc import Mapping

from tests.builders.payouts import paid_out
from tests.builders.sales import paid, refunded
from tests.builders.trade import SALES, Record
from tests.partner import Business
from tests.persistence.integrity.bank_faults import did
from tests.persistence.integrity.fault import Fault, called, change, planted

LATER = "2025-03-20T09:00:00Z"
CARD = {"payment_method": "credit_card", "payment_processor": "adyen"}


def cleared(shop: Business, baker: Record) -> None:
    """Create payouts: one with a fee and a variance, one failed, one pending, one deleted."""
    first, second, third, fourth = (
        paid(shop, baker, amount, processing_fee_cents=fee, external_id=f"card {n}", **CARD)
        for n, (amount, fee) in enumerate([(10_000, 30), (5_000, 15), (700, 2), (400, 0)], 1)
    )
    back = refunded(
        shop,
        paid(shop, baker, 600, external_id="by transfer"),
        amount_cents=600,
        completed_at=LATER,
        method="CREDIT_CARD",
        processor="adyen",
        refund_processing_fee_cents=3,
    )["refund_payments"][0]
    items = {"payment_ids": [first["id"], second["id"]], "refund_payment_ids": [back["id"]]}
    by = {"processor": "adyen", "completed_at": LATER}
    others = {"other_items": disputed(first)}
    paid_out(shop, 14_000, external_id="weekly", fee_cents=90, **items, **others, **by)
    SALES.change(shop, second, status="failed")
    failed = {"payment_ids": [third["id"]], "external_id": "failed", **by}
    paid_out(shop, 698, **failed)
    body = {"paid_out_amount_cents": 698, "status": "failed", **failed}
    did(shop, "POST", "payouts/", body)
    paid_out(shop, 698, payment_ids=[third["id"]], external_id="pending", status="pending", **by)
    mistaken = paid_out(shop, 400, payment_ids=[fourth["id"]], external_id="mistaken", **by)
    did(shop, "DELETE", f"payouts/{mistaken['id']}/")


def disputed(payment: Record) -> list[Record]:
    """Return a processor's other items, one of each type."""
    return [
        {"type": "chargeback", "amount_cents": -900, "payment_id": payment["id"]},
        {"type": "dispute_fee", "amount_cents": -15},
        {"type": "chargeback_reversal", "amount_cents": 400},
        {"type": "reserve_hold", "amount_cents": -1_000},
        {"type": "reserve_release", "amount_cents": 250},
        {"type": "adjustment", "amount_cents": 7, "account": "4500"},
    ]


def _item(payment: str) -> str:
    return f"payment_id = {called('invoice_payment', payment)} AND listed"


_AMOUNTS, _ITEMS, _POSTED, _CLEARING, _VARIANCES = (
    *("payout_amounts", "payout_items"),
    *("posted_as_desired", "clearing", "payout_variances"),
)

_FAILED = called("payout", "failed")

PAYOUTS: Mapping[str, Fault] = {
    "a payout counts more payments than it lists": planted(
        "payout", "gross_payments = gross_payments + 1", "external_id = 'weekly'", _AMOUNTS
    ),
    "a payout counts more refunds than it lists": planted(
        "payout", "total_refunds = total_refunds + 1", "external_id = 'weekly'", _AMOUNTS
    ),
    "a payout knows of other fees than its items have": (
        change("payout", "fee_steps = '[]'", "external_id = 'weekly'"),
        {_AMOUNTS, _POSTED, _CLEARING, _VARIANCES},
    ),
    "a payout has paid out more than it posted": (
        change("payout", "paid_out = paid_out + 1", "external_id = 'weekly'"),
        {_POSTED, _CLEARING, _VARIANCES},
    ),
    "a payout that failed says that it is paid": planted(
        "payout", "status = 'paid'", "external_id = 'failed'", _CLEARING, _ITEMS, _VARIANCES
    ),
    "a payout forgets a chargeback": (
        change("payout", "other_items = other_items - 0", "external_id = 'weekly'"),
        {_POSTED, _CLEARING, _VARIANCES},
    ),
    "a payout that is deleted stands paid": planted(
        "payout", "completions = '[[null, null]]'", "deleted_at IS NOT NULL", _POSTED
    ),
    "an item is listed no longer and still held": planted(
        "payout_item", "listed = false", _item("card 1"), _AMOUNTS, _ITEMS
    ),
    "an item is listed and not held": planted(
        "invoice_payment", "payout_id = NULL", "external_id = 'card 1'", _ITEMS
    ),
    "an item is held by another payout": planted(
        "invoice_payment", f"payout_id = {_FAILED}", "external_id = 'card 3'", _ITEMS
    ),
    "an item of a payout is cash": (
        change("invoice_payment", "method = 'cash', processor = NULL", "external_id = 'card 1'"),
        {_ITEMS, _POSTED, _CLEARING},
    ),
    "an item of a payout names a bank account": (
        change(
            "invoice_payment",
            "bank_account_id = (SELECT min(id::text)::uuid FROM bank_account"
            " WHERE business_id = %(b)s)",
            "external_id = 'card 1'",
        ),
        {_ITEMS, _POSTED, _CLEARING},
    ),
    "money of a vendor is said to come in a payout": planted(
        "bill_payment", f"payout_id = {called('payout', 'weekly')}", "external_id = 'main'", _ITEMS
    ),
    "an item of a payout grows and nobody counts it": (
        change("invoice_payment", "total = total + 1", "external_id = 'card 1'"),
        {_AMOUNTS, _POSTED, _CLEARING, "prepayments"},
    ),
}
