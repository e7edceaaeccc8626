"""Invoices as PDF documents, composed from stored data."""

import re
from collections.abc import Collection, Iterator
from dataclasses import replace
from datetime import date
from functools import partial
from uuid import UUID

from accounting.books.record_rates import in_major_units
from accounting.tax.codes import UNTAXED, TaxCode, TaxCodes, Treatment
from accounting.trade import documents
from accounting.trade.documents import Document, LineItem
from accounting.trade.line_items import by_code
from accounting.trade.parties import Customer
from handlers.results import Pdf
from handlers.shared.letterheads import issuer_of, recipient_of, style_of
from libraries.pdf_files import (
    ForeignTax,
    Invoice,
    InvoiceLine,
    InvoiceState,
    SettledBy,
    Settlement,
    TaxTotal,
    draw_invoice,
)
from persistence.books import Books
from persistence.partners.letterheads import Letterhead, letterhead_of
from persistence.trade.document_settlements import Settlements

UNRATED = (UNTAXED | {Treatment.REVERSE_CHARGE}) - {Treatment.ZERO}
"""Lines with these treatments have no tax rate."""

NOT_IN_FILE_NAMES = re.compile(r"[^a-z0-9._-]+")
LONGEST_FILE_NAME = 100

Codes = dict[UUID, TaxCode]


async def read(books: Books, id: UUID) -> Pdf:
    """Read an invoice and all data for its PDF document; raises NotFound."""
    books.pin_snapshot()
    found, letterhead, codes = await books.fetch(
        books.invoices.shown(id), letterhead_of(books), books.tax_codes.all()
    )
    document, settlements = found.document, found.settlements
    held = [each.payment_id for each in settlements.payments if document.reserved]
    customer, payments = await books.fetch(
        books.customers.get(document.party.id), books.invoice_payments.by_ids(held)
    )
    waiting = {each.id for each in payments if each.status != "completed"}
    due_at = document.due_at
    due_on = None if due_at is None else books.context.day_of(due_at)
    settled = _settled(settlements, waiting)
    foreign = _foreign_tax(document, books.currency)
    paper = _paper(document, due_on, letterhead, customer.trader, codes, settled)
    style = style_of(letterhead, document.currency)
    drawn = partial(draw_invoice, replace(paper, foreign=foreign), style)
    return Pdf(_file_name(document), drawn)


def _paper(
    document: Document,
    due_on: date | None,
    letterhead: Letterhead,
    customer: Customer,
    codes: TaxCodes,
    settled: Iterator[Settlement],
) -> Invoice:
    by_id = {each.id: each for each in codes.codes}
    return Invoice(
        issuer=issuer_of(letterhead),
        recipient=recipient_of(customer),
        number=document.number if isinstance(document.number, str) else None,
        state=InvoiceState(document.state),
        issued_on=document.issue_date or document.opened_on,
        delivered_on=document.delivery_date,
        due_on=due_on,
        prices_include_tax=document.amounts_include_tax,
        lines=[_line(line, by_id) for line in document.lines],
        subtotal=document.subtotal,
        discount=document.additional_discount,
        taxes=list(_taxes(document, by_id)),
        withheld=documents.withheld(document),
        total=document.total_amount,
        settlements=list(settled),
        left=documents.outstanding(document),
        memo=document.memo,
        written_at=document.updated_at,
    )


def _foreign_tax(document: Document, base_currency: str) -> ForeignTax | None:
    """Return the rate and the base tax of a foreign invoice; None in base and on a draft."""
    worth = document.worth
    if worth is None or worth.base_total is None:
        return None
    rate = in_major_units(worth.rate, document.currency, base_currency)
    return ForeignTax(base_currency, rate, documents.base_tax(document))


def _line(line: LineItem, codes: Codes) -> InvoiceLine:
    code = None if line.tax_code_id is None else codes[line.tax_code_id]
    unrated = code is not None and code.treatment in UNRATED
    title = line.description or line.product or ""
    return InvoiceLine(
        title=title,
        details=line.product if line.product != title else None,
        quantity=line.quantity,
        unit_price=line.price,
        discount=line.discount_amount,
        rate=None if unrated else line.tax_rate,
        amount=line.priced,
    )


def _taxes(document: Document, codes: Codes) -> Iterator[TaxTotal]:
    for total in by_code(document):
        code = None if total.code_id is None else codes[total.code_id]
        yield TaxTotal(
            code=None if code is None else code.code,
            treatment=None if code is None else code.treatment.value,
            rate=total.rate,
            net=total.net,
            tax=total.tax,
        )


def _settled(settlements: Settlements, waiting: Collection[UUID]) -> Iterator[Settlement]:
    """List settlements by date; payments that are not completed are left out."""
    paid = [
        Settlement(SettledBy.PAYMENT, each.payment_date, each.amount_cents)
        for each in settlements.payments
        if each.payment_id not in waiting
    ]
    credited = [
        Settlement(SettledBy.CREDIT, each.applied_on, each.amount_cents)
        for each in settlements.credits
    ]
    given_up = [
        Settlement(SettledBy.WRITE_OFF, each.written_off_on, each.amount_cents)
        for each in settlements.write_offs
    ]
    return iter(sorted([*paid, *credited, *given_up], key=lambda each: each.on))


def _file_name(document: Document) -> str:
    """Return the file name from the number, in characters safe on all systems: inv-000042.pdf."""
    number = document.number if isinstance(document.number, str) else "draft"
    name = NOT_IN_FILE_NAMES.sub("-", number.lower())[:LONGEST_FILE_NAME].strip("-.")
    return f"{name or 'invoice'}.pdf"
