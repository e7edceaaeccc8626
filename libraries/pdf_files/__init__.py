"""PDF documents (printables) for people: values in, bytes out.

The package knows neither HTTP, SQL nor the business rules: the caller passes everything that is
printed. Any text is accepted. The drawing code is imported with the first document, which then
takes a quarter of a second and 28 MB more.
"""

from libraries.pdf_files.papers import (
    Cell,
    Days,
    ForeignTax,
    Invoice,
    InvoiceLine,
    InvoiceState,
    Issuer,
    Level,
    NamedTerm,
    Recipient,
    Report,
    ReportColumn,
    ReportRow,
    SettledBy,
    Settlement,
    Style,
    TaxTotal,
    Term,
)

__all__ = [
    "Cell",
    "Days",
    "ForeignTax",
    "Invoice",
    "InvoiceLine",
    "InvoiceState",
    "Issuer",
    "Level",
    "NamedTerm",
    "Recipient",
    "Report",
    "ReportColumn",
    "ReportRow",
    "SettledBy",
    "Settlement",
    "Style",
    "TaxTotal",
    "Term",
    "draw_invoice",
    "draw_report",
]


def draw_invoice(invoice: Invoice, style: Style) -> bytes:
    """Return the PDF of an invoice for its customer; equal invoices give equal bytes. It takes 30
    ms.
    """
    from libraries.pdf_files import invoices

    return invoices.drawn(invoice, style)


def draw_report(report: Report, style: Style) -> bytes:
    """Return the PDF of a report."""
    from libraries.pdf_files import reports

    return reports.drawn(report, style)
