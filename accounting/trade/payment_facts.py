"""What a change says of a payment's own facts: what it corrects, clears and leaves alone."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from accounting.absent import Absent, or_else, said
from accounting.books.chart import processor_of
from accounting.trade.commands import ChangePayment, PaymentDetails
from accounting.trade.payments import Payment

NOTHING_SAID: Mapping[str, Any] = {
    **{item.name: None for item in fields(PaymentDetails)},
    "references": {},
    "transaction_tags": (),
}
"""What describes a payment of which nothing is said."""


def corrected(payment: Payment, command: ChangePayment) -> dict[str, Any]:
    """Read the facts that a change corrects.

    What is absent keeps its value, but for descriptions where the change is the whole; null clears
    what may be empty.
    """
    supplied = said(command, "total", "payment_date", "fee", "method")
    may_be_empty = {
        "external_id": or_else(command.external_id, payment.external_id),
        "processor": _processor(payment, command),
    }
    details = cleared(command.details) if command.whole else said(command.details)
    return {**supplied, **may_be_empty, **details}


def cleared(details: PaymentDetails) -> dict[str, Any]:
    """Read what describes a payment; what is absent is empty."""
    return {**NOTHING_SAID, **said(details)}


def _processor(payment: Payment, command: ChangePayment) -> str | None:
    """Read the processor; one that only followed from the method changes with the method."""
    method = or_else(command.method, payment.method)
    if not isinstance(command.processor, Absent):
        return command.processor or processor_of(method)
    if payment.processor == processor_of(payment.method):
        return processor_of(method)
    return payment.processor
