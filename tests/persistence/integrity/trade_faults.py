"""Faults in documents, write-offs, payments and credits, which both sides share."""

from tests.persistence.integrity.fault import POSTED, Faults, Side, change, elsewhere, planted

LIVE = "end_on IS NULL"


def documents(side: Side) -> Faults:
    """Return faults in invoices or in bills."""
    table, a = side.tables.document, side.document
    return {
        f"the series of {a} lies behind": (
            change("number_series", "last = 3", f"series = '{side.tables.side.series}'"),
            side.of_document("numbers"),
        ),
        f"{a} claims more than was paid": (
            change(table, "paid = paid + 1", "external_id = 'partly'"),
            {*side.of_document("settlement", "parts_settled"), side.control},
        ),
        f"{a} claims more than was credited": (
            change(table, "credited = credited + 1", "external_id = 'credited'"),
            {*side.of_document("settlement", "parts_settled"), side.control},
        ),
        f"{a} claims more than was refunded": (
            change(table, "refunded = refunded + 1", "external_id = 'given back'"),
            side.of_document("settlement", "parts_returned"),
        ),
        f"{a} forgets what is reserved": planted(
            table, "reserved = 0", "external_id = 'waiting'", *side.of_document("settlement")
        ),
        f"{a} forgets the day it was paid": planted(
            table, "paid_on = NULL", "external_id = 'paid'", *side.of_document("settlement")
        ),
        f"{a} stands on another day": planted(
            table, "opened_on = opened_on - 1", "external_id = 'voided'", *side.of_document("days")
        ),
        f"{a} costs more than its lines": (
            change(table, "total_amount = total_amount + 1", "external_id = 'partly'"),
            {*side.of_document("totals"), side.control, *POSTED},
        ),
        f"a line of {a} goes to another account": (
            _line_elsewhere(side, "account_id", "waiting"),
            POSTED,
        ),
        f"more is settled of an account than {a} put there": (
            _line_elsewhere(side, "account_id", "paid"),
            {*side.of_document("parts_settled"), *POSTED},
        ),
        f"more is returned of a tax than {a} charged": (
            _line_elsewhere(side, "taxes,0,1", "given back"),
            {*side.of_document("parts_settled", "parts_returned"), *POSTED},
        ),
        f"what is settled of {a} moves to another account": (
            elsewhere(table, "settled", "external_id = 'paid'"),
            side.of_document("parts_settled"),
        ),
        f"what is returned of {a} moves to another account": (
            elsewhere(table, "returned", "external_id = 'given back'"),
            side.of_document("parts_returned"),
        ),
        f"a line of {a} says that more of it is given back": (
            change(
                table,
                "reduced = jsonb_set(reduced, '{0,1,0}', '1000')",
                "external_id = 'given back'",
            ),
            side.of_document("lines_reduced"),
        ),
    }


def write_offs(side: Side) -> Faults:
    """Return faults in write-offs of invoices or of bills."""
    table, a = side.tables.write_off, side.document
    named = {f"{table}s"}
    return {
        f"{a} claims more than was written off": (
            change(side.tables.document, "written_off = written_off + 1", _DOUBTFUL),
            {*side.of_document("settlement", "parts_settled"), side.control},
        ),
        f"a write-off of {a} grows": planted(
            table, "amount = amount + 1", _LOST, *named, *side.of_document("settlement"), *POSTED
        ),
        f"a write-off of {a} settles another account": (
            elsewhere(table, "split", _LOST),
            {*side.of_document("parts_settled"), *POSTED},
        ),
        f"{a} is a draft although some of it is written off": planted(
            side.tables.document, "state = 'draft', paid_on = NULL", _DOUBTFUL, *named, side.control
        ),
    }


def payments(side: Side) -> Faults:
    """Return faults in payments and their allocations."""
    table, allocation, a = side.tables.payment, side.tables.allocation, side.payment
    return {
        f"{a} claims to have applied less": (
            change(table, "allocated = allocated - 1, applied = applied - 1", _MAIN),
            {*side.of_money("payment_amounts"), side.prepayments},
        ),
        f"{a} is larger than what was posted": planted(
            table, "total = total + 1", _MAIN, side.prepayments, *side.cleared, *POSTED
        ),
        f"{a} that bounced forgets what was refunded of it": (
            change(table, "allocated = 0, refunded = 0", "external_id = 'bounced'"),
            {*side.of_money("payment_amounts"), side.prepayments},
        ),
        f"{a} went back whole although some of it is refunded": (
            change(table, "status = 'refunded'", "external_id = 'bounced'"),
            side.of_money("payment_amounts"),
        ),
        f"an allocation of {a} grows": (
            change(allocation, "amount = amount + 1", f"{LIVE} AND jsonb_array_length(split) > 0"),
            {
                *side.of_money("allocations", "payment_amounts"),
                *side.of_document("settlement"),
                *POSTED,
            },
        ),
        f"{a} in the currency of the books has a base of its own": (
            change(table, "base_allocated = 1", _MAIN),
            side.of_money("base_amounts"),
        ),
        f"the allocation of {a} that is pending was applied": (
            change(table, "status = 'completed'", "status = 'pending'"),
            {*side.of_money("allocations", "payment_amounts"), *side.of_document("settlement")},
        ),
        f"an allocation of {a} has another day than the document": planted(
            allocation, "document_date = document_date - 1", LIVE, *side.of_money("allocations")
        ),
        f"{a} belongs to somebody else": planted(
            table, f"party_id = {side.other}", _MAIN, *side.of_money("allocations")
        ),
    }


def credits_(side: Side) -> Faults:
    """Return faults in credits and their allocations."""
    table, allocation, a = side.tables.credit, side.tables.credit_allocation, side.credit
    return {
        f"the series of {a} lies behind": (
            change("number_series", "last = 6", f"series = '{side.tables.side.credit_series}'"),
            side.of_credit("numbers"),
        ),
        f"{a} comes to more than its lines": (
            change(table, "total_amount = total_amount + 1", _RETURNED),
            {*side.of_credit("totals"), side.credits, *POSTED},
        ),
        f"{a} claims to have applied more": (
            change(table, "applied = applied + 1", _RETURNED),
            {*side.of_credit("applied", "parts_applied"), side.credits},
        ),
        f"{a} claims that more is paid out": (
            change(table, "refunded = refunded + 1", _RETURNED),
            {*side.of_credit("applied", "parts_applied"), side.credits},
        ),
        f"{a} is paid out from another of its accounts": (
            elsewhere(
                side.tables.refund_allocation,
                "split",
                f"{LIVE} AND refunded_credit_id IS NOT NULL",
            ),
            {
                *side.of_credit("parts_applied"),
                *side.of_refund("parts_paid"),
                *side.of_targets("targets_paid"),
                *POSTED,
            },
        ),
        f"{a} is void although some of it is paid out": (
            change(
                table,
                "state = 'void', applied = 0, refunded = 0, settled = '[]'",
                "external_id = 'paid out'",
            ),
            {
                *side.of_credit("applied", "parts_applied", "allocations"),
                *side.of_refund("allocations"),
                side.credits,
            },
        ),
        f"what is used of {a} moves to another account": (
            elsewhere(table, "settled", _RETURNED),
            side.of_credit("parts_applied"),
        ),
        f"an allocation uses another account of {a}": (
            elsewhere(allocation, "own_split", LIVE),
            {*side.of_credit("parts_applied"), *POSTED},
        ),
        f"an allocation of {a} settles another account of the document": (
            elsewhere(allocation, "split", LIVE),
            {*side.of_document("parts_settled"), *POSTED},
        ),
        f"an allocation of {a} grows": (
            change(allocation, "amount = amount + 1", LIVE),
            {
                *side.of_credit("allocations", "applied"),
                *side.of_document("settlement"),
                *POSTED,
            },
        ),
        f"an allocation of {a} has another day than the document": planted(
            allocation, "document_date = document_date - 1", LIVE, *side.of_credit("allocations")
        ),
        f"an ended allocation of {a} grows": planted(
            allocation, "amount = amount + 1", "end_on IS NOT NULL", *side.of_credit("allocations")
        ),
        f"{a} belongs to somebody else": planted(
            table, f"party_id = {side.other}", _RETURNED, *side.of_credit("allocations")
        ),
    }


_DOUBTFUL = "external_id = 'doubtful'"
_LOST = "external_id = 'lost'"
_MAIN = "external_id = 'main'"
_RETURNED = "external_id = 'returned'"


def _line_elsewhere(side: Side, field: str, external_id: str) -> str:
    """Return a change of a document's first line to an unknown account."""
    moved = f"lines = jsonb_set(lines, '{{0,{field}}}', to_jsonb(id::text))"
    return change(side.tables.document, moved, f"external_id = '{external_id}'")
