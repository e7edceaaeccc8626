"""SQL conditions on the scheme of a document, for businesses whose scheme has changed.

The conditions are templates about one line; each statement fills in the columns of its line. A
refund that pays out a credit is on the scheme of the credit, whose parts it has. A write-off is on
the scheme of its document. The scheme of a line depends on the first entry of its document: each
ORDER BY and LIMIT keeps this a look-up for each line.
"""

from collections.abc import Iterable, Mapping, Sequence

from accounting.tax.commands import Scheme
from accounting.tax.returns import JournalRange
from persistence.engine.sql import Row
from persistence.ledger.balances import DOCUMENTS, SETTLEMENTS, SIDES

NO_END = 2**63 - 1

WRITE_OFFS = [side.write_off_source for side in SIDES]
REFUNDS = [side.refund_source for side in SIDES]
REFUND_PAYMENTS = [side.refund_payment_source for side in SIDES]
# Sources that may be on the scheme of another document.
HANDED_ON = [*WRITE_OFFS, *REFUNDS, *REFUND_PAYMENTS]

# The declared slices, from the parameters of the statement.
GIVEN = """unnest(
  CAST(%(known_firsts)s AS date[]), CAST(%(known_lasts)s AS date[]),
  CAST(%(known_afters)s AS bigint[]), CAST(%(known_uptos)s AS bigint[]),
  CAST(%(known_schemes)s AS text[]), CAST(%(known_changes)s AS date[])
)"""
_COLUMNS = "(first, last, after, upto, scheme, change)"


def filled(text: str, **values: str) -> str:
    """Replace the names in angle brackets by values."""
    for name, value in values.items():
        text = text.replace(f"<{name}>", value)
    return text


def _within(known: str, day: str, place: str) -> str:
    return (
        f"{day} BETWEEN {known}.first AND {known}.last"
        f" AND {place} > {known}.after AND {place} <= {known}.upto"
    )


_FIRST_ENTRY = """
  SELECT e.entry_date, e.place FROM journal_entry AS e
  WHERE e.business_id = %(business_id)s AND e.source_id = <id>
    AND e.source_type = ANY(%(documents)s)
  ORDER BY e.created_at, e.place LIMIT 1"""

# The document whose scheme applies to an amount: for a refund, the credit that it pays out.
OWNER = """CASE WHEN <source> <> ALL(%(handed_on)s) THEN <id> ELSE coalesce((
  SELECT handed.settles_id
  FROM (
    SELECT e.id FROM journal_entry AS e
    WHERE e.business_id = %(business_id)s AND e.source_id = <id>
      AND e.source_type = ANY(%(handed_on)s)
    ORDER BY e.created_at, e.place
  ) AS e
  CROSS JOIN LATERAL (
    SELECT l.settles_id FROM journal_line AS l
    WHERE l.business_id = %(business_id)s AND l.entry_id = e.id AND l.settles_id IS NOT NULL
    ORDER BY l.line_number LIMIT 1
  ) AS handed
  LIMIT 1
), <id>) END"""
# The day and number that decide on the scheme: those of the first entry of this document, or of a
# payment that paid a refund before the refund's own day.
_BORN = f"""(SELECT {OWNER} AS id OFFSET 0) AS owner
  LEFT JOIN LATERAL ({filled(_FIRST_ENTRY, id="owner.id")}
  ) AS f ON true
  CROSS JOIN LATERAL (
    SELECT CASE WHEN early THEN <day> ELSE f.entry_date END AS entry_date,
           CASE WHEN early THEN <place> ELSE f.place END AS place
    FROM (SELECT <source> = ANY(%(refund_payments)s) AND <day> < f.entry_date AS early) AS paid
    OFFSET 0
  ) AS born"""
_BORN_WITHIN = _within("k", "born.entry_date", "born.place")

_ON_CASH = f"""(
  SELECT coalesce((
      SELECT k.scheme FROM <known> AS k {_COLUMNS} WHERE k.change IS NULL AND {_BORN_WITHIN} LIMIT 1
    ), <scheme>) = '{Scheme.CASH}'
    AND NOT EXISTS (
      SELECT 1 FROM <known> AS k {_COLUMNS}
      WHERE k.change IS NOT NULL AND {_BORN_WITHIN} AND NOT EXISTS (
        SELECT 1 FROM <known> AS o {_COLUMNS}
        WHERE o.change = k.change AND {_within("o", "<day>", "<place>")}
      )
    )
  FROM {_BORN})"""
_DAY_WAS_ON_CASH = f"""(
  SELECT EXISTS (
    SELECT 1 FROM <known> AS k {_COLUMNS}
    WHERE k.change IS NULL AND k.scheme = '{Scheme.CASH}'
      AND born.entry_date BETWEEN k.first AND k.last
  )
  FROM {_BORN})"""
# The scheme of a write-off is that of its first day, so its reversal counts the same amounts back.
_ON_CASH_WHEN_GIVEN_UP = f"""(
  SELECT {filled(_ON_CASH, day="begun.entry_date", place="begun.place")}
  FROM ({filled(_FIRST_ENTRY, id="<source_id>")}) AS begun)"""

# A document's own lines count if it is on accrual.
POSTED_COUNTS = f"""CASE WHEN <source> = ANY(%(write_offs)s)
  THEN NOT {filled(_ON_CASH_WHEN_GIVEN_UP, id="<source_id>")}
  ELSE NOT {filled(_ON_CASH, id="<source_id>")} END"""
# Settlement lines count if the document is on cash. Write-off lines count if the document was on
# cash at the write-off and is no longer: the reversal makes its parts unsettled again. Opening
# lines with parts settle nothing: on days that were on cash a transition declares them, and they
# count if no transition has them.
SETTLED_COUNTS = f"""CASE WHEN <settles_id> IS NULL
  THEN <source> = ANY(%(documents)s) AND NOT {filled(_ON_CASH, id="<source_id>")}
    AND {filled(_DAY_WAS_ON_CASH, id="<source_id>")}
  WHEN <source> = ANY(%(settlements)s)
  THEN {filled(_ON_CASH, id="<settles_id>")}
  WHEN <source> = ANY(%(write_offs)s)
  THEN NOT {filled(_ON_CASH, id="<settles_id>")}
    AND {filled(_ON_CASH_WHEN_GIVEN_UP, id="<settles_id>")}
  ELSE false END"""
# A transition has the documents from before the change, except those that a return on accrual or an
# earlier change has already.
MOVES = f"""(
  SELECT EXISTS (
      SELECT 1 FROM <known> AS k {_COLUMNS} WHERE k.change = <change> AND {_BORN_WITHIN}
    ) AND NOT EXISTS (
      SELECT 1 FROM <known> AS k {_COLUMNS}
      WHERE {_BORN_WITHIN}
        AND (k.change < <change> OR k.change IS NULL AND k.scheme = '{Scheme.ACCRUAL}')
    )
  FROM {_BORN})"""


def about(text: str, columns: Mapping[str, str], known: str = GIVEN) -> str:
    """Fill the columns of a line into a condition."""
    return filled(text, **columns, known=known)


def parameters(declared: Sequence[JournalRange]) -> Row:
    """Return the parameters that determine the scheme of documents."""
    return {
        "documents": DOCUMENTS,
        "settlements": SETTLEMENTS,
        "write_offs": WRITE_OFFS,
        "refund_payments": REFUND_PAYMENTS,
        "handed_on": HANDED_ON,
        "known_firsts": [each.first for each in declared],
        "known_lasts": [each.last for each in declared],
        "known_afters": [each.after for each in declared],
        "known_uptos": uptos(declared),
        "known_schemes": [each.scheme.value for each in declared],
        "known_changes": [each.change for each in declared],
    }


def uptos(slices: Iterable[JournalRange]) -> list[int]:
    """List the last entry number of each slice; for an open slice, the largest number."""
    return [NO_END if each.upto is None else each.upto for each in slices]
