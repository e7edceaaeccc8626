"""Status changes of money: the allowed moves, and the spans in which it was completed."""

from collections.abc import Sequence
from datetime import date

from accounting.books.spans import Span
from accounting.errors import Conflict
from accounting.trade.payments import CANCELLABLE, STATUSES
from accounting.trade.sides import Side

Spans = tuple[Span, ...]


def allowed_moves(side: Side, status: str) -> Sequence[str]:
    """List the statuses that a caller may set, given the current one."""
    return [each for each in STATUSES if each in side.payment_moves[status]]


def refuse_move(side: Side, before: str, after: str) -> None:
    """Refuse a status that may not follow the current one; keeping the status is allowed.

    Raises Conflict `invalid_state_transition`.
    """
    if after != before and after not in side.payment_moves[before]:
        raise _refused(side, before, f"A payment that is {before} cannot become {after}.")


def refuse_cancelling(side: Side, status: str) -> None:
    """Refuse to cancel a payment that is not pending or failed.

    Raises Conflict `invalid_state_transition`.
    """
    if status not in CANCELLABLE:
        words = "Only a pending or failed payment can be cancelled."
        if "cancelled" in side.payment_moves[status]:
            words = f"{words} An update of its status takes back any other."
        raise _refused(side, status, words)


def completions_after(
    completions: Spans, before: str, after: str, today: date, done: str = "completed"
) -> Spans:
    """Update the spans for a status change: leaving `done` ends a span, entering it begins one.

    The first span begins on the payment's own date, a later one today.
    """
    if before == after:
        return completions
    if before == done:
        return (*completions[:-1], Span(completions[-1].start, today))
    if after == done:
        return (*completions, Span(today if completions else None))
    return completions


def _refused(side: Side, status: str, message: str) -> Conflict:
    return Conflict.of_state(message, status, allowed_moves(side, status))
