"""When and where a rule is applied."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime
from uuid import UUID

from accounting.books.businesses import Business
from accounting.errors import Conflict, RuleBroken


@dataclass(frozen=True, slots=True)
class Context:
    """The business, the moment (aware, UTC) and the maker of identifiers for new parts."""

    business: Business
    now: datetime
    identify: Callable[[], UUID]

    @property
    def today(self) -> date:
        """The day of the moment."""
        return self.now.date()

    @property
    def lock_date(self) -> date | None:
        """The last day on which nothing is posted any more."""
        return self.business.lock_date

    @property
    def currency(self) -> str:
        """The one currency of the business."""
        return self.business.base_currency


def refuse_locked(context: Context, on: date) -> None:
    """Refuse a day on which nothing is posted any more.

    Raises Conflict `period_locked`.
    """
    lock_date = context.lock_date
    if lock_date is not None and on <= lock_date:
        raise Conflict(
            "period_locked",
            f"Nothing is posted on {on}: the period is locked up to {lock_date}.",
            date=on.isoformat(),
            lock_date=lock_date.isoformat(),
        )


def refuse_other_currency(currency: str | None, context: Context) -> None:
    """Refuse a currency that is not the base currency of the business; left out it is that one.

    Raises RuleBroken `currency_mismatch`.
    """
    if currency is not None and currency.upper() != context.currency:
        raise RuleBroken(
            "currency_mismatch",
            f"The books are kept in {context.currency}: send that, or leave the currency out.",
            currency=currency,
            base_currency=context.currency,
        )
