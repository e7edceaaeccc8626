"""Financial statements as PDF documents: their sections and results."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Final

from accounting.books.periods import Period
from accounting.reports.balance_sheets import CURRENT_YEAR, EARLIER_YEARS
from accounting.reports.layouts import Layout
from accounting.reports.statements import Amounts, Line, Statement
from handlers.reports.report_requests import ReportRequest
from handlers.reports.report_responses import ReportPresenter
from handlers.results import Pdf
from handlers.shared.letterheads import issuer_of, style_of
from libraries.pdf_files import (
    Cell,
    Days,
    Level,
    Report,
    ReportColumn,
    ReportRow,
    Term,
    draw_report,
)
from persistence.partners.letterheads import Letterhead, letterhead_of

STEPS: Final[Mapping[Term, tuple[Term, ...]]] = {
    Term.PROFIT_AND_LOSS: (
        *(Term.REVENUE, Term.OTHER_OPERATING_INCOME, Term.TOTAL_OPERATING_INCOME),
        *(Term.DIRECT_COSTS, Term.GROSS_PROFIT),
        *(Term.OPERATING_EXPENSES, Term.OPERATING_PROFIT),
        *(Term.FINANCE_INCOME, Term.FINANCE_COSTS, Term.PROFIT_BEFORE_TAX),
        *(Term.INCOME_TAX, Term.NET_PROFIT),
    ),
    Term.BALANCE_SHEET: (
        *(Term.NON_CURRENT_ASSETS, Term.CURRENT_ASSETS, Term.TOTAL_ASSETS),
        *(Term.CURRENT_LIABILITIES, Term.NON_CURRENT_LIABILITIES, Term.TOTAL_LIABILITIES),
        Term.NET_ASSETS,
        *(Term.SHARE_CAPITAL, Term.SHARE_PREMIUM, Term.RESERVES, Term.RETAINED_EARNINGS),
        Term.TOTAL_EQUITY,
    ),
}
"""The rows of each statement, top to bottom: sections, and figures of the summary."""

COMPUTED: Final = {EARLIER_YEARS: Term.EARLIER_YEARS, CURRENT_YEAR: Term.CURRENT_YEAR}


async def paper_of(title: Term, statement: Statement, shown: ReportPresenter) -> Pdf:
    """Return a statement as a PDF, which is laid out only when it is drawn.

    The letterhead is read now, since the books are closed by then.
    """
    books = shown.asked.books
    letterhead = await letterhead_of(books)
    style = style_of(letterhead, books.currency)
    paper = _Paper(title, statement, shown.asked, shown.layout, letterhead)
    file_name = shown.file_name(title.value.replace("_", "-"), "pdf")
    return Pdf(file_name, lambda: draw_report(paper.report(), style))


@dataclass(frozen=True, slots=True)
class _Paper:
    """A statement to be laid out as a PDF document."""

    title: Term
    statement: Statement
    asked: ReportRequest
    layout: Layout
    letterhead: Letterhead

    def report(self) -> Report:
        """Build the report to be drawn."""
        return Report(
            issuer=issuer_of(self.letterhead),
            title=self.title,
            facts=list(self._facts()),
            columns=list(self._columns()),
            rows=[row for step in STEPS[self.title] for row in self._step(step)],
            written_at=self.asked.books.now,
        )

    def _facts(self) -> Iterator[tuple[Term, Cell]]:
        cut, whole = self.asked.cut, _days(self.layout.whole)
        yield Term.AS_OF if whole.first is None else Term.PERIOD, whole
        if self.layout.previous is not None:
            yield Term.COMPARED_WITH, _days(self.layout.previous)
        yield Term.BASIS, Term(cut.basis.value)
        if cut.tag is not None or cut.untagged:
            yield Term.TAG, Term.UNTAGGED if cut.untagged else cut.tag
        if cut.known_at is not None:
            yield Term.KNOWN_AT, cut.known_at
        yield Term.CURRENCY, self.asked.books.currency
        yield Term.DRAWN_ON, self.asked.books.context.today

    def _columns(self) -> Iterator[ReportColumn]:
        """Return the columns: account, periods, total and comparison."""
        layout = self.layout
        yield ReportColumn(Term.ACCOUNT, text=True)
        for column in layout.columns:
            yield ReportColumn(_days(column))
        yield ReportColumn(Term.TOTAL if layout.columns else _days(layout.whole))
        if layout.previous is not None:
            yield ReportColumn(_days(layout.previous))
            yield ReportColumn(Term.DIFFERENCE)

    def _step(self, step: Term) -> Iterator[ReportRow]:
        """Lay out a section that has lines, or a result of the summary."""
        section = self.statement.sections.get(step.value)
        if section is None:
            yield self._row(step, self.statement.summary[step.value], Level.RESULT)
        elif not self.asked.detailed:
            yield self._row(step, section.totals)
        elif section.lines:
            nothing = [None] * (1 + len(self.layout.periods) + (self.layout.previous is not None))
            yield ReportRow([step, *nothing[1:]], Level.SECTION)
            for line in section.lines:
                yield self._row(_name(line), line.amounts)
            yield self._row(step, section.totals, Level.SUM)

    def _row(self, name: Cell, amounts: Amounts, level: Level = Level.LINE) -> ReportRow:
        told = self.layout.told(amounts)
        compared = () if told.previous is None else (told.previous, told.difference)
        return ReportRow([name, *told.columns, told.value, *compared], level)


def _days(period: Period) -> Days:
    """Return the days of a period; a balance of a day has no first day."""
    return Days(None if period.first == date.min else period.first, period.last)


def _name(line: Line) -> Cell:
    """Return the name of a line: its account, code first, or the computed figure."""
    if line.account is None:
        return COMPUTED.get(line.name, line.name)
    return f"{line.account.code}  {line.name}"
