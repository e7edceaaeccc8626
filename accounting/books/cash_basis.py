"""The cash basis: what of an entry counts when money moves, and the document of each line.

The ledger itself is on the accrual basis. An entry that only records an obligation (an invoice, a
bill, a credit, a refund, a write-off) does not count on the cash basis. In any other entry a line
that settles a document is replaced by the parts that it settles, and all other lines stay. A
reversal therefore reverses these parts, too, on its own day.
"""

from uuid import UUID

from accounting.books.ledger import Entry, Line
from accounting.books.splits import Split


def stays(entry: Entry, line: Line) -> bool:
    """Return whether a line counts on the cash basis as it is."""
    return entry.in_cash and not line.split


def parts(entry: Entry, line: Line) -> Split:
    """Return the parts that count on the cash basis in place of a line, with their sign.

    If 500.00 is paid of an invoice of 1000.00 and 200.00 tax, the credit of 500.00 on receivables
    counts as 416.67 on sales and 83.33 on tax.
    """
    return line.split if entry.in_cash else ()


def document_of(entry: Entry, line: Line) -> UUID:
    """Return the id of the document of a line: `about`, else what it settles, else its source.

    The payment of a refund, or the write-off of an invoice, belongs to that invoice.
    """
    own = line.about or line.settles or entry.source_id
    return entry.about.get(own, own)
