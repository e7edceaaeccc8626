"""Integrity check of tax codes: one default per direction, and rates without overlap."""

from accounting.books.chart import CONTROL_ROLES
from accounting.opening.openings import OPENING
from accounting.tax.cash_schemes import COVERED
from accounting.tax.codes import Direction
from accounting.tax.taxed_amounts import SELF_ASSESSED
from persistence.integrity.definitions import quoted
from persistence.ledger.balances import DOCUMENTS, SETTLEMENTS
from persistence.tax.document_schemes import (
    HANDED_ON,
    MOVES,
    NO_END,
    POSTED_COUNTS,
    REFUND_PAYMENTS,
    SETTLED_COUNTS,
    WRITE_OFFS,
    about,
)

TAX_CODES = f"""
SELECT c.code AS name,
       a.id IS NOT NULL AND coalesce(a.role, '') NOT IN ({quoted(CONTROL_ROLES)})
       AND rate.many > 0 AND rate.fit
       AND NOT (c.is_default AND EXISTS (
         SELECT FROM tax_code other
         WHERE other.business_id = %(business_id)s AND other.id <> c.id AND other.is_default
           AND other.direction = c.direction
       )) AS holds
FROM tax_code c
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = c.tax_account_id,
LATERAL (
  SELECT count(*) AS many, bool_and(percent AND forward AND behind) AS fit
  FROM (
    SELECT (period->>'rate')::numeric BETWEEN 0 AND 100
             AND (period->>'recoverable_percent')::numeric BETWEEN 0 AND 100 AS percent,
           coalesce(period->>'valid_to' >= period->>'valid_from', true) AS forward,
           place = 1 OR coalesce(
             lag(period->>'valid_to') OVER (ORDER BY place) < period->>'valid_from', false
           ) AS behind
    FROM jsonb_array_elements(c.rates) WITH ORDINALITY AS periods (period, place)
  ) AS periods
) AS rate
WHERE c.business_id = %(business_id)s"""

TAX_CODES_CHECKS = {"tax_codes": TAX_CODES}


# Integrity checks of tax returns: their figures, and that no two of them overlap.


# The journal ranges (slices) of filed returns. Old ranges have no scheme and use that of their
# return. A range with a change is a transition between schemes, and declares no amounts itself.
_SLICES = """
  SELECT r.id, coalesce(s.piece->>5, r.scheme) AS scheme, r.status,
         (s.piece->>0)::date AS first, (s.piece->>1)::date AS last,
         (s.piece->>2)::bigint AS after, (s.piece->>3)::bigint AS upto,
         (s.piece->>6)::date AS change, s.place
  FROM tax_return r, jsonb_array_elements(r.slices) WITH ORDINALITY AS s (piece, place)
  WHERE r.business_id = %(business_id)s AND r.status <> 'draft'"""

_UNCOVERED = " ".join(
    f"WHEN b.country = '{country}' THEN c.direction NOT IN ({quoted(covered)})"
    for country, covered in COVERED.items()
)
# Tax codes, and whether their amounts count when posted even on the cash scheme (`own_day`).
_OWN_DAY = f"""
  SELECT c.id, c.direction,
         c.treatment IN ({quoted(SELF_ASSESSED)}) OR CASE {_UNCOVERED} ELSE false END AS own_day
  FROM tax_code c JOIN business b ON b.id = %(business_id)s
  WHERE c.business_id = %(business_id)s"""

_LINES = f"""
  SELECT s.id, s.scheme, s.change, e.source_type, e.source_id, e.entry_date, e.place,
         l.tax_code_id, l.tax_rate, l.tax_part, l.debit - l.credit AS amount, l.split, l.settles_id
  FROM slice s
  JOIN journal_entry e ON e.business_id = %(business_id)s
   AND e.entry_date BETWEEN s.first AND s.last AND e.place > s.after AND e.place <= s.upto
   AND e.source_type <> '{OPENING}'
  JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id"""

_COLUMNS = {
    "source": "line.source_type",
    "source_id": "line.source_id",
    "settles_id": "line.settles_id",
    "day": "line.entry_date",
    "place": "line.place",
    "scheme": "line.scheme",
    "change": "line.change",
}
# The rest of the periods of filed returns, by year: entries after the range, which are declared
# late.
_UNFILED = f"""
  SELECT d.first, d.last, coalesce((
           SELECT max(s.upto) FROM slice s
           WHERE s.status = 'filed' AND s.change IS NULL AND d.first BETWEEN s.first AND s.last
         ), 0) AS after, {NO_END} AS upto,
         CASE WHEN EXISTS (
           SELECT FROM tax_return n
           WHERE n.business_id = %(business_id)s AND n.status = 'filed' AND n.scheme = 'accrual'
             AND n.end_date >= d.last
         ) THEN 'accrual' ELSE 'cash' END AS scheme, NULL::date AS change
  FROM (
    SELECT greatest(r.start_date, make_date(y, 1, 1)) AS first,
           least(r.end_date, make_date(y, 12, 31)) AS last
    FROM tax_return r,
         generate_series(extract(year FROM r.start_date)::integer,
                         extract(year FROM r.end_date)::integer) AS y
    WHERE r.business_id = %(business_id)s AND r.status = 'filed'
  ) AS d"""
# The days before and between filed returns, on the scheme of the next return; cash before a
# transition.
_LEFT_OUT = f"""
  SELECT coalesce(lag(r.end_date) OVER (ORDER BY r.start_date) + 1, '0001-01-01') AS first,
         r.start_date - 1 AS last, 0 AS after, {NO_END} AS upto,
         CASE WHEN EXISTS (SELECT FROM slice s WHERE s.id = r.id AND s.change IS NOT NULL)
         THEN 'cash' ELSE r.scheme END AS scheme, NULL::date AS change
  FROM tax_return r
  WHERE r.business_id = %(business_id)s AND r.status = 'filed'"""
_KNOWN = "(SELECT s.first, s.last, s.after, s.upto, s.scheme, s.change FROM known AS s)"
_NAMED = {
    "documents": DOCUMENTS,
    "settlements": SETTLEMENTS,
    "write_offs": WRITE_OFFS,
    "refund_payments": REFUND_PAYMENTS,
    "handed_on": HANDED_ON,
}


def _about(words: str, **more: str) -> str:
    """Return a condition on a line of this check, with the source types written into the SQL."""
    text = about(words, {**_COLUMNS, **more}, _KNOWN)
    for name, sources in _NAMED.items():
        text = text.replace(f"%({name})s", f"ARRAY[{quoted(sources)}]")
    return text


# The sign that makes amounts positive as the tax form shows them.
_SIDE = f"""CASE
    WHEN part = 'output' OR (part = 'net' AND direction = '{Direction.SALES}')
      OR (part IN ('withheld', 'relief', 'relief_net') AND direction = '{Direction.PURCHASES}')
    THEN -1 ELSE 1 END"""


def _settling(condition: str) -> str:
    """Return SQL for the shares of settling lines; the condition is evaluated once per line."""
    return f"""
    SELECT line.id, line.source_type, line.settles_id, code.id AS code_id, code.direction, share
    FROM (
      SELECT line.* FROM line CROSS JOIN changed
      WHERE split <> '[]' AND {condition}
      OFFSET 0
    ) AS line
    CROSS JOIN jsonb_array_elements(split) AS share
    JOIN code ON code.id::text = share->>2 AND NOT code.own_day"""


# The settlements that count in the ranges of each return, and the unsettled amounts of its
# transition. If all ranges have one scheme, the scheme of a document need not be looked up.
_COUNTING = _settling(f"""change IS NULL
        AND CASE WHEN both_schemes THEN {_about(SETTLED_COUNTS)}
        ELSE scheme = 'cash' AND settles_id IS NOT NULL AND source_type IN ({quoted(SETTLEMENTS)})
        END""")
# Lines of the opening have no mark: their split has their parts, and they settle no document.
_SUBJECT = "coalesce(line.settles_id, line.source_id)"
_MOVING = _settling(f"""change IS NOT NULL
        AND CASE WHEN settles_id IS NULL THEN source_type IN ({quoted(DOCUMENTS)})
        ELSE source_type IN ({quoted([*SETTLEMENTS, *WRITE_OFFS])}) END
        AND {_about(MOVES, id=_SUBJECT)}""")
_POSTED = f"""
  SELECT line.id, false AS moved, code.id AS code_id, tax_rate AS rate, tax_part AS part, amount,
         direction
  FROM line JOIN code ON code.id = tax_code_id CROSS JOIN changed
  WHERE change IS NULL AND (
    own_day OR source_type NOT IN ({quoted(DOCUMENTS)})
    OR CASE WHEN both_schemes THEN {_about(POSTED_COUNTS)} ELSE scheme = 'accrual' END)
  UNION ALL
  SELECT id, false, code_id, (share->>3)::numeric, share->>4,
         CASE WHEN source_type IN ({quoted(WRITE_OFFS)}) THEN -1 ELSE 1 END * (share->>1)::bigint,
         direction
  FROM ({_COUNTING}) AS counting
  UNION ALL
  SELECT line.id, true, code.id, tax_rate, tax_part, amount, direction
  FROM line JOIN code ON code.id = tax_code_id
  WHERE change IS NOT NULL AND NOT own_day AND source_type IN ({quoted(DOCUMENTS)})
    AND source_type NOT IN ({quoted(WRITE_OFFS)}) AND {_about(MOVES, id="line.source_id")}
  UNION ALL
  SELECT id, true, code_id, (share->>3)::numeric, share->>4,
         CASE WHEN settles_id IS NULL THEN 1 ELSE -1 END * (share->>1)::bigint, direction
  FROM ({_MOVING}) AS moving"""

TAX_RETURNS = f"""
WITH slice AS ({_SLICES}), code AS ({_OWN_DAY}), line AS ({_LINES}),
known AS (
  SELECT first, last, after, upto, scheme, change FROM slice
  UNION ALL ({_UNFILED}) UNION ALL ({_LEFT_OUT})
),
changed AS (SELECT count(DISTINCT scheme) > 1 OR count(change) > 0 AS both_schemes FROM known),
posted AS ({_POSTED}
),
told AS (
  SELECT r.id, l.moved, (c->>'code_id')::uuid AS code_id, (c->>'rate')::numeric AS rate, p.part,
         p.amount::bigint AS amount
  FROM tax_return r, (VALUES (false, 'codes'), (true, 'transition')) AS l (moved, list),
       jsonb_array_elements(coalesce(r.figures->l.list, '[]')) AS c,
       jsonb_each_text(c->'parts') AS p (part, amount)
  WHERE r.business_id = %(business_id)s AND r.status <> 'draft'
)
SELECT r.start_date || ' to ' || r.end_date AS name, coalesce(rest.agree, true) AS holds
FROM tax_return r
LEFT JOIN (
  SELECT id, bool_and(amount = 0) AS agree
  FROM (
    SELECT id, moved, code_id, rate, part, sum(amount) AS amount
    FROM (
      SELECT id, false AS moved, code_id, rate, part, amount * {_SIDE} AS amount FROM posted
      UNION ALL
      SELECT id, moved, code_id, rate, part, amount * {_SIDE} FROM posted WHERE moved
      UNION ALL
      SELECT id, moved, code_id, rate, part, -amount FROM told
    ) AS both_sides
    GROUP BY id, moved, code_id, rate, part
  ) AS amounts
  GROUP BY id
) AS rest ON rest.id = r.id
WHERE r.business_id = %(business_id)s"""

# No journal line is in two filed returns, and their periods do not overlap. A superseded return has
# a successor, and a draft has no ranges.
RETURN_MEMBERS = f"""
WITH slice AS ({_SLICES})
SELECT r.start_date || ' to ' || r.end_date AS name,
       CASE r.status
         WHEN 'draft' THEN jsonb_array_length(r.slices) = 0
         WHEN 'superseded' THEN EXISTS (
           SELECT FROM tax_return n
           WHERE n.business_id = %(business_id)s AND n.supersedes_id = r.id AND n.status <> 'draft'
         )
         ELSE NOT EXISTS (
           SELECT FROM tax_return n
           WHERE n.business_id = %(business_id)s AND n.id <> r.id AND n.status = 'filed'
             AND n.start_date <= r.end_date AND r.start_date <= n.end_date
         ) AND NOT EXISTS (
           SELECT FROM slice own JOIN slice other
             ON other.status = 'filed' AND (other.id, other.place) <> (own.id, own.place)
            AND own.change IS NULL AND other.change IS NULL
            AND other.first <= own.last AND own.first <= other.last
            AND other.after < own.upto AND own.after < other.upto
           WHERE own.id = r.id
         )
       END AS holds
FROM tax_return r
WHERE r.business_id = %(business_id)s"""

TAX_RETURNS_CHECKS = {"tax_returns": TAX_RETURNS, "tax_return_members": RETURN_MEMBERS}
