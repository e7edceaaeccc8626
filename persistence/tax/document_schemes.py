"""The conditions that say which scheme the amounts of a document are on, where it has changed.

They are texts about one line, whose columns the statement fills in. A refund that pays a credit
out is on the scheme of the credit, whose parts it has; a write-off is on that of its document. A
line that settles a document, or is posted for it, is looked up by the first entry of that: each
ORDER BY and LIMIT keeps this a look-up for each line.
"""

from collections.abc import Iterable, Mapping, Sequence

from accounting.tax.commands import Scheme
from accounting.tax.returns import Slice
from persistence.engine.sql import Row
from persistence.ledger.month_sums import DOCUMENTS, SETTLEMENTS, SIDES

NO_END = 2**63 - 1

WRITE_OFFS = [side.write_off_source for side in SIDES]
REFUNDS = [side.refund_source for side in SIDES]
REFUND_PAYMENTS = [side.refund_payment_source for side in SIDES]
# What may be on the scheme of something else, and what is paid of it.
HANDED_ON = [*WRITE_OFFS, *REFUNDS, *REFUND_PAYMENTS]

# What is declared, as the statement has it.
GIVEN = """unnest(
  CAST(%(known_firsts)s AS date[]), CAST(%(known_lasts)s AS date[]),
  CAST(%(known_afters)s AS bigint[]), CAST(%(known_uptos)s AS bigint[]),
  CAST(%(known_schemes)s AS text[]), CAST(%(known_changes)s AS date[])
)"""
_COLUMNS = "(first, last, after, upto, scheme, change)"


def filled(text: str, **values: str) -> str:
    """Fill names in angle brackets in."""
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

# Whose scheme an amount is on: a refund's is that of the credit that it pays out.
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
# Since when it is there: since its first entry, or for money that paid a refund before, this money.
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
# What is said of a write-off is said of its first day: taken back it counts back what it counted.
_ON_CASH_WHEN_GIVEN_UP = f"""(
  SELECT {filled(_ON_CASH, day="begun.entry_date", place="begun.place")}
  FROM ({filled(_FIRST_ENTRY, id="<source_id>")}) AS begun)"""

# What is posted for a document itself counts when that is on accrual.
POSTED_COUNTS = f"""CASE WHEN <source> = ANY(%(write_offs)s)
  THEN NOT {filled(_ON_CASH_WHEN_GIVEN_UP, id="<source_id>")}
  ELSE NOT {filled(_ON_CASH, id="<source_id>")} END"""
# What settles one counts when that is on cash; and what a write-off settled before it was not, is
# unsettled again once that is taken back. What says of which parts something is that the books
# were opened with settles nothing: on days that were on cash it is declared by a transition, and
# counts where that does not have it.
SETTLED_COUNTS = f"""CASE WHEN <settles_id> IS NULL
  THEN <source> = ANY(%(documents)s) AND NOT {filled(_ON_CASH, id="<source_id>")}
    AND {filled(_DAY_WAS_ON_CASH, id="<source_id>")}
  WHEN <source> = ANY(%(settlements)s)
  THEN {filled(_ON_CASH, id="<settles_id>")}
  WHEN <source> = ANY(%(write_offs)s)
  THEN NOT {filled(_ON_CASH, id="<settles_id>")}
    AND {filled(_ON_CASH_WHEN_GIVEN_UP, id="<settles_id>")}
  ELSE false END"""
# A transition has documents from before the change that no return and no change has on accrual yet.
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
    """Say a condition about the line that these columns are of."""
    return filled(text, **columns, known=known)


def parameters(declared: Sequence[Slice]) -> Row:
    """The parameters that say which scheme what is on."""
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


def uptos(slices: Iterable[Slice]) -> list[int]:
    """Up to which number each slice goes; an open one has no end."""
    return [NO_END if each.upto is None else each.upto for each in slices]
