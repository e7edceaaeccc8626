"""What a body says of a payment's own facts: what it corrects, clears and leaves alone."""

from collections.abc import Iterable, Mapping
from typing import Any

from accounting.books.chart import processor_of
from accounting.trade.payments import Payment
from accounting.trade.sides import Side

Body = Mapping[str, Any]

DESCRIPTIVE = (
    *("note", "payment_reference", "bank_reference", "processor_reference"),
    *("check_number", "references", "transaction_tags", "metadata"),
)
"""Fields that only describe: a PUT without them clears them."""

NOTES = ("note", "notes", "memo")
"""What callers call a note: invoice payments by its name or its older one, bill payments memo."""


def corrected(side: Side, payment: Payment, changes: Body, *, whole: bool) -> dict[str, Any]:
    """Read the facts that a body corrects.

    What is absent keeps its value, but for descriptions where the body is the `whole`; null clears
    what may be empty.
    """
    named = DESCRIPTIVE if whole else [name for name in DESCRIPTIVE if _speaks_of(changes, name)]
    facts = {
        "total": changes.get(side.payment_amount_field),
        "payment_date": changes.get("payment_date"),
        "fee": changes.get("processing_fee_cents"),
        "method": changes.get("payment_method"),
    }
    supplied = {name: fact for name, fact in facts.items() if fact is not None}
    may_be_empty = {
        "external_id": changes.get("external_id", payment.external_id),
        "processor": _processor(payment, changes),
    }
    return {**supplied, **may_be_empty, **described(changes, named)}


def described(body: Body, names: Iterable[str]) -> dict[str, Any]:
    """Read descriptive fields; `note` wins over its other names."""
    facts = {name: body.get(name) for name in names}
    if "note" in facts:
        facts["note"] = next((body[name] for name in NOTES if body.get(name) is not None), None)
    if "references" in facts:
        facts["references"] = facts["references"] or {}
    if "transaction_tags" in facts:
        facts["transaction_tags"] = tuple(facts["transaction_tags"] or ())
    return facts


def _speaks_of(changes: Body, name: str) -> bool:
    return any(each in changes for each in (NOTES if name == "note" else (name,)))


def _processor(payment: Payment, changes: Body) -> str | None:
    """Read the processor; one that only followed from the method changes with the method."""
    method = changes.get("payment_method") or payment.method
    if "payment_processor" in changes:
        return changes["payment_processor"] or processor_of(method)
    if payment.processor == processor_of(payment.method):
        return processor_of(method)
    return payment.processor
