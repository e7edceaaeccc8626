"""The statements that find what of the journal a return is made of.

A slice that has its days from their first entry on is found by day, by tax code or account; one
that goes on above a number is found by the numbers, which come later than what was filed: neither
reads what earlier returns have. Each ORDER BY and LIMIT keeps PostgreSQL from joining all lines
with all entries: it cannot know how few these are.
"""

from collections.abc import Iterable, Sequence
from uuid import UUID

from accounting.opening.opening_postings import OPENING
from accounting.tax.cash_schemes import Counted
from accounting.tax.returns import Slice
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.sql import Row

NO_END = 2**63 - 1

_SIDES = (RECEIVABLE, PAYABLE)
# What is posted for these counts on cash once it is settled,
DOCUMENTS = [
    source
    for side in _SIDES
    for source in (
        side.document_source,
        side.credit_source,
        side.refund_source,
        side.write_off_source,
    )
]
# which is on the day of these: their lines say which parts they settle. A write-off settles, too,
# and nothing is paid by it.
SETTLEMENTS = [
    source
    for side in _SIDES
    for source in (side.payment_source, side.credit_source, side.refund_payment_source)
]
# Where such lines stand.
SETTLED_ON = [role for side in _SIDES for role in (side.control, side.credits, side.refunds)]

_LINE = """id, entry_id, entry_date, account_id, debit, credit, split, tax_code_id, tax_rate,
           tax_part"""
_BY_DAY = f"""
    SELECT line.*, entry.source_type, slice.late
    FROM unnest(
      %(day_firsts)s::date[], %(day_lasts)s::date[], %(day_uptos)s::bigint[],
      %(day_lates)s::boolean[]
    ) AS slice (first, last, upto, late)
    CROSS JOIN LATERAL (
      SELECT {_LINE} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s
        AND journal_line.entry_date BETWEEN slice.first AND slice.last AND <which>
      ORDER BY journal_line.entry_date
    ) AS line
    CROSS JOIN LATERAL (
      SELECT source_type FROM journal_entry
      WHERE journal_entry.business_id = %(business_id)s AND journal_entry.id = line.entry_id
        AND journal_entry.place <= slice.upto AND journal_entry.source_type <> %(opening)s
      LIMIT 1
    ) AS entry"""
_BY_NUMBER = f"""
    SELECT line.*, entry.source_type, slice.late
    FROM unnest(
      %(series)s::text[], %(firsts)s::date[], %(lasts)s::date[], %(afters)s::bigint[],
      %(uptos)s::bigint[], %(lates)s::boolean[]
    ) AS slice (series, first, last, after, upto, late)
    CROSS JOIN LATERAL (
      SELECT id, source_type FROM journal_entry
      WHERE journal_entry.business_id = %(business_id)s
        AND journal_entry.series = slice.series
        AND journal_entry.place > slice.after AND journal_entry.place <= slice.upto
        AND journal_entry.entry_date BETWEEN slice.first AND slice.last
        AND journal_entry.source_type <> %(opening)s
      ORDER BY journal_entry.place
    ) AS entry
    CROSS JOIN LATERAL (
      SELECT {_LINE} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND journal_line.entry_id = entry.id
        AND <which>
      ORDER BY journal_line.line_number
    ) AS line"""


def _lines(which: str) -> str:
    """The lines of the slices that fulfil a condition."""
    both = f"{_BY_DAY} UNION ALL {_BY_NUMBER}"
    return both.replace("<which>", which)


# What a line itself is, and what a settling line says of the parts that it settles.
_MARKED = f"""
  SELECT tax_code_id AS code_id, tax_rate AS rate, tax_part AS part, late, debit, credit
  FROM ({_lines("tax_code_id = ANY(%(codes)s::uuid[])")}) AS marked
  WHERE tax_code_id = ANY(%(when_posted)s::uuid[]) OR source_type <> ALL(%(documents)s::text[])"""
_SETTLED = f"""
  SELECT (share->>2)::uuid, (share->>3)::numeric, share->>4, late,
         greatest((share->>1)::bigint, 0), greatest(-(share->>1)::bigint, 0)
  FROM ({_lines("account_id = ANY(%(settled_on)s::uuid[]) AND split <> '[]'")}) AS settling
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  WHERE source_type = ANY(%(settlements)s::text[])
    AND (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""
_ADDED = """
SELECT code_id, trim_scale(rate)::text AS rate, part, late,
       sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
FROM (<lines>) AS line
GROUP BY code_id, rate, part, late
ORDER BY code_id, rate, part, late"""

WHEN_POSTED = _ADDED.replace("<lines>", _MARKED)
BOTH = _ADDED.replace("<lines>", f"{_MARKED} UNION ALL {_SETTLED}")

# What moved on the accounts for tax without a code.
UNCODED = f"""
SELECT account.id AS account_id, account.code, account.name, moved.amount
FROM (
  SELECT account_id, sum(debit - credit)::bigint AS amount
  FROM ({_lines("account_id = ANY(%(accounts)s::uuid[]) AND tax_code_id IS NULL")}) AS line
  GROUP BY account_id
) AS moved
JOIN account ON account.business_id = %(business_id)s AND account.id = moved.account_id
WHERE moved.amount <> 0
ORDER BY account.code, account.id"""

# What stands on some accounts at the end of a day; an index covers it.
HELD = """
SELECT account_id, sum(debit - credit)::bigint AS net
FROM journal_line
WHERE journal_line.business_id = %(business_id)s AND account_id = ANY(%(accounts)s::uuid[])
  AND entry_date <= %(end_date)s
GROUP BY account_id"""

REACHED = """
SELECT series, last FROM number_series
WHERE number_series.business_id = %(business_id)s AND series LIKE 'JE-%%'"""


def sliced(slices: Iterable[Slice]) -> Row:
    """The parameters that say which slices are read."""
    slices = list(slices)
    by_day = [each for each in slices if not each.after]
    by_number = [each for each in slices if each.after]
    return {
        **_days("day_", by_day),
        **_days("", by_number),
        "opening": OPENING,  # What was declared before the books began.
        "series": [each.series for each in by_number],
        "afters": [each.after for each in by_number],
    }


def counting(counted: Counted, settled_on: Sequence[UUID]) -> Row:
    """The parameters that say what makes amounts count."""
    return {
        "codes": [*counted.when_posted, *counted.when_settled],
        "when_posted": list(counted.when_posted),
        "when_settled": list(counted.when_settled),
        "documents": DOCUMENTS,
        "settlements": SETTLEMENTS,
        "settled_on": list(settled_on),
    }


def _days(prefix: str, slices: Sequence[Slice]) -> Row:
    return {
        f"{prefix}firsts": [each.first for each in slices],
        f"{prefix}lasts": [each.last for each in slices],
        f"{prefix}uptos": [NO_END if each.upto is None else each.upto for each in slices],
        f"{prefix}lates": [each.late for each in slices],
    }
