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
# Paths of records, with their holders where these are in the path. A write-off has the path of its
# document; transfers have none.
_RECORDS = {
    "invoice": "invoices/{id}/",
    "write_off": "invoices/{holder}/",
    "invoice_payment": "invoices/payments/{id}/",
    "invoice_refund": "invoices/refunds/{id}/",
    "invoice_refund_payment": "invoices/refunds/{holder}/payments/{id}/",
    "customer": "customers/{id}/",
    "customer_credit": "customer-credits/{id}/",
    "vendor": "vendors/{id}/",
    "bill": "bills/{id}/",
    "bill_write_off": "bills/{holder}/",
    "bill_payment": "bills/payments/{id}/",
    "vendor_credit": "vendor-credits/{id}/",
    "vendor_refund": "vendor-refunds/{id}/",
    "vendor_refund_payment": "vendor-refunds/payments/{id}/",
    "payout": "payouts/{id}/",
    "bank_account": "bank-accounts/{id}/",
    "bank_reconciliation": "bank-accounts/{holder}/reconciliations/{id}/",
    "bank_rule": "bank-rules/{id}/",
    "bank_transaction": "bank-transactions/{id}/",
    "account": "general-ledger/chart-of-accounts/{id}/",
    "journal_entry": "general-ledger/journal-entries/{id}/",
    "tax_code": "tax-codes/{id}/",
    "tax_return": "tax-returns/{id}/",
    "opening_balance": "opening-balances/{id}/",
    "revaluation": "revaluations/{id}/",
    "document": "documents/{id}/",
    "business": "",
}


def record_address(
    business_id: UUID, object_type: str, id_: UUID, holder_id: UUID | None
) -> str | None:
    """Return the address of a record; None where it has none, or its holder is not known."""
    path = _RECORDS.get(object_type)
    if path is None or (holder_id is None and "{holder}" in path):
        return None
    return _BUSINESS.format(business_id) + path.format(id=id_, holder=holder_id)


# The type of an entry's source, where the entry names it otherwise.
_SOURCES = {
    "payment": "invoice_payment",
    "refund": "invoice_refund",
    "refund_payment": "invoice_refund_payment",
    "manual": "journal_entry",
}


def document_address(
    business_id: UUID, source_type: str, source_id: UUID, held_by_id: UUID | None
) -> str | None:
    """Return the address of the source of an entry; None where it has none, or none yet."""
    object_type = _SOURCES.get(source_type, source_type)
    return record_address(business_id, object_type, source_id, held_by_id)


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
