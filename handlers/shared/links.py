"""API addresses of records and reports of a business, relative to the host."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from accounting.books.accounts import Account
from accounting.books.periods import FIRST_YEAR, Period
from accounting.books.report_filter import ReportFilter
from persistence.engine.pages import PageRequest

_BUSINESS = "/v1/platform/businesses/{}/"
_FIRST_DAY = date(FIRST_YEAR, 1, 1)
# Paths of the sources of entries. A source that is shown only within another record has the path
# of that record. Transfers between bank accounts have no path.
_SOURCES = {
    "invoice": "invoices/{id}/",
    "write_off": "invoices/{held_by}/",
    "payment": "invoices/payments/{id}/",
    "refund": "invoices/refunds/{id}/",
    "refund_payment": "invoices/refunds/{held_by}/payments/{id}/",
    "customer_credit": "customer-credits/{id}/",
    "bill": "bills/{id}/",
    "bill_write_off": "bills/{held_by}/",
    "bill_payment": "bills/payments/{id}/",
    "vendor_credit": "vendor-credits/{id}/",
    "vendor_refund": "vendor-refunds/{id}/",
    "vendor_refund_payment": "vendor-refunds/payments/{id}/",
    "payout": "payouts/{id}/",
    "bank_transaction": "bank-transactions/{id}/",
    "opening_balance": "opening-balances/{id}/",
    "tax_return": "tax-returns/{id}/",
    "manual": "general-ledger/journal-entries/{id}/",
}


def document_address(
    business_id: UUID, source_type: str, source_id: UUID, held_by_id: UUID | None
) -> str | None:
    """Return the address of the source of an entry; None where it has none, or none yet."""
    path = _SOURCES.get(source_type)
    if path is None or (held_by_id is None and "{held_by}" in path):
        return None
    return _BUSINESS.format(business_id) + path.format(id=source_id, held_by=held_by_id)


class Addresses:
    """Addresses of the entries, or of the report, behind the lines of a report."""

    def __init__(self, business_id: UUID, cut: ReportFilter) -> None:
        self._business = _BUSINESS.format(business_id)
        self._cut = cut

    def entries(self, account: Account, days: Period) -> str:
        """Return the address of an account's lines; without a first day if the report has none."""
        asked = {**_from(days), "date_to": days.last, **counted(self._cut)}
        address = f"{self._business}general-ledger/chart-of-accounts/{account.id}/entries/"
        return f"{address}?{urlencode(asked)}"

    def profit_and_loss(self, days: Period) -> str:
        """Return the address of the profit and loss statement of a period."""
        first = max(days.first, _FIRST_DAY)
        asked = {"start_date": first, "end_date": days.last, **counted(self._cut)}
        return f"{self._business}reports/profit-and-loss/?{urlencode(asked)}"


@dataclass(frozen=True, slots=True)
class TaxLines:
    """The address of the lines behind a tax return or VAT summary; `asked` has its filters."""

    path: str
    asked: Mapping[str, Any]

    def only(self, **asked: Any) -> "TaxLines":
        """Return the same list with further filters."""
        return TaxLines(self.path, {**self.asked, **asked})

    @property
    def address(self) -> str:
        """The address of the list, with its filters as a query string."""
        return f"{self.path}?{urlencode({name: _text(each) for name, each in self.asked.items()})}"


def lines_of_return(business_id: UUID, tax_return_id: UUID) -> TaxLines:
    """Return the list of the lines behind a tax return."""
    return TaxLines(f"{_BUSINESS.format(business_id)}tax-returns/{tax_return_id}/entries/", {})


def lines_of_vat_summary(business_id: UUID, days: Period, cut: ReportFilter) -> TaxLines:
    """Return the list of the lines behind a VAT summary."""
    asked = {"start_date": days.first, "end_date": days.last, **counted(cut)}
    return TaxLines(f"{_BUSINESS.format(business_id)}reports/vat-summary/entries/", asked)


def lines_asked(days: Period, cut: ReportFilter, wanted: PageRequest) -> PageRequest:
    """Return a request for the lines of an account that a report counts, with the given paging."""
    asked = {**_from(days), "date_to": days.last, **_narrowing(cut)}
    return PageRequest(wanted.page, wanted.page_size, wanted.cursor, wanted.count, filters=asked)


def counted(cut: ReportFilter) -> dict[str, str]:
    """Return the query parameters for the basis and filters of a report."""
    told = {name: _text(value) for name, value in _narrowing(cut).items()}
    return {"basis": cut.basis.value, **told}


def _narrowing(cut: ReportFilter) -> dict[str, Any]:
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
