"""Faults in refunds: those of both sides, and those of vendor refunds alone."""

from tests.persistence.integrity.fault import (
    BOUGHT,
    POSTED,
    SOLD,
    Faults,
    Side,
    called,
    change,
    elsewhere,
    planted,
)

LIVE = "end_on IS NULL"
IN_STEPS = "external_id = 'in steps'"
WAITS = "unallocated_refunds"


def refunds(side: Side, step: str, *, waiting: set[str], revived: set[str]) -> Faults:
    """Return the faults in refunds of a side; `step` is the completed payment.

    `waiting` are the checks of a refund that exceeds its allocations, and `revived` those of a
    cancelled refund with a live payment.
    """
    tables, a = side.tables, side.refund
    table, payment = tables.refund, tables.refund_payment
    ours = f"refund_id = {called(table, 'in steps')}"
    return {
        f"{a} comes to more than it gives back": (
            change(table, "amount = amount + 1", IN_STEPS),
            {*side.of_refund("amounts"), side.refunds, *waiting, *POSTED},
        ),
        f"{a} claims that more is paid": (
            change(table, "paid = paid + 1", IN_STEPS),
            {*side.of_refund("amounts", "parts_paid"), side.refunds},
        ),
        f"{a} that is cancelled still gives back": (
            change(
                tables.refund_allocation,
                "end_on = NULL",
                f"refund_id = {called(table, 'unwanted')}",
            ),
            {
                *side.of_refund("amounts"),
                *side.of_document("settlement", "parts_returned", "lines_reduced"),
                *POSTED,
            },
        ),
        f"what is paid of {a} moves to another account": (
            elsewhere(table, "settled", IN_STEPS),
            side.of_refund("parts_paid"),
        ),
        f"a payment pays another account of {a}": (
            elsewhere(payment, "splits", step, place=(0, 0, 0)),
            {*side.of_refund("parts_paid"), *(side.of_targets("shares") or POSTED)},
        ),
        f"{a} gives back of another account": (
            elsewhere(tables.refund_allocation, "split", ours),
            {
                *side.of_document("parts_returned"),
                *side.of_refund("parts_paid"),
                *side.of_targets("targets_paid"),
                *POSTED,
            },
        ),
        f"{a} belongs to somebody else": planted(
            table, f"party_id = {side.other}", IN_STEPS, *side.of_refund("allocations")
        ),
        f"a payment of {a} grows": (
            change(payment, "amount = amount + 1", step),
            {*side.of_refund("payments", "amounts"), *side.cleared, *POSTED},
        ),
        f"a payment of {a} has a state that nobody knows": (
            change(payment, "status = 'lost', cancelled_at = NULL", "status = 'cancelled'"),
            side.of_refund("payments") | revived,
        ),
        f"a payment of {a} that stands completed had gone back": (
            change(
                payment, "completions = jsonb_set(completions, '{0,1}', '\"2025-03-30\"')", step
            ),
            {*side.of_refund("payments"), *POSTED},
        ),
        f"a payment of {a} is not split": (
            change(payment, "splits = '[]'", step),
            {*side.of_refund("payments", "parts_paid"), *side.of_targets("shares"), *POSTED},
        ),
        f"a payment of {a} cost more": planted(
            payment, "fee = fee + 1", step, *side.cleared, *POSTED
        ),
    }


_TO_CUSTOMERS: Faults = {
    "a refund forgets when it completed": planted(
        "invoice_refund", "completed_at = NULL", "external_id = 'at once'", "refund_amounts"
    ),
    "a refund completed when none of its payments did": (
        change(
            "invoice_refund",
            "completed_at = completed_at + interval '1 day'",
            "external_id = 'at once'",
        ),
        {"refund_amounts"},
    ),
    "a refund gives back more of an invoice": (
        change(
            "invoice_refund_allocation",
            "amount = amount + 1",
            f"refund_id = {called('invoice_refund', 'in steps')}",
        ),
        {"refund_allocations", "refund_amounts", "invoice_settlement", *POSTED},
    ),
    "a refund gives back more of a payment": (
        change("invoice_refund_allocation", "amount = amount + 1", "payment_id IS NOT NULL"),
        {"refund_allocations", "refund_amounts", "payment_amounts", *POSTED},
    ),
}

_KEPT = f"refund_id = {called('vendor_refund', 'kept')}"

_BOTH = f"refund_id = {called('vendor_refund', 'of both')}"
_OF_BOTH = f"{_BOTH} AND status = 'completed'"

_FROM_VENDORS: Faults = {
    "a vendor refund gives back more of a bill": (
        change(
            "vendor_refund_allocation",
            "amount = amount + 1",
            f"refund_id = {called('vendor_refund', 'in steps')}",
        ),
        {"vendor_refund_allocations", "bill_settlement", WAITS, *POSTED},
    ),
    "a vendor refund gives back more of a payment than there is of it": (
        change(
            "vendor_refund_allocation",
            "amount = amount + 1",
            f"payment_id IS NOT NULL AND {_KEPT}",
        ),
        {
            "vendor_refund_allocations",
            "vendor_refund_amounts",
            "vendor_refund_parts_paid",
            "bill_payment_amounts",
            WAITS,
            *POSTED,
        },
    ),
    "a vendor refund lives although its payments are cancelled": (
        change("vendor_refund", "cancelled_at = NULL", "external_id = 'unwanted'"),
        {"vendor_refund_amounts", "vendor_refunds", WAITS, *POSTED},
    ),
    "more of a vendor refund is kept as a credit": (
        change(
            "vendor_refund_allocation",
            "amount = amount + 1",
            f"credit_id IS NOT NULL AND {_KEPT}",
        ),
        {
            "vendor_refund_credits",
            "vendor_refund_amounts",
            "vendor_refund_parts_paid",
            "vendor_refunds",
            WAITS,
            *POSTED,
        },
    ),
    "a credit forgets the refund that is kept as it": planted(
        "vendor_credit", "refund_id = NULL", f"state = 'open' AND {_KEPT}", "vendor_refund_credits"
    ),
    "a credit names a refund that is not kept as it": planted(
        "vendor_credit", f"{_KEPT}", "external_id = 'returned'", "vendor_refund_credits"
    ),
    "a credit outlives the part of the refund": (
        change("vendor_credit", "state = 'open'", "state = 'void' AND refund_id IS NOT NULL"),
        {"vendor_refund_credits", "vendor_credits"},
    ),
    "more was taken off a bill than the refund gives back": (
        change(
            "vendor_refund_allocation",
            "released = jsonb_set(released, '{1,1}', '201')",
            f"payment_id IS NOT NULL AND {_KEPT}",
        ),
        {"vendor_refund_releases"},
    ),
    "money of a vendor refund takes more of a bill than it is split": (
        change("vendor_refund_payment", "shares = jsonb_set(shares, '{0,0,1,0,1}', '1')", _OF_BOTH),
        {"vendor_refund_shares", *POSTED},
    ),
    "money of a vendor refund takes of one bill what is another's": (
        change(
            "vendor_refund_payment",
            "shares = jsonb_set(shares, '{0,0,0}', shares->0->1->0)",
            _OF_BOTH,
        ),
        POSTED,
    ),
    "a part of a vendor refund is about another bill": (
        change(
            "journal_line",
            "document_id = (SELECT document_id FROM vendor_refund_allocation"
            f" WHERE {_BOTH} LIMIT 1)",
            "entry_id = (SELECT min(id::text)::uuid FROM journal_entry WHERE business_id = %(b)s"
            f" AND source_id = {called('vendor_refund', 'of both')}) AND line_number = 3",
        ),
        {"tagged_lines", *POSTED},
    ),
    "something was taken off a bill that was never settled so": (
        elsewhere(
            "vendor_refund_allocation",
            "released",
            f"payment_id IS NOT NULL AND {_KEPT}",
            place=(0, 2, 0, 0),
        ),
        {"vendor_refund_releases"},
    ),
}

# The completed payment has no external id; no other payment has its amount.
REFUNDS: Faults = {
    **refunds(SOLD, "external_id = 'step'", waiting=set(), revived=set()),
    **refunds(
        BOUGHT,
        "amount = 1111",
        waiting={WAITS},
        revived={"vendor_refund_amounts"},
    ),
    **_TO_CUSTOMERS,
    **_FROM_VENDORS,
}
