"""Data of the peers: as many rows as this server has, with ids derived from numbers."""

from pathlib import Path
from uuid import UUID

import psycopg
from psycopg.types.json import Jsonb

from tools.bench.peers.statements import CODES
from tools.bench.seed import CUSTOMER, UNPAID, Size

SCHEMA = Path(__file__).with_name("schema.sql")
PARTNER = UUID(int=1)
SPACING = 1_000_000  # The distance of the first ids of two businesses.
OWED = 1_000_000  # The total of an invoice, in cents.
ACCOUNTS = 42  # Per business, as on this server.


def id_of(business: int, place: int = 0) -> UUID:
    """Return the id of a business, or of its customer or invoice at a place counted from 1."""
    return UUID(int=business * SPACING + place)


_ID = "lpad(to_hex(%(first)s::bigint + n), 32, '0')::uuid"
_CUSTOMERS = f"""
INSERT INTO customer (id, business_id, created_at, updated_at, reference_number, company_name,
  email, mobile_phone, office_phone, address_line1, address_line2, city, state_county, postal_code,
  country, vat_number, notes, tax_exempt, transaction_tags, metadata, payment_terms_days,
  credit_limit_cents)
SELECT {_ID}, %(business)s, now(), now(), p->>'reference_number',
  'Blue Door Cafe ' || n || ' Ltd', 'hello-' || n || '@bluedoor.co.uk', p->>'mobile_phone',
  p->>'office_phone', p->>'address_line1', p->>'address_line2', p->>'city', p->>'state_county',
  p->>'postal_code', p->>'country', p->>'vat_number', p->>'notes', false, p->'transaction_tags',
  p->'metadata', (p->>'payment_terms_days')::int, (p->>'credit_limit_cents')::int
FROM generate_series(1, %(customers)s) AS n, (SELECT %(customer)s::jsonb AS p) AS given
"""
# In turn a draft, an overdue invoice and one that is not due yet.
_INVOICES = f"""
INSERT INTO invoice (id, business_id, customer_id, number, state, currency, sent_at, due_at,
  subtotal, tax_total, total_amount, outstanding, memo, created_at, updated_at)
SELECT {_ID}, %(business)s,
  lpad(to_hex(%(first)s::bigint + n %% %(customers)s + 1), 32, '0')::uuid,
  CASE WHEN sent THEN 'INV-' || n END, CASE WHEN sent THEN 'open' ELSE 'draft' END, 'GBP',
  CASE WHEN sent THEN at END,
  CASE WHEN late THEN at + interval '14 days' ELSE timestamptz '2099-12-31' END,
  net, {OWED} - net, {OWED}, CASE WHEN sent THEN {OWED} ELSE 0 END, 'Thank you', at, at
FROM (
  SELECT n, timestamptz '2024-01-01' + n %% 365 * interval '1 day' AS at,
         %(paid_into)s OR n %% 3 > 0 AS sent, NOT %(paid_into)s AND n %% 3 = 1 AS late,
         {OWED} / 6 * 5 AS net
  FROM generate_series(1, %(invoices)s) AS n
) AS planned
"""
_LINES = """
INSERT INTO invoice_line (id, invoice_id, place, description, quantity, unit_price, tax_rate, net,
  tax)
SELECT gen_random_uuid(), id, place, 'Espresso beans, 1 kg', 1, subtotal / 2, 20, subtotal / 2,
       tax_total / 2
FROM invoice, generate_series(1, 2) AS place WHERE business_id = %(business)s
"""
_ENTRIES = """
INSERT INTO entry (id, business_id, number, entry_date, description, source_id)
SELECT gen_random_uuid(), business_id, 'JE-' || row_number() OVER (), sent_at::date, 'Posted', id
FROM invoice WHERE business_id = %(business)s AND state = 'open'
"""
_ENTRY_LINES = """
INSERT INTO entry_line (id, business_id, entry_id, account_id, entry_date, debit, credit)
SELECT gen_random_uuid(), e.business_id, e.id, a.id, e.entry_date,
       CASE WHEN place = 1 THEN i.total_amount ELSE 0 END,
       CASE place WHEN 1 THEN 0 WHEN 2 THEN i.subtotal ELSE i.tax_total END
FROM entry e JOIN invoice i ON i.id = e.source_id
CROSS JOIN unnest(ARRAY['1200', '4000', '2200']) WITH ORDINALITY AS chosen (code, place)
JOIN account a ON a.business_id = e.business_id AND a.code = chosen.code
WHERE e.business_id = %(business)s
"""
_ACCOUNTS = """
INSERT INTO account (id, business_id, code, name)
SELECT gen_random_uuid(), %(business)s, code, 'Account ' || code
FROM (SELECT unnest(%(codes)s::text[]) UNION
      SELECT (5000 + n)::text FROM generate_series(5, %(accounts)s) AS n) AS chart (code)
"""
_COUNTERS = """
INSERT INTO counter (id, business_id, series, last)
SELECT gen_random_uuid(), %(business)s, series, last
FROM (SELECT 'INV' AS series, %(invoices)s AS last
      UNION SELECT 'JE', count(*) FROM entry WHERE business_id = %(business)s) AS started
"""


def fill(url: str, sizes: list[Size]) -> None:
    """Create the schema, and a business of each size, numbered from 1."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(SCHEMA.read_text(encoding="utf-8"))
        for number, size in enumerate(sizes, start=1):
            _add(connection, number, size)
        connection.execute("VACUUM (ANALYZE)")


def _add(connection: psycopg.Connection, number: int, size: Size) -> None:
    told = {
        "business": id_of(number),
        "first": id_of(number).int,
        "customers": size.customers,
        "invoices": size.invoices,
        "accounts": ACCOUNTS,
        "paid_into": size.kinds == UNPAID,
        "customer": Jsonb(CUSTOMER),
        "codes": list(CODES),
    }
    connection.execute("INSERT INTO business VALUES (%s, %s)", [id_of(number), PARTNER])
    for statement in (_ACCOUNTS, _CUSTOMERS, _INVOICES, _LINES, _ENTRIES, _ENTRY_LINES, _COUNTERS):
        connection.execute(statement, told)
