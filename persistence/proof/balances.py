"""What must hold of the roll-up of balances: on both bases it says what the lines say."""

from persistence.ledger.balances import ADDED_UP, BOTH_BASES, EVERY_SUM

# The months of the roll-up against the lines of the entries that are said to be in it.
ROLL_UPS = f"""
SELECT coalesce(a.code, account_id::text) || ' in ' || to_char(month, 'YYYY-MM') AS name,
       bool_and(said = found) AS holds
FROM (
  SELECT coalesce(kept.account_id, added.account_id) AS account_id,
         coalesce(kept.month, added.month) AS month,
         coalesce(kept.sums, ARRAY[0, 0, 0, 0, 0, 0, 0, 0]) AS said,
         coalesce(added.sums, ARRAY[0, 0, 0, 0, 0, 0, 0, 0]) AS found
  FROM (
    SELECT account_id, month, ARRAY[{", ".join(EVERY_SUM)}]::numeric[] AS sums
    FROM account_month WHERE business_id = %(business_id)s
  ) AS kept
  FULL JOIN (
    SELECT line.account_id, date_trunc('month', line.entry_date::timestamp)::date AS month,
           ARRAY[{ADDED_UP}]::numeric[] AS sums
    FROM ({BOTH_BASES}) AS line
    JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = line.entry_id
    JOIN number_series s
      ON s.business_id = %(business_id)s AND s.series = e.series AND e.place <= s.rolled_up
    GROUP BY 1, 2
  ) AS added ON added.account_id = kept.account_id AND added.month = kept.month
) AS compared
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = account_id
GROUP BY 1
UNION ALL
SELECT series || ', of which ' || coalesce(rolled_up, 0) || ' are rolled up',
       coalesce(rolled_up, 0) BETWEEN 0 AND last
FROM number_series WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'"""

CHECKS = {"roll_ups": ROLL_UPS}
