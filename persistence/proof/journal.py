"""Integrity checks of the journal: balance, sources, numbers and reversals of its entries."""

from accounting.books.manual_entries import SOURCE
from accounting.opening.opening_postings import OPENING
from persistence.proof.sides import BOTH

SOURCES = {
    "payout": "payout",
    "bank_transaction": "bank_transaction",
    "bank_transfer": "bank_transfer",
    OPENING: "opening_balance",
    **{each.side.document_source: each.document for each in BOTH},
    **{each.side.payment_source: each.payment for each in BOTH},
    **{each.side.credit_source: each.credit for each in BOTH},
    **{each.side.refund_source: each.refund for each in BOTH},
    **{each.side.write_off_source: each.write_off for each in BOTH},
    **{each.side.refund_payment_source: each.refund_payment for each in BOTH},
}
"""The table of the documents of each source type of entries."""


def _documents() -> str:
    """Return SQL with the sources of all entries; a manual entry is its own source."""
    selects = [
        f"SELECT '{source}' AS type, id FROM {table} WHERE business_id = %(business_id)s"
        for source, table in SOURCES.items()
    ]
    written = "WHERE business_id = %(business_id)s AND source_id = id AND reversal_of_id IS NULL"
    selects.append(f"SELECT '{SOURCE}', id FROM journal_entry {written}")
    return " UNION ALL ".join(selects)


TRIAL_BALANCE = """
SELECT 'debits of ' || coalesce(sum(debit), 0) || ' against credits of '
       || coalesce(sum(credit), 0) AS name,
       coalesce(sum(debit), 0) = coalesce(sum(credit), 0) AS holds
FROM journal_line WHERE business_id = %(business_id)s"""

ENTRIES_BALANCED = """
SELECT e.sequence_number AS name,
       count(l.id) >= 2 AND count(l.id) = e.line_count
       AND sum(l.debit) = e.total AND sum(l.credit) = e.total
       AND min(l.line_number) = 1 AND max(l.line_number) = count(l.id)
       AND bool_and(l.entry_date = e.entry_date) AS holds
FROM journal_entry e
LEFT JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id
WHERE e.business_id = %(business_id)s
GROUP BY e.id, e.sequence_number, e.total, e.line_count"""

ENTRY_SOURCES = f"""
SELECT e.sequence_number AS name, d.id IS NOT NULL AS holds
FROM journal_entry e
LEFT JOIN ({_documents()}) AS d ON d.type = e.source_type AND d.id = e.source_id
WHERE e.business_id = %(business_id)s"""

# A reversal has the lines of its entry, with debit and credit exchanged.
REVERSALS_MIRROR = """
SELECT r.sequence_number AS name,
       r.source_id = e.source_id AND r.stream = e.stream AND r.total = e.total AND NOT EXISTS (
         SELECT FROM (
           SELECT 1 AS n, account_id, settles_id, debit, credit FROM journal_line
           WHERE business_id = %(business_id)s AND entry_id = e.id
           UNION ALL
           SELECT -1, account_id, settles_id, credit, debit FROM journal_line
           WHERE business_id = %(business_id)s AND entry_id = r.id
         ) AS both_sides
         GROUP BY account_id, settles_id, debit, credit HAVING sum(n) <> 0
       ) AS holds
FROM journal_entry r
JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = r.reversal_of_id
WHERE r.business_id = %(business_id)s"""

# The nth entry of a year has the number n, and the series of the year counts as many.
ENTRY_NUMBERS = """
WITH counted AS (
  SELECT entry_date, series, place, row_number() OVER (PARTITION BY series ORDER BY place) AS rank
  FROM journal_entry
  WHERE business_id = %(business_id)s AND place IS NOT NULL
), used AS (SELECT series, count(*) AS entries FROM counted GROUP BY series)
SELECT series || '-' || lpad(rank::text, greatest(6, length(rank::text)), '0') AS name,
       place = rank AND series = 'JE-' || to_char(entry_date, 'YYYY') AS holds
FROM counted
UNION ALL
SELECT 'the series ' || coalesce(u.series, s.series) || ' counts ' || coalesce(s.last, 0)
       || ' with ' || coalesce(u.entries, 0) || ' entries',
       coalesce(s.last, 0) = coalesce(u.entries, 0)
FROM used u
FULL JOIN (
  SELECT series, last FROM number_series
  WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'
) AS s ON s.series = u.series
UNION ALL
SELECT sequence_number, false FROM journal_entry
WHERE business_id = %(business_id)s AND place IS NULL"""

CHECKS = {
    "trial_balance": TRIAL_BALANCE,
    "entries_balanced": ENTRIES_BALANCED,
    "entry_sources": ENTRY_SOURCES,
    "entry_numbers": ENTRY_NUMBERS,
    "reversals_mirror": REVERSALS_MIRROR,
}
