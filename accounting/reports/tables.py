"""Reports as tables: one header, rows of the same width, amounts in minor units."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from accounting.books.ledger import TaxPart
from accounting.reports.layouts import Layout, named
from accounting.reports.ledgers import LedgerRow, TrialRow
from accounting.reports.statements import Amounts, Statement
from accounting.tax.return_figures import CodeFigures, Figures

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A report as a table."""

    header: tuple[str, ...]
    rows: tuple[Row, ...]


def of_statement(
    statement: Statement, layout: Layout, *more: tuple[str, Amounts], detailed: bool
) -> Table:
    """Write a statement as a table.

    Each section has its accounts (if `detailed`) and then its total; the figures of the summary and
    of `more` come last. Sales of 100 and refunds of 5 are (line, revenue, 4000, Sales, 100), (line,
    revenue, 4100, Refunds, -5) and (total, revenue, , , 95).
    """
    header = ("row", "section", "account_code", "account_name", *_columns(layout))
    rows: list[Row] = []
    for name, section in statement.sections.items():
        for line in section.lines if detailed else ():
            code = line.account.code if line.account else None
            rows.append(("line", name, code, line.name, *_cells(layout, line.amounts)))
        rows.append(("total", name, None, None, *_cells(layout, section.totals)))
    for name, amounts in [*statement.summary.items(), *more]:
        rows.append(("summary", name, None, None, *_cells(layout, amounts)))
    return Table(header, tuple(rows))


def of_trial_balance(rows: Iterable[TrialRow]) -> Table:
    """Write a trial balance as a table."""
    header = (
        *("account_code", "account_name", "account_type", "account_subtype"),
        *("debit_cents", "credit_cents"),
    )
    return Table(header, tuple((*_account(row), row.debit, row.credit) for row in rows))


def of_general_ledger(rows: Iterable[LedgerRow]) -> Table:
    """Write a general ledger as a table."""
    header = (
        *("account_code", "account_name", "account_type", "account_subtype"),
        *("opening_cents", "debits_cents", "credits_cents", "closing_cents"),
    )
    cells = (
        (
            *(row.account.code, row.account.name),
            *(row.account.account_type, row.account.account_subtype),
            *(row.opening, row.debits, row.credits, row.closing),
        )
        for row in rows
    )
    return Table(header, tuple(cells))


def of_trends(layout: Layout, figures: Mapping[str, Amounts]) -> Table:
    """Write figures as a table, a row for each column: (2026-01-01, 2026-01-31, 100, 60, 40)."""
    header = ("start_date", "end_date", *(f"{name}_cents" for name in figures))
    told = [layout.told(amounts).columns for amounts in figures.values()]
    rows = (
        (column.first, column.last, *(amounts[place] for amounts in told))
        for place, column in enumerate(layout.columns)
    )
    return Table(header, tuple(rows))


def _account(row: TrialRow) -> Row:
    account = row.account
    if account is None:
        return (None, row.name, "equity", "retained_earnings")
    return (account.code, account.name, account.account_type, account.account_subtype)


def _columns(layout: Layout) -> list[str]:
    compared = [] if layout.previous is None else ["previous_cents", "difference_cents"]
    return ["value_cents", *named(layout.columns), *compared]


def _cells(layout: Layout, amounts: Amounts) -> list[int]:
    told = layout.told(amounts)
    compared = [each for each in (told.previous, told.difference) if each is not None]
    return [told.value, *told.columns, *compared]


# A summary of tax as a table.


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
