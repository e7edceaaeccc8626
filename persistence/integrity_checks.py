"""What must hold in the books of one business, as statements: each row names one thing and tells
whether it holds.

What only the rules can tell, that every document is posted as it desires, is in `integrity.py`.
"""

from accounting.chart import CLEARED_BY_PROCESSOR, CONTROL_ROLES, Role

PROVEN_BY_DOCUMENTS = (Role.ACCOUNTS_RECEIVABLE, Role.CUSTOMER_PREPAYMENTS)


def verdict(examined: str) -> str:
    """Turn rows of (name, holds) into how many were looked at and the first that does not hold."""
    return (
        "SELECT count(*) AS checked, min(name) FILTER (WHERE holds IS NOT TRUE) AS first_offender"
        f" FROM ({examined}) AS examined"
    )


def _quoted(words: frozenset[str] | frozenset[Role]) -> str:
    return ", ".join(f"'{word}'" for word in sorted(words))


def _stands_at(role: Role, due: str, *, posted_by: str = "") -> str:
    """An account against what documents say of it, debits above zero."""
    return f"""
    SELECT '{role} stands at ' || posted.balance || ', its documents say ' || due.amount AS name,
           posted.balance = due.amount AS holds
    FROM (
      SELECT coalesce(sum(l.debit - l.credit), 0) AS balance
      FROM account a
      JOIN journal_line l ON l.business_id = a.business_id AND l.account_id = a.id
      JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
      WHERE a.business_id = %(business_id)s AND a.role = '{role}' {posted_by}
    ) AS posted, ({due}) AS due"""


TRIAL_BALANCE = """
SELECT 'debits of ' || coalesce(sum(debit), 0) || ' against credits of '
       || coalesce(sum(credit), 0) AS name,
       coalesce(sum(debit), 0) = coalesce(sum(credit), 0) AS holds
FROM journal_line WHERE business_id = %(business_id)s"""

ENTRIES_BALANCED = """
SELECT e.sequence_number AS name,
       count(l.id) >= 2 AND sum(l.debit) = e.total AND sum(l.credit) = e.total
       AND min(l.line_number) = 1 AND max(l.line_number) = count(l.id)
       AND bool_and(l.entry_date = e.entry_date) AS holds
FROM journal_entry e
LEFT JOIN journal_line l ON l.business_id = e.business_id AND l.entry_id = e.id
WHERE e.business_id = %(business_id)s
GROUP BY e.id, e.sequence_number, e.total"""

ENTRY_SOURCES = """
SELECT e.sequence_number AS name, coalesce(i.id, p.id) IS NOT NULL AS holds
FROM journal_entry e
LEFT JOIN invoice i
  ON e.source_type = 'invoice' AND i.business_id = e.business_id AND i.id = e.source_id
LEFT JOIN invoice_payment p
  ON e.source_type = 'payment' AND p.business_id = e.business_id AND p.id = e.source_id
WHERE e.business_id = %(business_id)s"""

# The lines of an entry and those of its reversal, turned round, are the same lines.
REVERSALS_MIRROR = """
SELECT r.sequence_number AS name,
       r.source_id = e.source_id AND r.stream = e.stream AND r.total = e.total AND NOT EXISTS (
         SELECT FROM (
           SELECT 1 AS n, account_id, settles_id, debit, credit FROM journal_line
           WHERE business_id = e.business_id AND entry_id = e.id
           UNION ALL
           SELECT -1, account_id, settles_id, credit, debit FROM journal_line
           WHERE business_id = r.business_id AND entry_id = r.id
         ) AS both_sides
         GROUP BY account_id, settles_id, debit, credit HAVING sum(n) <> 0
       ) AS holds
FROM journal_entry r
JOIN journal_entry e ON e.business_id = r.business_id AND e.id = r.reversal_of_id
WHERE r.business_id = %(business_id)s"""

# The nth entry of a year carries the number n, and the year's series counts as many.
ENTRY_NUMBERS = """
WITH counted AS (
  SELECT sequence_number, entry_date, left(sequence_number, 7) AS series,
         substr(sequence_number, 9)::bigint AS place,
         row_number() OVER (
           PARTITION BY left(sequence_number, 7) ORDER BY substr(sequence_number, 9)::bigint
         ) AS rank
  FROM journal_entry
  WHERE business_id = %(business_id)s AND sequence_number ~ '^JE-[0-9]{4}-[0-9]{6,12}$'
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
WHERE business_id = %(business_id)s AND sequence_number !~ '^JE-[0-9]{4}-[0-9]{6,12}$'"""

# Numbers that callers gave leave gaps; none in the series' own form may lie ahead of it.
INVOICE_NUMBERS = """
SELECT i.number AS name, substr(i.number, 5)::bigint <= coalesce(s.last, 0) AS holds
FROM invoice i
LEFT JOIN number_series s ON s.business_id = i.business_id AND s.series = 'INV'
WHERE i.business_id = %(business_id)s AND i.number ~ '^INV-([0-9]{6}|[1-9][0-9]{6,11})$'"""

INVOICE_TOTALS = """
SELECT coalesce(i.number, i.id::text) AS name,
       i.subtotal = line.subtotal AND i.tax_total = line.tax
       AND i.additional_discount = line.share
       AND i.discount_total = line.discount + i.additional_discount
       AND i.total_amount = i.subtotal - i.additional_discount + i.tax_total AS holds
FROM invoice i, LATERAL (
  SELECT coalesce(sum((item->>'subtotal')::bigint), 0) AS subtotal,
         coalesce(sum((item->>'discount_amount')::bigint), 0) AS discount,
         coalesce(sum((item->>'discount_share')::bigint), 0) AS share,
         coalesce(sum((
           SELECT sum((tax->>0)::bigint) FROM jsonb_array_elements(item->'taxes') AS tax
         )), 0) AS tax
  FROM jsonb_array_elements(i.lines) AS item
) AS line
WHERE i.business_id = %(business_id)s"""

# Nothing credits, refunds or writes off an invoice yet.
INVOICE_SETTLEMENT = """
SELECT coalesce(i.number, i.id::text) AS name,
       i.paid = coalesce(a.applied, 0) AND i.reserved = coalesce(a.reserved, 0)
       AND i.credited = 0 AND i.written_off = 0 AND i.refunded = 0
       AND (i.paid_on IS NOT NULL) = (i.state = 'open' AND i.outstanding = 0) AS holds
FROM invoice i
LEFT JOIN (
  SELECT a.document_id,
         sum(a.amount) FILTER (WHERE p.status = 'completed') AS applied,
         sum(a.amount) FILTER (WHERE p.status IN ('pending', 'processing')) AS reserved
  FROM invoice_allocation a
  JOIN invoice_payment p ON p.business_id = a.business_id AND p.id = a.payment_id
  WHERE a.business_id = %(business_id)s AND a.end_on IS NULL
  GROUP BY a.document_id
) AS a ON a.document_id = i.id
WHERE i.business_id = %(business_id)s"""

# By account, what is settled of an invoice is what its live allocations have settled.
INVOICE_PARTS_SETTLED = """
SELECT coalesce(i.number, i.id::text) AS name,
       i.paid = settled.amount AND NOT EXISTS (
         SELECT FROM (
           SELECT part->>0 AS account, (part->>1)::bigint AS amount
           FROM jsonb_array_elements(i.settled) AS part
           UNION ALL
           SELECT part->>0, -(part->>1)::bigint
           FROM invoice_allocation a, jsonb_array_elements(a.split) AS part
           WHERE a.business_id = i.business_id AND a.document_id = i.id AND a.end_on IS NULL
         ) AS parts
         GROUP BY account HAVING sum(amount) <> 0
       ) AS holds
FROM invoice i, LATERAL (
  SELECT coalesce(sum((part->>1)::bigint), 0) AS amount
  FROM jsonb_array_elements(i.settled) AS part
) AS settled
WHERE i.business_id = %(business_id)s"""

PAYMENT_AMOUNTS = """
SELECT p.id::text AS name,
       p.allocated = coalesce(a.amount, 0)
       AND p.applied = CASE WHEN p.status = 'completed' THEN p.allocated ELSE 0 END
       AND (p.allocated = 0 OR p.status IN ('pending', 'processing', 'completed')) AS holds
FROM invoice_payment p
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM invoice_allocation
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY payment_id
) AS a ON a.payment_id = p.id
WHERE p.business_id = %(business_id)s"""

# A live allocation is of an open invoice of the same customer, and is split once it is applied.
ALLOCATIONS = """
SELECT a.id::text AS name,
       coalesce(share.amount, a.amount) = a.amount
       AND (
         a.end_on IS NOT NULL
         OR i.state = 'open' AND i.party_id = p.party_id
         AND (share.amount IS NOT NULL) = (p.status = 'completed')
       ) AS holds
FROM invoice_allocation a
JOIN invoice_payment p ON p.business_id = a.business_id AND p.id = a.payment_id
JOIN invoice i ON i.business_id = a.business_id AND i.id = a.document_id,
LATERAL (
  SELECT sum((part->>1)::bigint) AS amount FROM jsonb_array_elements(a.split) AS part
) AS share
WHERE a.business_id = %(business_id)s"""

RECEIVABLES = _stands_at(
    Role.ACCOUNTS_RECEIVABLE,
    "SELECT coalesce(sum(outstanding), 0) AS amount FROM invoice"
    " WHERE business_id = %(business_id)s AND state = 'open'",
)

PREPAYMENTS = _stands_at(
    Role.CUSTOMER_PREPAYMENTS,
    "SELECT -coalesce(sum(total - allocated), 0) AS amount FROM invoice_payment"
    " WHERE business_id = %(business_id)s AND status = 'completed'",
)

CLEARING = _stands_at(
    Role.PROCESSOR_CLEARING,
    "SELECT coalesce(sum(total - fee), 0) AS amount FROM invoice_payment"
    " WHERE business_id = %(business_id)s AND status = 'completed'"
    f" AND (processor <> '' OR method IN ({_quoted(CLEARED_BY_PROCESSOR)}))",
    posted_by="AND e.source_type = 'payment'",
)

# Their documents do not exist yet, so nothing may stand on them.
IDLE_CONTROL_ACCOUNTS = f"""
SELECT a.role || ' stands at ' || coalesce(sum(l.debit - l.credit), 0) AS name,
       coalesce(sum(l.debit - l.credit), 0) = 0 AS holds
FROM account a
LEFT JOIN journal_line l ON l.business_id = a.business_id AND l.account_id = a.id
WHERE a.business_id = %(business_id)s
  AND a.role IN ({_quoted(CONTROL_ROLES - frozenset(PROVEN_BY_DOCUMENTS))})
GROUP BY a.role"""

CHECKS = {
    "trial_balance": TRIAL_BALANCE,
    "entries_balanced": ENTRIES_BALANCED,
    "entry_sources": ENTRY_SOURCES,
    "entry_numbers": ENTRY_NUMBERS,
    "reversals_mirror": REVERSALS_MIRROR,
    "invoice_numbers": INVOICE_NUMBERS,
    "invoice_totals": INVOICE_TOTALS,
    "invoice_settlement": INVOICE_SETTLEMENT,
    "invoice_parts_settled": INVOICE_PARTS_SETTLED,
    "payment_amounts": PAYMENT_AMOUNTS,
    "allocations": ALLOCATIONS,
    "receivables": RECEIVABLES,
    "prepayments": PREPAYMENTS,
    "clearing": CLEARING,
    "idle_control_accounts": IDLE_CONTROL_ACCOUNTS,
}
"""Every check by its name; a later kind of document joins with its own."""
