"""The PDF of an invoice for its customer."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from libraries.pdf_files.formats import Formats
from libraries.pdf_files.heads import Head
from libraries.pdf_files.papers import ForeignTax, Invoice, InvoiceLine, Style, TaxTotal
from libraries.pdf_files.sheet import FAINT, INK, NORMAL, SIDE, SMALL, Column, Row, Sheet
from libraries.pdf_files.words import words_of

SUMS: Final = 96.0  # The width in mm of the sums below the lines.
REVERSED: Final = "reverse_charge"
SUM_COLUMNS: Final = (Column("", text=True), Column(""))


def drawn(invoice: Invoice, style: Style) -> bytes:
    """Return the PDF of an invoice; equal invoices give equal bytes."""
    return _InvoiceSheet(invoice, style).drawn()


class _InvoiceSheet:
    """An invoice that is being drawn."""

    def __init__(self, invoice: Invoice, style: Style) -> None:
        self.invoice = invoice
        self.style = style
        self.words = words_of(style)
        self.formats = Formats(style)
        self.title = self.words.titles[invoice.state]
        named = f"{self.title} {invoice.number or ''}".strip()
        author = invoice.issuer.legal_name
        self.sheet = Sheet(named, author, style.language, invoice.written_at)

    def drawn(self) -> bytes:
        invoice = self.invoice
        head = Head(self.sheet, self.words, self.formats)
        head.draw(
            invoice.issuer,
            self.title,
            invoice.recipient,
            self.words.bill_to,
            list(self._facts()),
        )
        self._lines()
        self._sums()
        self._notes()
        return self.sheet.finish(head.foot(invoice.issuer), self.words.page)

    def _facts(self) -> Iterator[tuple[str, str]]:
        invoice, words, day = self.invoice, self.words, self.formats.day
        if invoice.number:
            yield words.number, invoice.number
        if invoice.issued_on is not None:
            yield words.issued_on, day(invoice.issued_on)
        if invoice.delivered_on is not None:
            yield words.delivered_on, day(invoice.delivered_on)
        if invoice.due_on is not None:
            yield words.due_on, day(invoice.due_on)
        if invoice.recipient.reference:
            yield words.reference, invoice.recipient.reference

    def _lines(self) -> None:
        """Draw the lines; discounts and taxes have a column if any line has one."""
        invoice, words = self.invoice, self.words
        reduced = any(line.discount for line in invoice.lines)
        taxed = any(line.rate is not None for line in invoice.lines)
        columns = [
            Column(words.item, text=True),
            Column(words.quantity),
            Column(words.unit_price),
            *([Column(words.discount)] if reduced else ()),
            *([Column(words.tax)] if taxed else ()),
            Column(words.amount),
        ]
        rows = [self._line(line, reduced=reduced, taxed=taxed) for line in invoice.lines]
        self.sheet.table(columns, rows)

    def _line(self, line: InvoiceLine, *, reduced: bool, taxed: bool) -> Row:
        write = self.formats
        discount = write.amount(-line.discount) if line.discount else ""
        rate = "" if line.rate is None else write.percent(line.rate)
        return Row(
            cells=[
                line.title,
                write.quantity(line.quantity),
                write.price(line.unit_price),
                *([discount] if reduced else ()),
                *([rate] if taxed else ()),
                write.amount(line.amount),
            ],
            note=line.details or "",
        )

    def _sums(self) -> None:
        """Draw the sums together below the lines on the right, the amount due last."""
        sheet, words = self.sheet, self.words
        sheet.rule(SIDE, sheet.right, INK)
        sheet.y += 2
        pattern = words.amounts_in_with_tax if self.invoice.prices_include_tax else words.amounts_in
        below = pattern.format(currency=self.style.currency)
        left = sheet.right - SUMS
        sheet.write(below, SIDE, size=SMALL, colour=FAINT)
        sheet.table(SUM_COLUMNS, list(self._sum_rows()), left=left, together=True)

    def _sum_rows(self) -> Iterator[Row]:
        invoice, words = self.invoice, self.words
        if invoice.taxes or invoice.discount or invoice.withheld:
            yield self._sum(words.subtotal, invoice.subtotal)
        if invoice.discount:
            yield self._sum(words.discount, -invoice.discount)
        for tax in invoice.taxes:
            yield self._sum(self._tax_name(tax), tax.tax)
        if invoice.withheld:
            yield self._sum(words.withheld, -invoice.withheld)
        yield self._sum(words.total, invoice.total, bold=True)
        for settlement in invoice.settlements:
            name = words.settled[settlement.by].format(day=self.formats.day(settlement.on))
            yield self._sum(name, -settlement.amount)
        yield self._sum(words.left, invoice.left, bold=True)

    def _sum(self, name: str, amount: int, *, bold: bool = False) -> Row:
        written = self.formats.money(amount)
        return Row(cells=[name, written], bold=bold, rule=INK if bold else None)

    def _tax_name(self, tax: TaxTotal) -> str:
        """Return the name of a tax: its rate or the reason for no tax, the net amount, and the
        code.
        """
        net = self.formats.money(tax.net)
        if tax.treatment in self.words.untaxed:
            name = self.words.untaxed[tax.treatment].format(net=net)
        elif tax.rate is None:
            name = self.words.tax_given.format(net=net)
        else:
            name = self.words.tax_of.format(rate=self.formats.percent(tax.rate), net=net)
        return f"{name} ({tax.code})" if tax.code else name

    def _notes(self) -> None:
        """Draw the foreign tax and the reverse charge, which the law requires, and the memo."""
        sheet, words = self.sheet, self.words
        if self.invoice.foreign is not None:
            sheet.y += 6
            sheet.paragraph(self._foreign_tax(self.invoice.foreign), SIDE, sheet.breadth)
        if any(tax.treatment == REVERSED for tax in self.invoice.taxes):
            sheet.y += 6
            sheet.paragraph(words.reverse_charge, SIDE, sheet.breadth)
        if self.invoice.memo:
            sheet.y += 6
            sheet.need(NORMAL)
            sheet.paragraph(words.memo, SIDE, sheet.breadth, size=SMALL, bold=True, colour=FAINT)
            sheet.y += 1
            sheet.paragraph(self.invoice.memo, SIDE, sheet.breadth)

    def _foreign_tax(self, foreign: ForeignTax) -> str:
        """Return the exchange rate and the tax in the currency of the books."""
        base = replace(self.style, currency=foreign.base_currency)
        return self.words.foreign_tax.format(
            currency=self.style.currency,
            rate=self.formats.quantity(foreign.rate),
            base=foreign.base_currency,
            tax=Formats(base).money(foreign.tax),
        )
