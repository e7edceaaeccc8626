"""Faults in documents, write-offs, payments and credits, which are the same on both sides."""

from tests.persistence.integrity.fault import POSTED, Faults, Told, change, elsewhere

LIVE = "end_on IS NULL"


def documents(told: Told) -> Faults:
    """Faults in invoices, or in bills."""
    table, a = told.tables.document, told.document
    return {
        f"the series of {a} lies behind": (
            change("number_series", "last = 3", f"series = '{told.tables.side.series}'"),
            told.of_document("numbers"),
        ),
        f"{a} claims more than was paid": (
            change(table, "paid = paid + 1", "external_id = 'partly'"),
            {*told.of_document("settlement", "parts_settled"), told.control},
        ),
        f"{a} claims more than was credited": (
            change(table, "credited = credited + 1", "external_id = 'credited'"),
            {*told.of_document("settlement", "parts_settled"), told.control},
        ),
        f"{a} claims more than was refunded": (
            change(table, "refunded = refunded + 1", "external_id = 'given back'"),
            told.of_document("settlement", "parts_returned"),
        ),
        f"{a} forgets what is reserved": (
            change(table, "reserved = 0", "external_id = 'waiting'"),
            told.of_document("settlement"),
        ),
        f"{a} forgets the day it was paid": (
            change(table, "paid_on = NULL", "external_id = 'paid'"),
            told.of_document("settlement"),
        ),
        f"{a} stands on another day": (
            change(table, "opened_on = opened_on - 1", "external_id = 'voided'"),
            told.of_document("days"),
        ),
        f"{a} costs more than its lines": (
            change(table, "total_amount = total_amount + 1", "external_id = 'partly'"),
            {*told.of_document("totals"), told.control, *POSTED},
        ),
        f"a line of {a} goes to another account": (
            _line_elsewhere(told, "account_id", "waiting"),
            POSTED,
        ),
        f"more is settled of an account than {a} put there": (
            _line_elsewhere(told, "account_id", "paid"),
            {*told.of_document("parts_settled"), *POSTED},
        ),
        f"more is returned of a tax than {a} charged": (
            _line_elsewhere(told, "taxes,0,1", "given back"),
            {*told.of_document("parts_settled", "parts_returned"), *POSTED},
        ),
        f"what is settled of {a} moves to another account": (
            elsewhere(table, "settled", "external_id = 'paid'"),
            told.of_document("parts_settled"),
        ),
        f"what is returned of {a} moves to another account": (
            elsewhere(table, "returned", "external_id = 'given back'"),
            told.of_document("parts_returned"),
        ),
        f"a line of {a} says that more of it is given back": (
            change(
                table,
                "reduced = jsonb_set(reduced, '{0,1,0}', '1000')",
                "external_id = 'given back'",
            ),
            told.of_document("lines_reduced"),
        ),
    }


def write_offs(told: Told) -> Faults:
    """Faults in what is given up of invoices, or of bills."""
    table, a = told.tables.write_off, told.document
    named = {f"{table}s"}
    return {
        f"{a} claims more than was written off": (
            change(told.tables.document, "written_off = written_off + 1", _DOUBTFUL),
            {*told.of_document("settlement", "parts_settled"), told.control},
        ),
        f"a write-off of {a} grows": (
            change(table, "amount = amount + 1", _LOST),
            {*named, *told.of_document("settlement"), *POSTED},
        ),
        f"a write-off of {a} settles another account": (
            elsewhere(table, "split", _LOST),
            {*told.of_document("parts_settled"), *POSTED},
        ),
        f"{a} is a draft although some of it is written off": (
            change(told.tables.document, "state = 'draft', paid_on = NULL", _DOUBTFUL),
            {*named, told.control},
        ),
    }


def payments(told: Told) -> Faults:
    """Faults in payments and in what they settle."""
    table, allocation, a = told.tables.payment, told.tables.allocation, told.payment
    return {
        f"{a} claims to have applied less": (
            change(table, "allocated = allocated - 1, applied = applied - 1", _MAIN),
            {*told.of_money("payment_amounts"), told.prepayments},
        ),
        f"{a} is larger than what was posted": (
            change(table, "total = total + 1", _MAIN),
            {told.prepayments, *told.cleared, *POSTED},
        ),
        f"{a} that bounced forgets what was refunded of it": (
            change(table, "allocated = 0, refunded = 0", "external_id = 'bounced'"),
            {*told.of_money("payment_amounts"), told.prepayments},
        ),
        f"{a} went back whole although some of it is refunded": (
            change(table, "status = 'refunded'", "external_id = 'bounced'"),
            told.of_money("payment_amounts"),
        ),
        f"an allocation of {a} grows": (
            change(allocation, "amount = amount + 1", f"{LIVE} AND jsonb_array_length(split) > 0"),
            {
                *told.of_money("allocations", "payment_amounts"),
                *told.of_document("settlement"),
                *POSTED,
            },
        ),
        f"the allocation of {a} that is pending was applied": (
            change(table, "status = 'completed'", "status = 'pending'"),
            {*told.of_money("allocations", "payment_amounts"), *told.of_document("settlement")},
        ),
        f"an allocation of {a} has another day than the document": (
            change(allocation, "document_date = document_date - 1", LIVE),
            told.of_money("allocations"),
        ),
        f"{a} belongs to somebody else": (
            change(table, f"party_id = {told.other}", _MAIN),
            told.of_money("allocations"),
        ),
    }


def credits_(told: Told) -> Faults:
    """Faults in credits and in what they settle."""
    table, allocation, a = told.tables.credit, told.tables.credit_allocation, told.credit
    return {
        f"the series of {a} lies behind": (
            change("number_series", "last = 6", f"series = '{told.tables.side.credit_series}'"),
            told.of_credit("numbers"),
        ),
        f"{a} comes to more than its lines": (
            change(table, "total_amount = total_amount + 1", _RETURNED),
            {*told.of_credit("totals"), told.credits, *POSTED},
        ),
        f"{a} claims to have applied more": (
            change(table, "applied = applied + 1", _RETURNED),
            {*told.of_credit("applied", "parts_applied"), told.credits},
        ),
        f"{a} claims that more is paid out": (
            change(table, "refunded = refunded + 1", _RETURNED),
            {*told.of_credit("applied", "parts_applied"), told.credits},
        ),
        f"{a} is paid out from another of its accounts": (
            elsewhere(
                told.tables.refund_allocation,
                "split",
                f"{LIVE} AND refunded_credit_id IS NOT NULL",
            ),
            {
                *told.of_credit("parts_applied"),
                *told.of_refund("parts_paid"),
                *told.of_targets("targets_paid"),
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
                *told.of_credit("applied", "parts_applied", "allocations"),
                *told.of_refund("allocations"),
                told.credits,
            },
        ),
        f"what is used of {a} moves to another account": (
            elsewhere(table, "settled", _RETURNED),
            told.of_credit("parts_applied"),
        ),
        f"an allocation uses another account of {a}": (
            elsewhere(allocation, "own_split", LIVE),
            {*told.of_credit("parts_applied"), *POSTED},
        ),
        f"an allocation of {a} settles another account of the document": (
            elsewhere(allocation, "split", LIVE),
            {*told.of_document("parts_settled"), *POSTED},
        ),
        f"an allocation of {a} grows": (
            change(allocation, "amount = amount + 1", LIVE),
            {
                *told.of_credit("allocations", "applied"),
                *told.of_document("settlement"),
                *POSTED,
            },
        ),
        f"an allocation of {a} has another day than the document": (
            change(allocation, "document_date = document_date - 1", LIVE),
            told.of_credit("allocations"),
        ),
        f"an ended allocation of {a} grows": (
            change(allocation, "amount = amount + 1", "end_on IS NOT NULL"),
            told.of_credit("allocations"),
        ),
        f"{a} belongs to somebody else": (
            change(table, f"party_id = {told.other}", _RETURNED),
            told.of_credit("allocations"),
        ),
    }


_DOUBTFUL = "external_id = 'doubtful'"
_LOST = "external_id = 'lost'"
_MAIN = "external_id = 'main'"
_RETURNED = "external_id = 'returned'"


def _line_elsewhere(told: Told, field: str, external_id: str) -> str:
    """Let the first line of a document name an account that is nobody's."""
    moved = f"lines = jsonb_set(lines, '{{0,{field}}}', to_jsonb(id::text))"
    return change(told.tables.document, moved, f"external_id = '{external_id}'")
