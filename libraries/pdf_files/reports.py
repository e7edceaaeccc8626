"""The PDF of a report."""

from collections.abc import Sequence
from datetime import date, datetime
from itertools import zip_longest
from typing import Final

from libraries.pdf_files.formats import Formats
from libraries.pdf_files.heads import Head
from libraries.pdf_files.letters import width
from libraries.pdf_files.papers import Cell, Days, Level, NamedTerm, Report, ReportRow, Style, Term
from libraries.pdf_files.report_words import REPORT_LANGUAGES
from libraries.pdf_files.sheet import (
    BETWEEN,
    INK,
    LEAST_TEXT,
    LINE,
    SMALL,
    Column,
    Row,
    Sheet,
    breadth_of,
)
from libraries.pdf_files.words import words_of

READABLE: Final = 7.5  # Points; numbers are not drawn smaller, but continue on other pages.
INSET: Final = 4.0


def drawn(report: Report, style: Style) -> bytes:
    """Return the PDF of a report."""
    return _ReportSheet(report, style).drawn()


class _ReportSheet:
    """A report that is being drawn."""

    def __init__(self, report: Report, style: Style) -> None:
        self.report = report
        self.style = style
        self.words = words_of(style)
        self.terms = REPORT_LANGUAGES[style.language]
        self.formats = Formats(style)

    def drawn(self) -> bytes:
        report = self.report
        columns = [Column(self._title(each.title), each.text, each.left) for each in report.columns]
        rows = [
            self._row(row, summed=following is not None and following.level is Level.SUM)
            for row, following in zip_longest(report.rows, report.rows[1:])
        ]
        wide, bands = _bands(columns, rows)
        title = self.terms.terms[report.title]
        author = report.issuer.legal_name
        sheet = Sheet(title, author, self.style.language, report.written_at, wide=wide)
        facts = [(self.terms.terms[term], self._written(value)) for term, value in report.facts]
        head = Head(sheet, self.words, self.formats)
        head.draw(report.issuer, title, report.recipient, self.terms.terms[Term.CUSTOMER], facts)
        for place, band in enumerate(bands):
            if place:
                sheet.turn()
            sheet.table([columns[at] for at in band], [_of(row, band) for row in rows])
        return sheet.finish(head.foot(report.issuer), self.words.page)

    def _row(self, row: ReportRow, *, summed: bool) -> Row:
        """Convert a row; with `summed`, the row before a sum, it stays on the page of the sum."""
        cells = [self._written(cell) for cell in row.cells]
        match row.level:
            case Level.SECTION:
                return Row(cells=cells, bold=True, rule=None, space=2.5, keep_with_next=True)
            case Level.SUM:
                return Row(cells=[self.terms.sum(cells[0]), *cells[1:]], rule=LINE)
            case Level.RESULT:
                return Row(cells=cells, bold=True, rule=INK, space=1.5)
        inset = INSET if self.report.columns[0].text else 0
        return Row(cells=cells, rule=None, inset=inset, pad=0.7, keep_with_next=summed)

    def _written(self, value: Cell) -> str:
        match value:
            case None:
                return ""
            case Term():
                return self.terms.terms[value]
            case NamedTerm():
                return f"{self.terms.terms[value.term]} {value.name}"
            case str():
                return value
            case int():
                return self.formats.amount(value)
            case datetime():
                return self.formats.moment(value)
            case date():
                return self.formats.short_day(value)
            case Days():
                return self.formats.days(value)

    def _title(self, value: Cell) -> str:
        """Return the title of a column; a period breaks after its dash."""
        return self._written(value).replace("\u2009\u2013\u2009", " \u2013\n")


def _of(row: Row, band: Sequence[int]) -> Row:
    """Return a row with only the columns of a band."""
    return Row(
        cells=[row.cells[at] for at in band],
        bold=row.bold,
        rule=row.rule,
        space=row.space,
        inset=row.inset,
        pad=row.pad,
        keep_with_next=row.keep_with_next,
    )


def _bands(columns: Sequence[Column], rows: Sequence[Row]) -> tuple[bool, list[list[int]]]:
    """Return whether the pages are landscape, and the columns of each band.

    A band is a set of columns that fit side by side on a page. If all columns fit, there is one
    band.
    """
    numbers = [at for at, column in enumerate(columns) if not column.text]
    texts = [at for at, column in enumerate(columns) if column.text]
    widest = max((_widest(at, columns, rows) for at in numbers), default=0.0)
    for wide in (False, True):
        room = breadth_of(wide=wide) - LEAST_TEXT * len(texts)
        fitting = int(room // (widest + BETWEEN))
        if len(numbers) <= fitting:
            return wide, [list(range(len(columns)))]
    fitting = max(fitting, 1)
    cut = [numbers[at : at + fitting] for at in range(0, len(numbers), fitting)]
    return True, [[*texts, *band] for band in cut]


def _widest(at: int, columns: Sequence[Column], rows: Sequence[Row]) -> float:
    cells = max((width(row.cells[at], READABLE, bold=row.bold) for row in rows), default=0.0)
    titles = (width(line, SMALL, bold=True) for line in columns[at].title.split("\n"))
    return max(cells, *titles)
