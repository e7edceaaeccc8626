"""Journals as large as one likes, written past the API in a few statements."""

import psycopg

from bench.stage import Business
from persistence.ledger.balances import STEP

LINES = 4  # Of an entry.
_FIRST, _DAYS = "DATE '2024-01-01'", 1_000  # The days that the entries are spread over, in order.

# Half of all lines stand on two accounts, as receivables and sales do; the others go round.
_PLANT = f"""
CREATE TEMP TABLE planted ON COMMIT DROP AS
WITH chart AS (
  SELECT array_agg(id ORDER BY code) AS ids, count(*)::int AS size FROM account
  WHERE business_id = %(business_id)s
), dated AS (
  SELECT n, {_FIRST} + (n * {_DAYS}::bigint / %(entries)s)::int AS entry_date
  FROM generate_series(0, %(entries)s - 1) AS n
), numbered AS (
  SELECT n, entry_date, to_char(entry_date, 'YYYY') AS year, 100 + n %% 997 AS cents,
         row_number() OVER (PARTITION BY extract(year FROM entry_date) ORDER BY n) AS place
  FROM dated
)
SELECT n, entry_date, year, place, cents,
       ('01900000-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid AS id,
       ARRAY[ids[4], ids[27], ids[1 + n %% size], ids[1 + n * 7 %% size]] AS accounts
FROM numbered, chart
"""
_ENTRIES = """
INSERT INTO journal_entry
  (business_id, id, version, created_at, sequence_number, entry_date, posted_at, reference,
   description, currency, total, stream, created_by, source_type, source_id)
SELECT %(business_id)s, id, 1, entry_date::timestamptz,
       'JE-' || year || '-' || lpad(place::text, greatest(6, length(place::text)), '0'),
       entry_date, entry_date::timestamptz, 'R-' || n, 'Planted entry ' || n, 'GBP', 2 * cents,
       'planted', 'system', 'invoice', id
FROM planted
"""
_LINES = f"""
INSERT INTO journal_line
  (business_id, id, entry_id, line_number, account_id, entry_date, debit, credit, split)
SELECT %(business_id)s,
       ('01900000-0000-7000-8000-' || lpad(to_hex(n * {LINES} + line), 12, '0'))::uuid, id, line,
       accounts[line], entry_date,
       CASE WHEN line %% 2 = 1 THEN cents ELSE 0 END, CASE WHEN line %% 2 = 0 THEN cents ELSE 0 END,
       '[]'
FROM planted, generate_series(1, {LINES}) AS line
"""
# As far as postings of one entry each would have rolled them up.
_SERIES = f"""
INSERT INTO number_series (business_id, series, last, rolled_up)
SELECT %(business_id)s, 'JE-' || year, max(place), max(place) / {STEP} * {STEP}
FROM planted GROUP BY year
"""
_MONTHS = """
INSERT INTO account_month
  (business_id, account_id, month, debits, credits, debit_count, credit_count)
SELECT l.business_id, l.account_id, date_trunc('month', l.entry_date::timestamp)::date,
       sum(l.debit), sum(l.credit),
       count(*) FILTER (WHERE l.debit > 0), count(*) FILTER (WHERE l.credit > 0)
FROM journal_line l
JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
JOIN number_series s ON s.business_id = e.business_id AND s.series = e.series
WHERE l.business_id = %(business_id)s AND e.place <= s.rolled_up
GROUP BY 1, 2, 3
"""


def plant(business: Business, lines: int) -> None:
    """Give a business with an empty journal this many lines, in entries of four."""
    told = {"business_id": business.id, "entries": lines // LINES}
    with psycopg.connect(business.database_url) as connection:
        connection.execute("SET session_replication_role = replica")  # No trigger looks.
        # PostgreSQL knows nothing yet of what is in these tables, and would expect few rows.
        connection.execute("SET enable_nestloop = off")
        for statement in (_PLANT, _ENTRIES, _LINES, _SERIES, _MONTHS):
            connection.execute(statement, told)
