"""What must hold of the roll-up of balances: it says what the lines say."""

# The months of the roll-up against the lines of the entries that are said to be in it.
ROLL_UPS = """
SELECT coalesce(a.code, account_id::text) || ' in ' || to_char(month, 'YYYY-MM') AS name,
       bool_and(debits = 0 AND credits = 0 AND debit_count = 0 AND credit_count = 0) AS holds
FROM (
  SELECT account_id, month, sum(debits) AS debits, sum(credits) AS credits,
         sum(debit_count) AS debit_count, sum(credit_count) AS credit_count
  FROM (
    SELECT account_id, month, debits, credits, debit_count, credit_count
    FROM account_month WHERE business_id = %(business_id)s
    UNION ALL
    SELECT l.account_id, date_trunc('month', l.entry_date::timestamp)::date,
           -sum(l.debit), -sum(l.credit),
           -count(*) FILTER (WHERE l.debit > 0), -count(*) FILTER (WHERE l.credit > 0)
    FROM journal_line l
    JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
    JOIN number_series s
      ON s.business_id = %(business_id)s AND s.series = e.series AND e.place <= s.rolled_up
    WHERE l.business_id = %(business_id)s
    GROUP BY 1, 2
  ) AS both_sides
  GROUP BY account_id, month
) AS compared
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = account_id
GROUP BY 1
UNION ALL
SELECT series || ', of which ' || coalesce(rolled_up, 0) || ' are rolled up',
       coalesce(rolled_up, 0) BETWEEN 0 AND last
FROM number_series WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'"""

CHECKS = {"roll_ups": ROLL_UPS}
