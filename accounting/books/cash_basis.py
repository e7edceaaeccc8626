"""The cash basis: what of an entry counts when money moves, and which document each line is about.

The ledger itself is on accrual. An entry that only agrees something (an invoice, a bill, a credit,
a refund, what is written off) is not on cash; in any other a line that settles something is
replaced by the parts of what it settles, and all others stay. So what is taken back takes its
parts back, too, on its own day.
"""

from uuid import UUID

from accounting.books.ledger import Entry, Line
from accounting.books.splits import Split


def stays(entry: Entry, line: Line) -> bool:
    """Tell whether a line counts on cash as it is."""
    return entry.in_cash and not line.split


def parts(entry: Entry, line: Line) -> Split:
    """Say what counts on cash in the place of a line, with its sign.

    Of an invoice of 1000.00 and 200.00 tax 500.00 are paid: the credit of 500.00 on receivables is
    416.67 on sales and 83.33 on tax.
    """
    return line.split if entry.in_cash else ()


def document_of(entry: Entry, line: Line) -> UUID:
    """Say which document a line is about: what it says, else what it settles, else its source.

    What pays a refund, or writes an invoice off, is about that invoice.
    """
    own = line.about or line.settles or entry.source_id
    return entry.about.get(own, own)
