"""Integrity checks of manual entries and of drafts."""

from accounting.books.chart import CONTROL_ROLES
from accounting.books.manual_entries import SOURCE, STREAM
from persistence.proof.shapes import quoted

# A manual entry is its own source, or reverses one and has that entry's source. Documents post all
# other entries.
MANUAL_ENTRIES = f"""
SELECT e.sequence_number AS name,
       CASE WHEN e.source_type = '{SOURCE}'
         THEN e.created_by <> 'system' AND e.stream = '{STREAM}'
           AND (e.source_id = e.id) = (e.reversal_of_id IS NULL)
           AND NOT EXISTS (
             SELECT FROM journal_line l
             JOIN account a ON a.business_id = %(business_id)s AND a.id = l.account_id
             WHERE l.business_id = %(business_id)s AND l.entry_id = e.id
               AND (a.role IN ({quoted(CONTROL_ROLES)}) OR l.settles_id IS NOT NULL)
           )
         ELSE e.created_by = 'system'
       END AS holds
FROM journal_entry e WHERE e.business_id = %(business_id)s"""

# A draft is not posted, and its lines could be posted.
DRAFTS = f"""
SELECT d.id::text AS name,
       line.many >= 2 AND line.balance = 0 AND line.debits = d.total AND line.fit
       AND e.id IS NULL AS holds
FROM journal_draft d
LEFT JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = d.id,
LATERAL (
  SELECT count(*) AS many, sum((item->>'amount')::bigint) AS balance,
         sum(greatest((item->>'amount')::bigint, 0)) AS debits,
         bool_and(
           (item->>'amount')::bigint <> 0 AND a.id IS NOT NULL
           AND coalesce(a.role, '') NOT IN ({quoted(CONTROL_ROLES)})
           AND num_nulls(item->>'tax_code_id', item->>'tax_rate', item->>'tax_part') IN (0, 3)
           AND (item->>'tax_code_id' IS NULL OR t.id IS NOT NULL)
         ) AS fit
  FROM jsonb_array_elements(d.lines) AS item
  LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = (item->>'account_id')::uuid
  LEFT JOIN tax_code t
    ON t.business_id = %(business_id)s AND t.id = (item->>'tax_code_id')::uuid
) AS line
WHERE d.business_id = %(business_id)s"""

CHECKS = {"manual_entries": MANUAL_ENTRIES, "drafts": DRAFTS}
