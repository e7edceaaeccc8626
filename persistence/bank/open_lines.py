"""More match candidates for a bank line: manual entries, and the other side of a transfer.

Each statement reads only a few rows, selected by the line's remaining amount, as in `open_items`.
"""

from typing import Final

from accounting.books.manual_entries import SOURCE

MOST: Final = 15
NEAREST: Final = 1_000  # Manual entries that are searched, nearest to the day of the line.

# Manual entries whose unlinked amount on the line's ledger account equals the line's remaining
# amount. Their day is near that of the line, or the line's reference is their number.
_ENTRIES = f"""
SELECT 'journal_entry' AS target_type, journal_entry.id AS target_id,
       %(amount)s::bigint AS amount, journal_entry.entry_date AS "on", NULL::text AS party_name,
       array_remove(
         ARRAY[journal_entry.sequence_number, journal_entry.reference], NULL
       ) AS references
FROM (
  (SELECT journal_entry.id FROM journal_entry
   WHERE journal_entry.business_id = %(business_id)s AND journal_entry.source_type = '{SOURCE}'
     AND journal_entry.entry_date BETWEEN %(day_same_first)s AND %(day_same_last)s
   ORDER BY abs(journal_entry.entry_date - %(day_of)s), journal_entry.id LIMIT {NEAREST})
  UNION
  SELECT journal_entry.id FROM journal_entry
  WHERE journal_entry.business_id = %(business_id)s
    AND journal_entry.sequence_number = %(reference)s
) AS near
JOIN journal_entry
  ON journal_entry.business_id = %(business_id)s AND journal_entry.id = near.id
CROSS JOIN LATERAL (
  SELECT sum(journal_line.debit - journal_line.credit) AS amount FROM journal_line
  WHERE journal_line.business_id = %(business_id)s
    AND journal_line.entry_id = journal_entry.id AND journal_line.account_id = %(account_id)s
) AS moved
CROSS JOIN LATERAL (
  SELECT coalesce(sum(bank_link.amount), 0) AS amount FROM bank_link
  JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
    AND bank_transaction.id = bank_link.transaction_id
  WHERE bank_link.business_id = %(business_id)s
    AND bank_link.target_id = journal_entry.id AND bank_link.ended_at IS NULL
    AND bank_transaction.bank_account_id = %(bank_account_id)s
) AS shown
WHERE journal_entry.source_type = '{SOURCE}'
  AND {{sign}} * moved.amount - shown.amount = %(amount)s
LIMIT {MOST}"""

# Bank lines of other accounts in the opposite direction, with the same remaining amount.
_LINES = f"""
SELECT 'transfer' AS target_type, found.id AS target_id, found.remaining AS amount,
       found.booked_on AS "on", bank_account.display_name AS party_name,
       array_remove(ARRAY[found.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transaction
  WHERE bank_transaction.business_id = %(business_id)s
    AND remaining = %(amount)s AND remaining > 0
    AND booked_on BETWEEN %(day_same_first)s AND %(day_same_last)s
    AND direction = '{{other}}' AND bank_account_id <> %(bank_account_id)s
  ORDER BY abs(booked_on - %(day_of)s), id LIMIT {MOST}
) AS found
JOIN bank_account
  ON bank_account.business_id = %(business_id)s AND bank_account.id = found.bank_account_id"""

# Open transfers without a line of this account yet. Each is represented by its first line.
_WAITING = f"""
SELECT 'transfer' AS target_type, bank_transaction.id AS target_id, waiting.amount,
       bank_transaction.booked_on AS "on", bank_account.display_name AS party_name,
       array_remove(ARRAY[bank_transaction.reference], NULL) AS references
FROM (
  SELECT * FROM bank_transfer
  WHERE bank_transfer.business_id = %(business_id)s AND {{here}} = %(account_id)s
    AND {{missing}} IS NULL AND ended_at IS NULL AND amount <= %(amount)s
  ORDER BY abs(moved_on - %(day_of)s), id LIMIT {MOST}
) AS waiting
JOIN bank_transaction ON bank_transaction.business_id = %(business_id)s
  AND bank_transaction.id = waiting.{{there}}
JOIN bank_account ON bank_account.business_id = %(business_id)s
  AND bank_account.id = bank_transaction.bank_account_id"""

LINES_COMING_IN: Final = (
    _ENTRIES.format(sign="1"),
    _LINES.format(other="debit"),
    _WAITING.format(here="to_account_id", missing="in_transaction_id", there="out_transaction_id"),
)
LINES_GOING_OUT: Final = (
    _ENTRIES.format(sign="-1"),
    _LINES.format(other="credit"),
    _WAITING.format(
        here="from_account_id", missing="out_transaction_id", there="in_transaction_id"
    ),
)
