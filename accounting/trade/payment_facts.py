"""Changes to the fields of a payment: corrected, cleared, or left unchanged."""

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
"""The default description of a payment."""


def corrected(payment: Payment, command: ChangePayment) -> dict[str, Any]:
    """Return the fields that a change corrects.

    An absent field keeps its value, but a change of the whole payment clears absent descriptive
    fields. Null clears a field that may be empty.
    """
    supplied = said(command, "total", "payment_date", "fee", "method")
    may_be_empty = {
        "external_id": or_else(command.external_id, payment.external_id),
        "processor": _processor(payment, command),
    }
    details = cleared(command.details) if command.whole else said(command.details)
    return {**supplied, **may_be_empty, **details}


def cleared(details: PaymentDetails) -> dict[str, Any]:
    """Return the descriptive fields of a payment; absent ones are empty."""
    return {**NOTHING_SAID, **said(details)}


def _processor(payment: Payment, command: ChangePayment) -> str | None:
    """Return the processor; one that was derived from the method changes with the method."""
    method = or_else(command.method, payment.method)
    if not isinstance(command.processor, Absent):
        return command.processor or processor_of(method)
    if payment.processor == processor_of(payment.method):
        return processor_of(method)
    return payment.processor
