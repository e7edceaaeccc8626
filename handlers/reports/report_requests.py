"""Report requests: their query parameters, and the data that they read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from accounting.books.accounts import Account
from accounting.books.businesses import Business, Context
from accounting.books.periods import Period
from accounting.books.report_filter import Basis, ReportFilter
from accounting.errors import ValidationError
from accounting.reports import layouts
from accounting.reports.layouts import CompareTo, Interval, Layout
from accounting.reports.statements import Chart, PostedAmounts
from persistence.books import Books
from persistence.store import not_found

Query = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """A report request, with the chart of accounts of its business."""

    books: Books
    chart: Chart
    cut: ReportFilter
    detailed: bool

    @property
    def year_end(self) -> date:
        """The month and day on which the fiscal years of the business end."""
        return self.books.business.fiscal_year_end

    async def posted(self, spans: Sequence[Period]) -> PostedAmounts:
        """Read the movements of each account in given periods, with the report filter."""
        moved = await self.books.movements.by_account(spans, self.cut)
        return PostedAmounts(self.chart, moved, range(len(spans)))

    async def tagged(self, days: Period) -> dict[str, Any]:
        """Return the tag filter of the report, and whether tags overlap in its period."""
        cut = self.cut
        overlap = None
        if cut.untagged or cut.tag is not None:
            overlap = await self.books.tags.overlap(days, cut.basis)
        return {"tag": cut.tag, "untagged": cut.untagged, "tags_overlap": overlap}


async def asked(books: Books, query: Query) -> ReportRequest:
    """Read the chart of accounts, and apply the defaults of the business to the request.

    Raises ValidationError if both a tag and `untagged` are requested.
    """
    books.pin_snapshot()
    in_use = await books.bank_accounts.chart_in_use()
    chart = Chart(in_use.chart, in_use.taken)
    detailed = query.get("detail_level", "detailed") == "detailed"
    return ReportRequest(books, chart, cut_of(query, books.business), detailed)


def account_named(chart: Chart, reference: str) -> Account:
    """Find an account by id, code or external id; raises NotFound."""
    found = chart.find(reference)
    if found is None:
        raise not_found("account")
    return found


def refuse_stray_cursor(query: Query) -> None:
    """Raise ValidationError for a cursor without an account, since only its lines have pages."""
    if "cursor" in query and "account" not in query:
        raise ValidationError.fields(
            cursor=["needs account: only the entries of one account have pages"]
        )


def cut_of(query: Query, business: Business) -> ReportFilter:
    """Return the report filter of a query.

    Raises ValidationError if it has both a tag and `untagged`.
    """
    tag, untagged = query.get("tag"), query.get("untagged", False)
    if tag is not None and untagged:
        raise ValidationError.fields(untagged=["cannot be combined with tag"])
    return ReportFilter(
        basis=Basis(query.get("basis", business.accounting_method)),
        tag=tag,
        untagged=untagged,
        known_at=query.get("known_at"),
    )


def period_of(query: Query, context: Context) -> Period:
    """Return the period of a report; the default is the fiscal year up to today.

    Raises ValidationError if it ends before it begins.
    """
    return layouts.days(
        query.get("start_date"),
        query.get("end_date", context.today),
        context.business.fiscal_year_end,
    )


def layout_of(query: Query, context: Context) -> Layout:
    """Return the period of a report with its columns and its comparison period.

    Raises ValidationError if there are too many columns.
    """
    interval, compare_to = query.get("interval"), query.get("compare_to")
    return layouts.of_period(
        period_of(query, context),
        context.business.fiscal_year_end,
        None if interval is None else Interval(interval),
        None if compare_to is None else CompareTo(compare_to),
    )


def layout_of_day(query: Query, context: Context) -> Layout:
    """Return the day of a report, by default today, with its comparison day."""
    compare_to = query.get("compare_to")
    day = query.get("as_of_date", context.today)
    return layouts.of_day(day, None if compare_to is None else CompareTo(compare_to))
