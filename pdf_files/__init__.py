"""Draws papers for people as PDF: values in, bytes out.

It knows neither HTTP nor SQL nor the rules: whoever asks for a paper says all that stands on it.
Texts may be anything, and none makes it fail. What draws is imported by the first paper, and takes
a quarter of a second and 28 MB then.
"""

from pdf_files.papers import (
    Cell,
    Days,
    Invoice,
    InvoiceLine,
    InvoiceState,
    Issuer,
    Level,
    Named,
    Recipient,
    Report,
    ReportColumn,
    ReportRow,
    Settled,
    Settlement,
    Style,
    TaxTotal,
    Term,
)

__all__ = [
    "Cell",
    "Days",
    "Invoice",
    "InvoiceLine",
    "InvoiceState",
    "Issuer",
    "Level",
    "Named",
    "Recipient",
    "Report",
    "ReportColumn",
    "ReportRow",
    "Settled",
    "Settlement",
    "Style",
    "TaxTotal",
    "Term",
    "draw_invoice",
    "draw_report",
]


def draw_invoice(invoice: Invoice, style: Style) -> bytes:
    """Draw an invoice for its customer, which takes 30 ms; the same one has the same bytes."""
    from pdf_files import invoices

    return invoices.drawn(invoice, style)


def draw_report(report: Report, style: Style) -> bytes:
    """Draw a report."""
    from pdf_files import reports

    return reports.drawn(report, style)
