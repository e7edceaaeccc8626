"""Integrity check of locked periods: by the audit trail, no entry was posted into one."""

# Changes of the lock date and postings have times of the same clock, taken while the row of the
# business was locked, so their order is exact. An entry older than the trail has its `posted_at`.
#
# The lock date at a time is the one set last before it. Each change starts from the result of the
# previous one, and the last one equals the current lock date; so an unrecorded change is detected.
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
