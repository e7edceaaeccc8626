"""The statements that find what of the journal a return is made of.

A slice that has its days from their first entry on is read from months, where all documents are on
its scheme and it has no end; the entries beside them, which are not rolled up yet or were not known
then, and the days that are left, are read by line. Else it is found by day, by tax code or account.
One that goes on above a number is found by the numbers, which come later than what was filed: none
reads what earlier returns have. Each ORDER BY and LIMIT keeps PostgreSQL from joining all lines
with all entries: it cannot know how few these are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from accounting.books.chart import Role, Roles
from accounting.books.periods import Period, month_end, pieces
from accounting.opening.opening_postings import OPENING
from accounting.tax.cash_schemes import Counted
from accounting.tax.returns import Slice
from accounting.trade.sides import PAYABLE, RECEIVABLE
from persistence.engine.sql import Row
from persistence.tax.document_schemes import (
    MOVES,
    OWNER,
    POSTED_COUNTS,
    SETTLED_COUNTS,
    about,
    parameters,
    uptos,
)

ALWAYS: Final = datetime.max.replace(tzinfo=UTC)

# Where such lines stand, and where those do that say what came with the opening of the books.
OPENED_ON = [Role.OPENING_BALANCE_EQUITY]
SETTLED_ON = [
    role for side in (RECEIVABLE, PAYABLE) for role in (side.control, side.credits, side.refunds)
]

_AMOUNT = "account_id, debit, credit, split, tax_code_id, tax_rate, tax_part"
_SUMMED = f"{_AMOUNT}, source_type, late, sign"
_LINE = f"id, entry_id, entry_date, settles_id, {_AMOUNT}"
_OF_ENTRY = "entry.source_type, entry.source_id, entry.place"
_OF_SLICE = "slice.late, slice.scheme, slice.change, {sign} AS sign"
# Days that are whole months, once for each slice.
_MONTHS = """unnest(
      %(month_firsts)s::date[], %(month_lasts)s::date[], %(month_lates)s::boolean[],
      %(month_schemes)s::text[], %(month_changes)s::date[]
    ) AS slice (first, last, late, scheme, change)"""
_BY_DAY = f"""
    SELECT line.*, {_OF_ENTRY}, {_OF_SLICE.format(sign="slice.sign")}
    FROM unnest(
      %(day_firsts)s::date[], %(day_lasts)s::date[], %(day_uptos)s::bigint[],
      %(day_lates)s::boolean[], %(day_schemes)s::text[], %(day_changes)s::date[],
      %(day_signs)s::int[]
    ) AS slice (first, last, upto, late, scheme, change, sign)
    CROSS JOIN LATERAL (
      SELECT {_LINE} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s
        AND journal_line.entry_date BETWEEN slice.first AND slice.last AND <which>
      ORDER BY journal_line.entry_date
    ) AS line
    CROSS JOIN LATERAL (
      SELECT source_type, source_id, place FROM journal_entry
      WHERE journal_entry.business_id = %(business_id)s AND journal_entry.id = line.entry_id
        AND journal_entry.place <= slice.upto AND journal_entry.source_type <> %(opening)s
        AND journal_entry.posted_at <= %(known_at)s
      LIMIT 1
    ) AS entry"""
_BY_NUMBER = f"""
    SELECT line.*, {_OF_ENTRY}, {_OF_SLICE.format(sign="1")}
    FROM unnest(
      %(series)s::text[], %(firsts)s::date[], %(lasts)s::date[], %(afters)s::bigint[],
      %(uptos)s::bigint[], %(lates)s::boolean[], %(schemes)s::text[], %(changes)s::date[]
    ) AS slice (series, first, last, after, upto, late, scheme, change)
    CROSS JOIN LATERAL (
      SELECT id, source_type, source_id, place FROM journal_entry
      WHERE journal_entry.business_id = %(business_id)s
        AND journal_entry.series = slice.series
        AND journal_entry.place > slice.after AND journal_entry.place <= slice.upto
        AND journal_entry.entry_date BETWEEN slice.first AND slice.last
        AND journal_entry.source_type <> %(opening)s
        AND journal_entry.posted_at <= %(known_at)s
      ORDER BY journal_entry.place
    ) AS entry
    CROSS JOIN LATERAL (
      SELECT {_LINE} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND journal_line.entry_id = entry.id
        AND <which>
      ORDER BY journal_line.line_number
    ) AS line"""
# What the months do not have yet, and what they have that was not known then: looked at once, since
# it may be all that was posted since. GREATEST stands for COALESCE, and the + 0 keeps entries from
# being found by day, as in `persistence.ledger`.
_BESIDE_MONTHS = f"""
WITH beside AS MATERIALIZED (
    SELECT {_SUMMED}
    FROM (
      SELECT waiting.*, 1 AS sign
      FROM number_series
      CROSS JOIN LATERAL (
        SELECT id, source_type, entry_date FROM journal_entry
        WHERE journal_entry.business_id = %(business_id)s
          AND journal_entry.series = number_series.series
          AND journal_entry.place > greatest(number_series.rolled_up, 0)
        ORDER BY journal_entry.place
      ) AS waiting
      WHERE number_series.business_id = %(business_id)s AND number_series.series LIKE 'JE-%%'
      UNION ALL
      SELECT later.*, -1
      FROM (
        SELECT id, source_type, entry_date FROM journal_entry
        WHERE journal_entry.business_id = %(business_id)s
          AND journal_entry.posted_at > %(known_at)s
          AND journal_entry.entry_date + 0 BETWEEN %(earliest)s AND %(latest)s
        ORDER BY journal_entry.posted_at
      ) AS later
    ) AS entry
    JOIN {_MONTHS} ON entry.entry_date BETWEEN slice.first AND slice.last
    CROSS JOIN LATERAL (
      SELECT {_AMOUNT} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND journal_line.entry_id = entry.id
        AND (<which>)
      ORDER BY journal_line.line_number
    ) AS line
    WHERE entry.source_type <> %(opening)s
)"""


def _lines(which: str) -> str:
    """The lines of the slices that fulfil a condition."""
    return f"{_BY_DAY} UNION ALL {_BY_NUMBER}".replace("<which>", which)


def _lines_of_all(which: str) -> str:
    """The same, of slices that are read from months, with what is beside these."""
    return f"""
    SELECT {_SUMMED} FROM ({_lines(which)}) AS line
    UNION ALL
    SELECT {_SUMMED} FROM beside WHERE {which}"""


# By their full names: within a condition others are called alike.
_COLUMNS = {
    "source": "line.source_type",
    "source_id": "line.source_id",
    "settles_id": "line.settles_id",
    "day": "line.entry_date",
    "place": "line.place",
    "scheme": "line.scheme",
    "change": "line.change",
}
_IS_MARKED = "tax_code_id = ANY(%(codes)s::uuid[])"
_SETTLES = "account_id = ANY(%(settled_on)s::uuid[]) AND split <> '[]'"
# Which of these count: not what is posted for a document that counts as it is settled.
_COUNTS_ITSELF = (
    "(tax_code_id = ANY(%(when_posted)s::uuid[]) OR source_type <> ALL(%(documents)s::text[]))"
)
_COUNTS_AS_SETTLED = "source_type = ANY(%(settlements)s::text[])"
_IS_UNCODED = "account_id = ANY(%(accounts)s::uuid[]) AND tax_code_id IS NULL"
# What months say of a code: when what it brings was posted, or when it was paid.
_OF_MONTHS = """
  SELECT tax_month.tax_code_id AS code_id, tax_month.tax_rate AS rate, tax_month.tax_part AS part,
         slice.late, CASE WHEN counted.itself THEN debits ELSE cash_debits END AS debit,
         CASE WHEN counted.itself THEN credits ELSE cash_credits END AS credit
  FROM <months>
  JOIN tax_month ON tax_month.business_id = %(business_id)s
    AND tax_month.month BETWEEN slice.first AND slice.last
  CROSS JOIN LATERAL (
    SELECT tax_month.tax_code_id = ANY(%(when_posted)s::uuid[]) AS itself
  ) AS counted
  WHERE tax_month.tax_code_id = ANY(%(codes)s::uuid[])""".replace("<months>", _MONTHS)
# What a line itself is, and what a settling line says of the parts that it settles.
_MARKED = f"""
  SELECT tax_code_id AS code_id, tax_rate AS rate, tax_part AS part, late,
         sign * debit AS debit, sign * credit AS credit
  FROM (<lines>) AS line
  WHERE {_COUNTS_ITSELF}"""
# With those that settle nothing, of what came with the opening of the books.
_OF_ALL_SPLITS = _lines("""account_id = ANY(%(settled_on)s::uuid[] || %(opened_on)s::uuid[])
        AND split <> '[]'""")
_SETTLED = f"""
  SELECT (share->>2)::uuid, (share->>3)::numeric, share->>4, late,
         sign * greatest((share->>1)::bigint, 0), sign * greatest(-(share->>1)::bigint, 0)
  FROM ({_lines_of_all(_SETTLES)}) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  WHERE {_COUNTS_AS_SETTLED} AND (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""


def _owner(subject: str) -> str:
    return about(OWNER, {**_COLUMNS, "id": subject})


# Each line is looked at once.
_COUNTING = f"""
    SELECT line.* FROM ({_OF_ALL_SPLITS}) AS line
    WHERE {about(SETTLED_COUNTS, _COLUMNS)} OFFSET 0"""
# Of a transition what settles, write-offs too, and what came with the opening of the books: it has
# no mark, and tells its parts.
_SUBJECT = "coalesce(line.settles_id, line.source_id)"
_MOVING = f"""
    SELECT line.*, {_owner(_SUBJECT)} AS owner_id,
           CASE WHEN line.settles_id IS NULL THEN 1 ELSE -1 END AS way
    FROM ({_OF_ALL_SPLITS}) AS line
    WHERE line.source_type = ANY(CASE WHEN line.settles_id IS NULL THEN %(documents)s::text[]
        ELSE %(settlements)s::text[] || %(write_offs)s::text[] END)
      AND {about(MOVES, {**_COLUMNS, "id": _SUBJECT})} OFFSET 0"""


# Both again, where the scheme of each document is asked for.
_MARKED_BY_SCHEME = (
    f"{_MARKED.replace('<lines>', _lines(_IS_MARKED))} OR {about(POSTED_COUNTS, _COLUMNS)}"
)
_SETTLED_BY_SCHEME = f"""
  SELECT (share->>2)::uuid, (share->>3)::numeric, share->>4, late,
         greatest(amount, 0), greatest(-amount, 0)
  FROM ({_COUNTING}) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  CROSS JOIN LATERAL (
    SELECT CASE WHEN source_type = ANY(%(write_offs)s) THEN -1 ELSE 1 END
           * (share->>1)::bigint AS amount
  ) AS signed
  WHERE (share->>2)::uuid = ANY(%(when_settled)s::uuid[])"""
# What moved on the accounts for tax without a code: on which of them is said when it is asked.
_UNCODED_IN_MONTHS = f"""
    SELECT account_month.account_id, uncoded AS amount
    FROM {_MONTHS}
    JOIN account_month ON account_month.business_id = %(business_id)s
      AND account_month.month BETWEEN slice.first AND slice.last
    WHERE account_month.account_id = ANY(%(accounts)s::uuid[])"""


def _added(begin: str, coded: list[str], uncoded: list[str]) -> str:
    """Add amounts up by code, rate and part, and those without a code by account."""
    return f"""{begin}
SELECT code_id, trim_scale(rate)::text AS rate, part, late, NULL::uuid AS account_id,
       NULL AS account_code, NULL AS account_name,
       sum(debit)::bigint AS debits, sum(credit)::bigint AS credits
FROM ({" UNION ALL ".join(coded)}) AS line
GROUP BY code_id, rate, part, late
HAVING sum(debit) <> 0 OR sum(credit) <> 0
UNION ALL
SELECT NULL, NULL, NULL, NULL, account.id, account.code, account.name, moved.amount, 0
FROM (
  SELECT account_id, sum(amount)::bigint AS amount
  FROM ({" UNION ALL ".join(uncoded)}) AS amounts
  GROUP BY account_id
) AS moved
JOIN account ON account.business_id = %(business_id)s AND account.id = moved.account_id
WHERE moved.amount <> 0
ORDER BY account_code, account_id, code_id, rate, part, late"""


def _in_months(which: Sequence[str], more: Sequence[str]) -> str:
    """What is read from months, with the lines beside them that fulfil one of some conditions."""
    marked = f"{_IS_MARKED} AND {_COUNTS_ITSELF}"
    every = " OR ".join(f"({each})" for each in (marked, _IS_UNCODED, *which))
    return _added(
        _BESIDE_MONTHS.replace("<which>", every),
        [_OF_MONTHS, _MARKED.replace("<lines>", _lines_of_all(_IS_MARKED)), *more],
        [_UNCODED_IN_MONTHS, _UNCODED.replace("<lines>", _lines_of_all(_IS_UNCODED))],
    )


_UNCODED = "SELECT account_id, sign * (debit - credit) AS amount FROM (<lines>) AS line"

WHEN_POSTED = _in_months([], [])
BOTH = _in_months([f"{_SETTLES} AND {_COUNTS_AS_SETTLED}"], [_SETTLED])
BY_SCHEME = _added(
    "",
    [_MARKED_BY_SCHEME, _SETTLED_BY_SCHEME],
    [_UNCODED.replace("<lines>", _lines(_IS_UNCODED))],
)

# What is unsettled before a change, by document: what it is, less what settled it.
UNSETTLED = f"""
SELECT owner_id, code_id, trim_scale(rate)::text AS rate, part, sum(amount)::bigint AS amount
FROM (
  SELECT {_owner("line.source_id")} AS owner_id, tax_code_id AS code_id,
         tax_rate AS rate, tax_part AS part, debit - credit AS amount
  FROM ({_lines("tax_code_id = ANY(%(when_settled)s::uuid[])")}) AS line
  WHERE source_type = ANY(%(documents)s::text[]) AND source_type <> ALL(%(write_offs)s::text[])
    AND {about(MOVES, {**_COLUMNS, "id": "line.source_id"})}
  UNION ALL
  SELECT owner_id, (share->>2)::uuid, (share->>3)::numeric, share->>4, way * (share->>1)::bigint
  FROM ({_MOVING}) AS line
  CROSS JOIN LATERAL jsonb_array_elements(split) AS share
  WHERE (share->>2)::uuid = ANY(%(when_settled)s::uuid[])
) AS amounts
GROUP BY owner_id, code_id, rate, part
HAVING sum(amount) <> 0
ORDER BY owner_id, code_id, rate, part"""

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


def known(known_at: datetime | None) -> datetime:
    """Up to which moment entries are known: without one all are."""
    return known_at or ALWAYS


def sliced(slices: Iterable[Slice], known_at: datetime | None, *, by_month: bool = False) -> Row:
    """The parameters that say which slices are read, as they were known at a moment.

    With `by_month` what goes on without an end is, as far as months have it.
    """
    slices = list(slices)
    by_number = [each for each in slices if each.after]
    by_day = [(each, 1) for each in slices if not (each.after or (by_month and _is_open(each)))]
    months: list[Slice] = []
    for each in slices if by_month else ():
        if _is_open(each):
            parts = pieces(Period(each.first, each.last))
            if parts.months is not None:
                first, last = parts.months
                months.append(replace(each, first=first, last=month_end(last)))
            by_day += [(replace(each, first=a, last=b), 1) for a, b in parts.added]
            by_day += [(replace(each, first=a, last=b), -1) for a, b in parts.taken]
    return {
        **_days("day_", [each for each, _ in by_day]),
        "day_signs": [sign for _, sign in by_day],
        **_days("month_", months),
        "earliest": min((each.first for each in months), default=date.max),
        "latest": max((each.last for each in months), default=date.min),
        **_days("", by_number),
        "opening": OPENING,  # What was declared before the books began.
        "known_at": known(known_at),
        "series": [each.series for each in by_number],
        "afters": [each.after for each in by_number],
    }


def _is_open(piece: Slice) -> bool:
    """All that is posted on its days counts, whatever its number."""
    return not piece.after and piece.upto is None and piece.change is None


def counting(counted: Counted, roles: Roles, declared: Sequence[Slice]) -> Row:
    """The parameters that say what makes amounts count."""
    return {
        **parameters(declared),
        "codes": [*counted.when_posted, *counted.when_settled],
        "when_posted": list(counted.when_posted),
        "when_settled": list(counted.when_settled),
        "settled_on": [roles[role] for role in SETTLED_ON],
        "opened_on": [roles[role] for role in OPENED_ON],
    }


def _days(prefix: str, slices: Sequence[Slice]) -> Row:
    return {
        f"{prefix}firsts": [each.first for each in slices],
        f"{prefix}lasts": [each.last for each in slices],
        f"{prefix}uptos": uptos(slices),
        f"{prefix}lates": [each.late for each in slices],
        f"{prefix}schemes": [each.scheme.value for each in slices],
        f"{prefix}changes": [each.change for each in slices],
    }
