"""Customer statements as PDF documents."""

from collections.abc import Iterator
from datetime import date
from typing import Final

from accounting.trade.parties import Customer
from accounting.trade.party_statements import PartyStatement, StatementLine
from accounting.trade.sides import RECEIVABLE
from handlers.results import Pdf
from handlers.shared.letterheads import issuer_of, recipient_of, style_of
from libraries.pdf_files import (
    Cell,
    Days,
    Level,
    NamedTerm,
    Report,
    ReportColumn,
    ReportRow,
    Term,
    draw_report,
)
from persistence.books import Books
from persistence.partners.letterheads import letterhead_of

TERMS: Final = {
    RECEIVABLE.document_source: Term.INVOICE,
    RECEIVABLE.payment_source: Term.PAYMENT,
    RECEIVABLE.credit_source: Term.CREDIT,
    RECEIVABLE.write_off_source: Term.WRITE_OFF,
    RECEIVABLE.refund_source: Term.REFUND,
    RECEIVABLE.refund_payment_source: Term.REFUND,
    "opening_balance": Term.INVOICE,
}
"""Terms for lines by source; other lines show the description of their entry."""

COLUMNS: Final = (
    ReportColumn(Term.DATE, left=True),
    ReportColumn(Term.DETAILS, text=True),
    ReportColumn(Term.AMOUNT),
    ReportColumn(Term.BALANCE),
)


async def paper_of(
    books: Books,
    customer: Customer,
    days: tuple[date | None, date],
    found: PartyStatement,
    file_name: str,
) -> Pdf:
    """Return a statement as a PDF, which is laid out only when it is drawn.

    The letterhead is read now, since the books are closed by then.
    """
    letterhead = await letterhead_of(books)
    currency, now, today = books.currency, books.now, books.context.today

    def draw() -> bytes:
        report = Report(
            issuer=issuer_of(letterhead),
            recipient=recipient_of(customer),
            title=Term.STATEMENT,
            facts=[
                (Term.PERIOD if days[0] else Term.AS_OF, Days(*days)),
                (Term.CURRENCY, currency),
                (Term.DRAWN_ON, today),
                (Term.CLOSING_BALANCE, found.closing),
            ],
            columns=COLUMNS,
            rows=list(_rows(found)),
            written_at=now,
        )
        return draw_report(report, style_of(letterhead, currency))

    return Pdf(file_name, draw)


def _rows(found: PartyStatement) -> Iterator[ReportRow]:
    yield ReportRow([None, Term.OPENING_BALANCE, None, found.opening], Level.RESULT)
    for line, owed in found.lines:
        yield ReportRow([line.entry_date, _details(line), line.amount, owed])
    yield ReportRow([None, Term.CLOSING_BALANCE, None, found.closing], Level.RESULT)
    if found.unapplied:
        yield ReportRow([None, Term.UNAPPLIED, None, found.unapplied])


def _details(line: StatementLine) -> Cell:
    """Return the name of a line: its source and the invoice that it belongs to."""
    term = TERMS.get(line.source_type)
    if term is None:
        return line.description
    return NamedTerm(term, line.document_number) if line.document_number else term
