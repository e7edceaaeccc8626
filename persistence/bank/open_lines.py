"""What else a line of a bank statement could be: an entry by hand, or one side of a transfer.

A handful of rows is read of each, as in `open_items`: by the amount that is left of the line.
"""

from typing import Final

from accounting.books.manual_entries import SOURCE

MOST: Final = 15

# Entries of which nothing but this amount is not shown yet, on the account of the line's bank
# account. The days are those around the line; an entry that the line names may be of any day.
_ENTRIES = f"""
SELECT 'journal_entry' AS target_type, entry.id AS target_id, %(amount)s::bigint AS amount,
       entry.entry_date AS "on", NULL::text AS party_name,
       array_remove(ARRAY[entry.sequence_number, entry.reference], NULL) AS references
FROM (
  SELECT DISTINCT entry_id FROM (
    (SELECT l.entry_id FROM journal_line l
     WHERE l.business_id = %(business_id)s AND l.account_id = %(account_id)s
       AND l.entry_date BETWEEN %(day_same_first)s AND %(day_same_last)s
       AND l.{{side}} >= %(amount)s
     ORDER BY abs(l.entry_date - %(day_of)s), l.id LIMIT {4 * MOST})
    UNION ALL
    SELECT e.id FROM journal_entry e
    WHERE e.business_id = %(business_id)s AND e.sequence_number = %(reference)s
  ) AS probed
) AS near
JOIN journal_entry entry ON entry.business_id = %(business_id)s AND entry.id = near.entry_id
CROSS JOIN LATERAL (
  SELECT sum(l.debit - l.credit) AS amount FROM journal_line l
  WHERE l.business_id = %(business_id)s AND l.entry_id = entry.id
    AND l.account_id = %(account_id)s
) AS moved
CROSS JOIN LATERAL (
  SELECT coalesce(sum(k.amount), 0) AS amount FROM bank_link k
  JOIN bank_transaction t ON t.business_id = %(business_id)s AND t.id = k.transaction_id
  WHERE k.business_id = %(business_id)s AND k.target_id = entry.id AND k.ended_at IS NULL
    AND t.bank_account_id = %(bank_account_id)s
) AS shown
WHERE entry.source_type = '{SOURCE}' AND {{sign}} * moved.amount - shown.amount = %(amount)s
LIMIT {MOST}"""

# Lines of other accounts that go the other way, of which just as much is left.
_LINES = f"""
SELECT 'transfer' AS target_type, t.id AS target_id, t.remaining AS amount, t.booked_on AS "on",
       b.display_name AS party_name, array_remove(ARRAY[t.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transaction
  WHERE business_id = %(business_id)s AND remaining = %(amount)s AND remaining > 0
    AND booked_on BETWEEN %(day_same_first)s AND %(day_same_last)s
    AND direction = '{{other}}' AND bank_account_id <> %(bank_account_id)s
  ORDER BY abs(booked_on - %(day_of)s), id LIMIT {MOST}
) AS t
JOIN bank_account b ON b.business_id = %(business_id)s AND b.id = t.bank_account_id"""

# Transfers that wait for a line of this account; the line that began one stands for it.
_WAITING = f"""
SELECT 'transfer' AS target_type, t.id AS target_id, waiting.amount, t.booked_on AS "on",
       b.display_name AS party_name, array_remove(ARRAY[t.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transfer
  WHERE business_id = %(business_id)s AND {{here}} = %(account_id)s AND {{missing}} IS NULL
    AND ended_at IS NULL AND amount <= %(amount)s
  ORDER BY abs(moved_on - %(day_of)s), id LIMIT {MOST}
) AS waiting
JOIN bank_transaction t
  ON t.business_id = %(business_id)s AND t.id = waiting.{{there}}
JOIN bank_account b ON b.business_id = %(business_id)s AND b.id = t.bank_account_id"""

LINES_COMING_IN: Final = (
    _ENTRIES.format(side="debit", sign="1"),
    _LINES.format(other="debit"),
    _WAITING.format(here="to_account_id", missing="in_transaction_id", there="out_transaction_id"),
)
LINES_GOING_OUT: Final = (
    _ENTRIES.format(side="credit", sign="-1"),
    _LINES.format(other="credit"),
    _WAITING.format(
        here="from_account_id", missing="out_transaction_id", there="in_transaction_id"
    ),
)
