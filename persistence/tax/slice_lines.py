"""SQL of the journal lines in the slices of a tax return, and its parameters.

A slice is read in one of three ways:

- From months, if it begins at the first entry of its days and has no end, and if all documents are
  on its scheme. Line by line are read: the remaining days, entries that are not rolled up yet, and
  entries posted after `known_at`, which are subtracted.
- By day, and by tax code or account, if it otherwise begins at the first entry of its days.
- By entry number, if it begins above a number. It does not read the lines of earlier returns, since
  these end at that number.

Each ORDER BY and LIMIT keeps PostgreSQL from joining all lines with all entries: it cannot know how
few these are.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from typing import Final

from accounting.books.periods import Period, month_end, pieces
from accounting.opening.openings import OPENING
from accounting.tax.returns import JournalRange
from accounting.tax.settlements import SETTLEMENT
from persistence.engine.sql import Row
from persistence.tax.document_schemes import uptos

ALWAYS: Final = datetime.max.replace(tzinfo=UTC)

_AMOUNT = "account_id, debit, credit, split, tax_code_id, tax_rate, tax_part"
_SUMMED = f"{_AMOUNT}, source_type, late, sign"
_LINE = f"id, entry_id, entry_date, settles_id, {_AMOUNT}"
_OF_ENTRY = "entry.source_type, entry.source_id, entry.place"
_OF_SLICE = "slice.late, slice.scheme, slice.change, {sign} AS sign"
# The whole months of slices, one row for each slice.
MONTHS = """unnest(
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
        AND journal_entry.place <= slice.upto
        AND journal_entry.source_type <> ALL(%(outside)s::text[])
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
        AND journal_entry.source_type <> ALL(%(outside)s::text[])
        AND journal_entry.posted_at <= %(known_at)s
      ORDER BY journal_entry.place
    ) AS entry
    CROSS JOIN LATERAL (
      SELECT {_LINE} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND journal_line.entry_id = entry.id
        AND <which>
      ORDER BY journal_line.line_number
    ) AS line"""
# Entries that are not rolled up yet, and entries posted after `known_at`, which are subtracted.
# They are read only once, since there may be many of the latter. GREATEST replaces COALESCE, and
# the + 0 avoids the index on days, as in `persistence.ledger`.
BESIDE_MONTHS = f"""
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
    JOIN {MONTHS} ON entry.entry_date BETWEEN slice.first AND slice.last
    CROSS JOIN LATERAL (
      SELECT {_AMOUNT} FROM journal_line
      WHERE journal_line.business_id = %(business_id)s AND journal_line.entry_id = entry.id
        AND (<which>)
      ORDER BY journal_line.line_number
    ) AS line
    WHERE entry.source_type <> ALL(%(outside)s::text[])
)"""


def lines(which: str) -> str:
    """Build the select of the slices' lines that match a condition."""
    return f"{_BY_DAY} UNION ALL {_BY_NUMBER}".replace("<which>", which)


def lines_of_all(which: str) -> str:
    """Build the same select for slices read from months, with the lines beside the months."""
    return f"""
    SELECT {_SUMMED} FROM ({lines(which)}) AS line
    UNION ALL
    SELECT {_SUMMED} FROM beside WHERE {which}"""


def known(known_at: datetime | None) -> datetime:
    """Return the moment up to which entries count; without `known_at` all entries count."""
    return known_at or ALWAYS


def sliced(
    slices: Iterable[JournalRange], known_at: datetime | None, *, by_month: bool = False
) -> Row:
    """Return the parameters of the slices to read, as known at a moment.

    With `by_month`, the whole months of open slices are read from the roll-up.
    """
    slices = list(slices)
    by_number = [each for each in slices if each.after]
    by_day = [(each, 1) for each in slices if not (each.after or (by_month and _is_open(each)))]
    months: list[JournalRange] = []
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
        # Excluded: openings were declared before the books began; settlements are no new tax.
        "outside": [OPENING, SETTLEMENT],
        "known_at": known(known_at),
        "series": [each.series for each in by_number],
        "afters": [each.after for each in by_number],
    }


def _is_open(piece: JournalRange) -> bool:
    """Return whether all entries on a slice's days count, regardless of their numbers."""
    return not piece.after and piece.upto is None and piece.change is None


def _days(prefix: str, slices: Sequence[JournalRange]) -> Row:
    return {
        f"{prefix}firsts": [each.first for each in slices],
        f"{prefix}lasts": [each.last for each in slices],
        f"{prefix}uptos": uptos(slices),
        f"{prefix}lates": [each.late for each in slices],
        f"{prefix}schemes": [each.scheme.value for each in slices],
        f"{prefix}changes": [each.change for each in slices],
    }
