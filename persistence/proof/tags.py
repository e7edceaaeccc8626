"""Integrity check of tagged lines: they are the lines of the documents with the tag."""

from persistence.ledger.tags import ANY_TAG, TAGGED

_HELD = " UNION ALL ".join(
    f"SELECT id, transaction_tags AS tags FROM {table.name} WHERE business_id = %(business_id)s"
    for table in TAGGED
)

# The expected tagged lines of each document, compared line by line with the stored ones.
TAGGED_LINES = f"""
WITH word AS (
  SELECT DISTINCT held.id, one.value #>> '{{}}' AS tag
  FROM ({_HELD}) AS held
  CROSS JOIN LATERAL jsonb_array_elements(
    CASE jsonb_typeof(held.tags) WHEN 'array' THEN held.tags ELSE '[]' END
  ) AS one
  WHERE jsonb_typeof(one.value) = 'string' AND one.value <> '""'
), tagged AS (
  SELECT id, tag, false AS has_several FROM word
  UNION ALL
  SELECT id, '{ANY_TAG}', count(*) > 1 FROM word GROUP BY id
)
SELECT tagged.tag AS name, bool_and(tagged.n = 0) AS holds
FROM (
  SELECT tag, sum(n) AS n
  FROM (
    SELECT 1 AS n, tagged.tag, l.account_id, l.entry_date, l.id, l.entry_id, l.document_id,
           l.debit, l.credit, l.in_ledger, l.in_cash, tagged.has_several
    FROM tagged
    JOIN (
      SELECT id, account_id, entry_date, entry_id, document_id, debit, credit, true AS in_ledger,
             coalesce(in_cash, false) AS in_cash
      FROM journal_line WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, account_id, entry_date, entry_id, document_id, debit, credit, false, true
      FROM cash_line WHERE business_id = %(business_id)s
    ) AS l ON l.document_id = tagged.id
    UNION ALL
    SELECT -1, tag, account_id, entry_date, line_id, entry_id, document_id, debit, credit,
           in_ledger, in_cash, has_several
    FROM tagged_line WHERE business_id = %(business_id)s
  ) AS compared
  GROUP BY tag, account_id, entry_date, id, entry_id, document_id, debit, credit, in_ledger,
           in_cash, has_several
) AS tagged
GROUP BY tagged.tag"""

CHECKS = {"tagged_lines": TAGGED_LINES}
