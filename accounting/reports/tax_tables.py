"""A summary of tax as a table."""

from collections.abc import Iterator

from accounting.books.tax_marks import TaxPart
from accounting.reports.tables import Row, Table
from accounting.tax.return_figures import CodeFigures, Figures

_HEADER = (
    *("row", "code", "name", "direction", "treatment", "tax_rate"),
    *(f"{part}_cents" for part in TaxPart),
    "amount_cents",
)


def of_summary(whole: Figures, preview: Figures) -> Table:
    """Write net and tax by code, amounts without a code, and the boxes of a return as a table."""
    return Table(_HEADER, (*_rows(whole, preview),))


def _rows(whole: Figures, preview: Figures) -> Iterator[Row]:
    nothing = (None,) * len(TaxPart)
    for each in whole.codes:
        yield ("code", *_code(each), *(each.parts.get(part, 0) for part in TaxPart), None)
    for account in whole.uncoded:
        yield ("uncoded", account.code, account.name, *(None,) * 3, *nothing, account.amount)
    for box in preview.boxes:
        yield ("box", box.number, None, *(None,) * 3, *nothing, box.amount)


def _code(figures: CodeFigures) -> Row:
    rate = f"{figures.rate.normalize():f}"
    return (figures.code, figures.name, figures.direction, figures.treatment, rate)
