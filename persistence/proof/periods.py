"""What must hold of locked periods: nothing was posted into one, as the audit trail tells."""

# Every change of the lock date with its moment, by the clock that also tells when each entry was
# posted: both while the row of the business was held, so that they stand in their real order. An
# entry that is older than the trail was posted when it says so.
#
# The lock at a moment is the one that was set last before it. A change begins where the one before
# it has ended, and the last one says what the lock is now: a change that left no record is seen.
NOTHING_INSIDE_THE_LOCK = """
WITH told AS (
  SELECT created_at, (changes #>> '{lock_date,from}')::date AS left_day,
         (changes #>> '{lock_date,to}')::date AS set_day
  FROM audit_record
  WHERE business_id = %(business_id)s AND object_id = %(business_id)s
    AND changes -> 'lock_date' IS NOT NULL
), locks AS (
  SELECT array_agg(created_at ORDER BY created_at) AS moments,
         array_agg(set_day ORDER BY created_at) AS days, max(set_day) AS latest
  FROM told
)
SELECT e.sequence_number AS name,
       CASE WHEN e.entry_date <= latest THEN coalesce(e.entry_date > days[width_bucket(coalesce((
         SELECT max(p.created_at) FROM audit_record p
         WHERE p.business_id = %(business_id)s AND p.object_id = e.id
           AND p.object_type = 'journal_entry' AND p.change = 'insert'
       ), e.posted_at), moments)], true) ELSE true END AS holds
FROM journal_entry e, locks
WHERE e.business_id = %(business_id)s
UNION ALL
SELECT 'the lock date set at ' || to_char(created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
       left_day IS NOT DISTINCT FROM lag(set_day) OVER (ORDER BY created_at)
FROM told
UNION ALL
SELECT 'the lock date of today', b.lock_date IS NOT DISTINCT FROM days[array_upper(days, 1)]
FROM business b, locks
WHERE b.id = %(business_id)s"""

CHECKS = {"nothing_inside_the_lock": NOTHING_INSIDE_THE_LOCK}
