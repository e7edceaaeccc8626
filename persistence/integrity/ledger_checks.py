"""Integrity checks of the journal: balance, sources, numbers and reversals of its entries."""

from accounting.books.chart import CONTROL_ROLES, Role
from accounting.books.manual_entries import SOURCE, STREAM
from accounting.books.revaluations import REVALUATION
from accounting.opening.openings import OPENING
from accounting.tax.settlements import SETTLEMENT
from accounting.trade.sides import PAYABLE
from persistence.integrity.definitions import BOTH, part_of, quoted
from persistence.ledger.balances import ADDED_UP, EVERY_SUM, LINES, TAX_ADDED_UP, TAX_KEY, TAX_SUMS
from persistence.ledger.line_digests import LINES_DIGEST_SQL
from persistence.ledger.tags import ANY_TAG, TAGGED
from persistence.ledger.unmarked_lines import AGREES

SOURCES = {
    "payout": "payout",
    "bank_transaction": "bank_transaction",
    "bank_transfer": "bank_transfer",
    OPENING: "opening_balance",
    REVALUATION: "revaluation",
    SETTLEMENT: "tax_return",
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

# An account with a currency holds nothing else, so its balance in the currency is complete.
CURRENCY_LINES = """
SELECT a.code AS name, NOT EXISTS (
         SELECT FROM journal_line l
         WHERE l.business_id = %(business_id)s AND l.account_id = a.id
           AND l.currency IS DISTINCT FROM a.currency
       ) AS holds
FROM account a
WHERE a.business_id = %(business_id)s AND a.currency IS NOT NULL"""

JOURNAL_CHECKS = {
    "trial_balance": TRIAL_BALANCE,
    "entries_balanced": ENTRIES_BALANCED,
    "entry_sources": ENTRY_SOURCES,
    "entry_numbers": ENTRY_NUMBERS,
    "reversals_mirror": REVERSALS_MIRROR,
    "currency_lines": CURRENCY_LINES,
}


# Integrity checks of manual entries and of drafts.


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

# The lines of an entry by hand are those that were posted. No other entry has texts on its lines.
ENTRY_LINES = f"""
SELECT e.sequence_number AS name,
       CASE WHEN e.created_by = 'system' THEN count(l.description) = 0
         ELSE e.lines_digest IS NULL OR e.lines_digest = {LINES_DIGEST_SQL} END AS holds
FROM journal_entry e
LEFT JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id
WHERE e.business_id = %(business_id)s
GROUP BY e.id, e.sequence_number, e.created_by, e.lines_digest"""

MANUAL_CHECKS = {
    "manual_entries": MANUAL_ENTRIES,
    "entry_lines": ENTRY_LINES,
    "drafts": DRAFTS,
}


# Integrity checks of the monthly sums: on both bases and schemes they equal the lines.


# The lines of the entries that the series counts as rolled up.
_ROLLED_UP = f"""
    FROM ({LINES}) AS line
    JOIN number_series s
      ON s.business_id = %(business_id)s AND s.series = line.series AND line.place <= s.rolled_up"""


def _differing(table: str, key: str, sums: tuple[str, ...], added_up: str, lines: str) -> str:
    """Return SQL with the stored and the computed sums of each key and month of a table."""
    nothing = ", ".join("0" for _ in sums)
    return f"""
  SELECT {key}, month, coalesce(kept.sums, ARRAY[{nothing}]) AS said,
         coalesce(added.sums, ARRAY[{nothing}]) AS found
  FROM (
    SELECT {key}, month, ARRAY[{", ".join(sums)}]::numeric[] AS sums
    FROM {table} WHERE business_id = %(business_id)s
  ) AS kept
  FULL JOIN (
    SELECT {key}, month, ARRAY[{added_up}]::numeric[] AS sums {lines}
    GROUP BY {key}, month
  ) AS added USING ({key}, month)"""


_OF_ACCOUNTS = _differing("account_month", "account_id", tuple(EVERY_SUM), ADDED_UP, _ROLLED_UP)
_OF_CODES = _differing(
    "tax_month", ", ".join(TAX_KEY), TAX_SUMS, TAX_ADDED_UP, f"{_ROLLED_UP} WHERE line.is_coded"
)
ROLL_UPS = f"""
SELECT coalesce(a.code, account_id::text) || ' in ' || to_char(month, 'YYYY-MM') AS name,
       bool_and(said = found) AS holds
FROM ({_OF_ACCOUNTS}) AS compared
LEFT JOIN account a ON a.business_id = %(business_id)s AND a.id = account_id
GROUP BY 1
UNION ALL
SELECT concat_ws(
         ' ', coalesce(c.code, tax_code_id::text), trim_scale(tax_rate), tax_part, 'in',
         to_char(month, 'YYYY-MM')
       ),
       bool_and(said = found)
FROM ({_OF_CODES}) AS compared
LEFT JOIN tax_code c ON c.business_id = %(business_id)s AND c.id = tax_code_id
GROUP BY 1
UNION ALL
SELECT series || ', of which ' || coalesce(rolled_up, 0) || ' are rolled up',
       coalesce(rolled_up, 0) BETWEEN 0 AND last
FROM number_series WHERE business_id = %(business_id)s AND series LIKE 'JE-%%'"""

BALANCES_CHECKS = {"roll_ups": ROLL_UPS}


# Integrity checks of the cash basis: its amounts are those that the journal lines settle.


def _targets() -> str:
    """Return SQL with the documents that write-offs and refunds are about.

    A refund from a vendor may be allocated later, or again (`later`). Until then its lines are
    about the refund itself, and those of its money about the refund payment.
    """
    selects = []
    for each in BOTH:
        selects += [
            f"SELECT id, document_id AS target_id, false AS later FROM {each.write_off}"
            " WHERE business_id = %(business_id)s",
            "SELECT refund_id, coalesce(document_id, payment_id, refunded_credit_id),"
            f" {str(each.refunds_paid_later).lower()} FROM {each.refund_allocation}"
            " WHERE business_id = %(business_id)s"
            " AND num_nonnulls(document_id, payment_id, refunded_credit_id) > 0",
        ]
    return " UNION ALL ".join(selects)


_LINES = f"""
  SELECT l.id, l.entry_id, e.sequence_number || ', line ' || l.line_number AS name, l.debit,
         l.credit, l.entry_date, l.split, l.in_cash, l.document_id,
         coalesce(l.settles_id, e.source_id) AS own_id, e.source_id,
         CASE e.source_type WHEN '{PAYABLE.refund_payment_source}' THEN e.source_id END AS money_id,
         {AGREES} AS agreed, l.account_id IN (
           SELECT id FROM account WHERE business_id = %(business_id)s
             AND role IN ({quoted((Role.EXCHANGE_GAINS, Role.EXCHANGE_LOSSES))})
         ) AS is_exchange
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = %(business_id)s AND e.id = l.entry_id
  WHERE l.business_id = %(business_id)s"""

# On the cash basis a line counts as it is, or its parts replace it; and it names its document.
CASH_LINES = f"""
WITH line AS ({_LINES}
), target AS (
  SELECT id, array_agg(target_id) AS ids, bool_or(later) AS later
  FROM ({_targets()}) AS each_one GROUP BY id
), differing AS (
  SELECT line_id FROM (
    SELECT line.id AS line_id, {part_of("share")} AS part, (share->>1)::bigint AS amount
    FROM line CROSS JOIN jsonb_array_elements(line.split) AS share WHERE NOT agreed
    UNION ALL
    SELECT c.line_id, concat_ws(' ', c.account_id, c.tax_code_id, c.tax_rate, c.tax_part),
           c.credit - c.debit
    FROM cash_line c WHERE c.business_id = %(business_id)s
  ) AS amounts
  GROUP BY line_id, part HAVING sum(amount) <> 0
  UNION ALL
  SELECT c.line_id FROM cash_line c LEFT JOIN line ON line.id = c.line_id
  WHERE c.business_id = %(business_id)s
    AND (c.entry_id, c.entry_date, c.document_id)
      IS DISTINCT FROM (line.entry_id, line.entry_date, line.document_id)
)
SELECT coalesce(line.name, 'a part of no line') AS name,
       differing.line_id IS NULL
       AND line.in_cash IS NOT DISTINCT FROM (line.split = '[]' AND NOT line.agreed)
       AND CASE WHEN line.document_id = line.money_id THEN true
         WHEN line.is_exchange AND line.document_id <> line.own_id AND target.id IS NULL
         THEN EXISTS (
           SELECT FROM journal_entry known
           JOIN journal_line settling ON settling.business_id = %(business_id)s
             AND settling.entry_id = known.id AND settling.settles_id = line.document_id
           WHERE known.business_id = %(business_id)s AND known.source_id = line.source_id
           UNION ALL
           SELECT FROM bank_link shown WHERE shown.business_id = %(business_id)s
             AND shown.transaction_id = line.source_id AND shown.target_id = line.document_id)
         WHEN target.id IS NULL OR target.later AND line.document_id = line.own_id
         THEN line.document_id = line.own_id
         ELSE line.document_id = ANY(target.ids) END AS holds
FROM line
FULL JOIN (SELECT DISTINCT line_id FROM differing) AS differing ON differing.line_id = line.id
LEFT JOIN target ON target.id = line.own_id"""

# Each entry balances on the cash basis, so the books balance on every day.
CASH_BALANCED = """
SELECT e.sequence_number AS name, coalesce(sum(counted.amount), 0) = 0 AS holds
FROM journal_entry e
LEFT JOIN (
  SELECT entry_id, debit - credit AS amount FROM journal_line
  WHERE business_id = %(business_id)s AND in_cash
  UNION ALL
  SELECT entry_id, debit - credit FROM cash_line WHERE business_id = %(business_id)s
) AS counted ON counted.entry_id = e.id
WHERE e.business_id = %(business_id)s
GROUP BY e.id, e.sequence_number"""

CASH_CHECKS = {"cash_lines": CASH_LINES, "cash_balanced": CASH_BALANCED}


# Integrity check of tagged lines: they are the lines of the documents with the tag.


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
    SELECT 1, own.tag, account_id, entry_date, id, entry_id, document_id, debit, credit, true,
           coalesce(in_cash, false), own.has_several
    FROM journal_line
    CROSS JOIN LATERAL (
      SELECT DISTINCT value AS tag, false AS has_several FROM jsonb_array_elements_text(tags)
      UNION ALL
      SELECT '{ANY_TAG}', count(DISTINCT value) > 1 FROM jsonb_array_elements_text(tags)
    ) AS own
    WHERE business_id = %(business_id)s AND tags IS NOT NULL
    UNION ALL
    SELECT -1, tag, account_id, entry_date, line_id, entry_id, document_id, debit, credit,
           in_ledger, in_cash, has_several
    FROM tagged_line WHERE business_id = %(business_id)s
  ) AS compared
  GROUP BY tag, account_id, entry_date, id, entry_id, document_id, debit, credit, in_ledger,
           in_cash, has_several
) AS tagged
GROUP BY tagged.tag"""

TAGS_CHECKS = {"tagged_lines": TAGGED_LINES}


# Integrity check of locked periods: by the audit trail, no entry was posted into one.


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

PERIODS_CHECKS = {"nothing_inside_the_lock": NOTHING_INSIDE_THE_LOCK}
