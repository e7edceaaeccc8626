"""What must hold in tax returns: each has what it says, and no two have one part."""

from accounting.opening.opening_postings import OPENING
from accounting.tax.cash_schemes import COVERED
from accounting.tax.codes import Direction
from accounting.tax.taxed_amounts import SELF_ASSESSED
from persistence.proof.shapes import quoted
from persistence.tax.coded_amounts import DOCUMENTS, SETTLEMENTS

# The slices of the journal that returns have, which were filed.
_SLICES = """
  SELECT r.id, r.scheme, r.status, (s.piece->>0)::date AS first, (s.piece->>1)::date AS last,
         (s.piece->>2)::bigint AS after, (s.piece->>3)::bigint AS upto, s.place
  FROM tax_return r, jsonb_array_elements(r.slices) WITH ORDINALITY AS s (piece, place)
  WHERE r.business_id = %(business_id)s AND r.status <> 'draft'"""

_UNCOVERED = " ".join(
    f"WHEN b.country = '{country}' THEN c.direction NOT IN ({quoted(covered)})"
    for country, covered in COVERED.items()
)
# Whose amounts count when they are posted on cash, too.
_OWN_DAY = f"""
  SELECT c.id, c.direction,
         c.treatment IN ({quoted(SELF_ASSESSED)}) OR CASE {_UNCOVERED} ELSE false END AS own_day
  FROM tax_code c JOIN business b ON b.id = %(business_id)s
  WHERE c.business_id = %(business_id)s"""

_LINES = f"""
  SELECT s.id, s.scheme, e.source_type, l.tax_code_id, l.tax_rate, l.tax_part,
         l.debit - l.credit AS amount, l.split
  FROM slice s
  JOIN journal_entry e ON e.business_id = %(business_id)s
   AND e.entry_date BETWEEN s.first AND s.last AND e.place > s.after AND e.place <= s.upto
   AND e.source_type <> '{OPENING}'
  JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id"""

# Amounts stand above zero where the form tells them so.
_SIDE = f"""CASE
    WHEN part = 'output' OR (part = 'net' AND direction = '{Direction.SALES}')
      OR (part IN ('withheld', 'relief', 'relief_net') AND direction = '{Direction.PURCHASES}')
    THEN -1 ELSE 1 END"""

TAX_RETURNS = f"""
WITH slice AS ({_SLICES}), code AS ({_OWN_DAY}), line AS ({_LINES}),
posted AS (
  SELECT line.id, code.id AS code_id, tax_rate AS rate, tax_part AS part, amount, direction
  FROM line JOIN code ON code.id = tax_code_id
  WHERE scheme = 'accrual' OR own_day OR source_type NOT IN ({quoted(DOCUMENTS)})
  UNION ALL
  SELECT line.id, code.id, (share->>3)::numeric, share->>4, (share->>1)::bigint, direction
  FROM line CROSS JOIN jsonb_array_elements(split) AS share
  JOIN code ON code.id::text = share->>2
  WHERE scheme = 'cash' AND NOT own_day AND source_type IN ({quoted(SETTLEMENTS)})
),
told AS (
  SELECT r.id, (c->>'code_id')::uuid AS code_id, (c->>'rate')::numeric AS rate, p.part,
         p.amount::bigint AS amount
  FROM tax_return r, jsonb_array_elements(r.figures->'codes') AS c,
       jsonb_each_text(c->'parts') AS p (part, amount)
  WHERE r.business_id = %(business_id)s AND r.status <> 'draft'
)
SELECT r.start_date || ' to ' || r.end_date AS name, coalesce(rest.agree, true) AS holds
FROM tax_return r
LEFT JOIN (
  SELECT id, bool_and(amount = 0) AS agree
  FROM (
    SELECT id, code_id, rate, part, sum(amount) AS amount
    FROM (
      SELECT id, code_id, rate, part, amount * {_SIDE} AS amount FROM posted
      UNION ALL
      SELECT id, code_id, rate, part, -amount FROM told
    ) AS both_sides
    GROUP BY id, code_id, rate, part
  ) AS amounts
  GROUP BY id
) AS rest ON rest.id = r.id
WHERE r.business_id = %(business_id)s"""

# No part of the journal is in two filed returns, none of which has a day of another's period; one
# whose place was taken names who took it.
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
            AND other.first <= own.last AND own.first <= other.last
            AND other.after < own.upto AND own.after < other.upto
           WHERE own.id = r.id
         )
       END AS holds
FROM tax_return r
WHERE r.business_id = %(business_id)s"""

CHECKS = {"tax_returns": TAX_RETURNS, "tax_return_members": RETURN_MEMBERS}
