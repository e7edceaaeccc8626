"""What reports are asked for, and what they are read from."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from accounting.books.accounts import Account
from accounting.books.businesses import Business
from accounting.books.context import Context
from accounting.books.cuts import Basis, Cut
from accounting.books.periods import Period
from accounting.errors import Malformed
from accounting.reports import layouts
from accounting.reports.columns import Interval
from accounting.reports.comparisons import CompareTo
from accounting.reports.layouts import Layout
from accounting.reports.statements import Chart, Posted
from accounting.values import dataclass
from persistence.books import Books
from persistence.ledger.letterheads import Letterhead
from persistence.store import not_found

Query = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Asked:
    """What a report is asked for, of a business whose chart and letterhead are read."""

    books: Books
    chart: Chart
    letterhead: Letterhead
    cut: Cut
    detailed: bool

    @property
    def year_end(self) -> date:
        """The month and the day on which the fiscal years of the business end."""
        return self.books.business.fiscal_year_end

    async def posted(self, spans: Sequence[Period]) -> Posted:
        """Read what was posted in some spans, of what the report counts."""
        moved = await self.books.movements.by_account(spans, self.cut)
        return Posted(self.chart, moved, range(len(spans)))

    async def tagged(self, days: Period) -> dict[str, Any]:
        """Say what of the books the report is cut to, and whether tags overlap in its days."""
        cut = self.cut
        overlap = None
        if cut.untagged or cut.tag is not None:
            overlap = await self.books.tags.overlap(days, cut.basis)
        return {"tag": cut.tag, "untagged": cut.untagged, "tags_overlap": overlap}


async def asked(books: Books, query: Query) -> Asked:
    """Read the chart, and with it what the business reports on where the request says nothing.

    Raises Malformed where both a tag and no tag are asked for.
    """
    books.pin_snapshot()
    in_use, letterhead = await books.fetch(
        books.bank_accounts.chart_in_use(), books.letterheads.get()
    )
    chart = Chart(in_use.chart, in_use.taken)
    detailed = query.get("detail_level", "detailed") == "detailed"
    return Asked(books, chart, letterhead, cut_of(query, books.business), detailed)


def account_named(chart: Chart, reference: str) -> Account:
    """Find an account by id, code or external id; raises NotFound."""
    found = chart.find(reference)
    if found is None:
        raise not_found("account")
    return found


def refuse_stray_cursor(query: Query) -> None:
    """Refuse to go on in the lines of no account. Raises Malformed."""
    if "cursor" in query and "account" not in query:
        raise Malformed.fields(cursor=["goes on in the lines of an account, which is not named"])


def cut_of(query: Query, business: Business) -> Cut:
    """Say which postings a report counts."""
    tag, untagged = query.get("tag"), query.get("untagged", False)
    if tag is not None and untagged:
        raise Malformed.fields(untagged=["does not go together with tag"])
    return Cut(
        basis=Basis(query.get("basis", business.accounting_method)),
        tag=tag,
        untagged=untagged,
        known_at=query.get("known_at"),
    )


def period_of(query: Query, context: Context) -> Period:
    """Read the days of a report; the fiscal year up to today where none are asked for.

    Raises Malformed where they end before they begin.
    """
    return layouts.days(
        query.get("start_date"),
        query.get("end_date", context.today),
        context.business.fiscal_year_end,
    )


def layout_of(query: Query, context: Context) -> Layout:
    """Read the days of a report with its columns and what it is compared with.

    Raises Malformed where there would be too many columns.
    """
    interval, compare_to = query.get("interval"), query.get("compare_to")
    return layouts.of_period(
        period_of(query, context),
        context.business.fiscal_year_end,
        None if interval is None else Interval(interval),
        None if compare_to is None else CompareTo(compare_to),
    )


def layout_of_day(query: Query, context: Context) -> Layout:
    """Read the day of a report, today where none is asked for, with what it is compared with."""
    compare_to = query.get("compare_to")
    day = query.get("as_of_date", context.today)
    return layouts.of_day(day, None if compare_to is None else CompareTo(compare_to))
