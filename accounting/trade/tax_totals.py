"""Tax totals of a document, one for each code and rate."""

from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from accounting.trade.documents import Document, LineItem

Taxed = tuple[UUID | None, Decimal | None]
"""A code and a rate; tax that was given without a code has neither."""


@dataclass(frozen=True, slots=True)
class CodeTotal:
    """The tax of one code and rate, and the net of the lines that have it."""

    code_id: UUID | None
    rate: Decimal | None
    net: int
    tax: int


def by_code(document: Document) -> tuple[CodeTotal, ...]:
    """Sum the taxes of a document by code and rate, in the order of its lines.

    Nets are less each line's share of the document discount: lines of 1000 and 500 at 20 % and one
    of 100 at 0 % are 300 on 1500, and 0 on 100. A line without any tax or rate is omitted.
    """
    totals: dict[Taxed, CodeTotal] = {}
    for line in document.lines:
        taxes: dict[Taxed, int] = {}
        for taxed, amount in _taxes(line):
            taxes[taxed] = taxes.get(taxed, 0) + amount
        for (code_id, rate), amount in taxes.items():
            before = totals.get((code_id, rate), CodeTotal(code_id, rate, 0, 0))
            net, tax = before.net + line.net, before.tax + amount
            totals[code_id, rate] = CodeTotal(code_id, rate, net, tax)
    return tuple(totals.values())


def _taxes(line: LineItem) -> Iterator[tuple[Taxed, int]]:
    for tax in line.taxes:
        if tax.mark is not None:
            yield (tax.mark.code_id, tax.mark.rate), tax.amount
        else:
            yield (None, None if line.taxes_given else line.tax_rate), tax.amount
    if not line.taxes and line.tax_rate is not None:
        yield (line.tax_code_id, line.tax_rate), 0
