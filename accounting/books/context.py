"""The business and the time for which a rule is applied."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from accounting.books.businesses import Business
from accounting.errors import Conflict, RuleBroken


@dataclass(frozen=True, slots=True)
class Context:
    """The business, the current time (aware, UTC), and the function that creates ids."""

    business: Business
    now: datetime
    identify: Callable[[], UUID]

    @property
    def today(self) -> date:
        """The current day, in UTC."""
        return self.now.date()

    @property
    def lock_date(self) -> date | None:
        """The last day that is locked, if any."""
        return self.business.lock_date

    @property
    def currency(self) -> str:
        """The base currency of the business."""
        return self.business.base_currency


def refuse_locked(context: Context, on: date) -> None:
    """Refuse to post on a locked day.

    Raises Conflict `period_locked`.
    """
    lock_date = context.lock_date
    if lock_date is not None and on <= lock_date:
        raise Conflict(
            "period_locked",
            f"Cannot post on {on}: the period is locked through {lock_date}. Use a later date.",
            date=on.isoformat(),
            lock_date=lock_date.isoformat(),
        )


def refuse_other_currency(currency: str | None, context: Context) -> None:
    """Refuse a currency other than the base currency of the business; None is accepted.

    Raises RuleBroken `currency_mismatch`.
    """
    if currency is not None and currency.upper() != context.currency:
        raise RuleBroken(
            "currency_mismatch",
            f"The books are kept in {context.currency}. Send this currency or omit the field.",
            currency=currency,
            base_currency=context.currency,
        )
