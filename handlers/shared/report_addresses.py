"""Where a line of a report leads: to the entries behind it, or what it is computed of."""

from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.cuts import Cut
from accounting.books.periods import FIRST_YEAR, Period
from persistence.engine.pages import PageRequest

_BUSINESS = "/v1/platform/businesses/{}/"
_FIRST_DAY = date(FIRST_YEAR, 1, 1)


class Addresses:
    """Addresses in the books of a business, of what a report counts."""

    def __init__(self, business_id: UUID, cut: Cut) -> None:
        self._business = _BUSINESS.format(business_id)
        self._cut = cut

    def entries(self, account: Account, days: Period) -> str:
        """The lines of an account; from the first day on where the report counts all before."""
        asked = {**_from(days), "date_to": days.last, **counted(self._cut)}
        address = f"{self._business}general-ledger/chart-of-accounts/{account.id}/entries/"
        return f"{address}?{urlencode(asked)}"

    def profit_and_loss(self, days: Period) -> str:
        """The profit and loss of some days."""
        first = max(days.first, _FIRST_DAY)
        asked = {"start_date": first, "end_date": days.last, **counted(self._cut)}
        return f"{self._business}reports/profit-and-loss/?{urlencode(asked)}"


def lines_asked(days: Period, cut: Cut, wanted: PageRequest) -> PageRequest:
    """Ask for the lines of an account that a report counts, in its order of pages."""
    asked = {**_from(days), "date_to": days.last, **_narrowing(cut)}
    return PageRequest(wanted.page, wanted.page_size, wanted.cursor, wanted.count, filters=asked)


def counted(cut: Cut) -> dict[str, str]:
    """The parameters that say which postings are counted."""
    told = {name: _text(value) for name, value in _narrowing(cut).items()}
    return {"basis": cut.basis.value, **told}


def _narrowing(cut: Cut) -> dict[str, Any]:
    every = {
        "tag": cut.tag,
        "untagged": cut.untagged or None,
        "known_at": cut.known_at,
    }
    return {name: value for name, value in every.items() if value is not None}


def _from(days: Period) -> dict[str, date]:
    return {} if days.first == date.min else {"date_from": days.first}


def _text(value: Any) -> str:
    if value is True:
        return "true"
    return value.isoformat().replace("+00:00", "Z") if hasattr(value, "isoformat") else str(value)
