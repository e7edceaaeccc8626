"""Handwritten SQL statements, which the raw peer and pgbench send.

A posting is sent statement by statement (`CREATE_*`, `PAY_*`) or as a single one (`CREATE`, `PAY`).
"""

RECEIVABLE, BANK, SALES, TAX = CODES = ("1200", "1000", "4000", "2200")

READ = """
SELECT c.*, (SELECT coalesce(sum(i.outstanding), 0)::bigint FROM invoice i
             WHERE i.business_id = c.business_id AND i.customer_id = c.id AND i.outstanding > 0)
       AS outstanding_balance
FROM customer c JOIN business b ON b.id = c.business_id
WHERE c.id = %(customer_id)s AND b.id = %(business_id)s AND b.partner_id = %(partner_id)s
"""

_OVERDUE = "i.business_id = %(business_id)s AND i.outstanding > 0 AND i.due_at < now()"
LIST = f"""
SELECT i.*, c.company_name
FROM (SELECT * FROM invoice i WHERE {_OVERDUE} ORDER BY sent_at DESC, id DESC LIMIT 20) i
JOIN customer c ON c.id = i.customer_id
ORDER BY i.sent_at DESC, i.id DESC
"""
COUNT = f"""
SELECT count(*) AS total FROM invoice i JOIN business b ON b.id = i.business_id
WHERE {_OVERDUE} AND b.partner_id = %(partner_id)s
"""

REPORT = """
SELECT a.code, a.name, coalesce(sum(l.debit), 0)::bigint AS debits,
       coalesce(sum(l.credit), 0)::bigint AS credits
FROM business b JOIN account a ON a.business_id = b.id
LEFT JOIN entry_line l ON l.business_id = a.business_id AND l.account_id = a.id
WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s
GROUP BY a.id ORDER BY a.code
"""

FIND_BUSINESS = """
SELECT archived_at FROM business WHERE id = %(business_id)s AND partner_id = %(partner_id)s
"""
FIND_CUSTOMER = """
SELECT company_name FROM customer WHERE business_id = %(business_id)s AND id = %(customer_id)s
"""
FIND_ACCOUNTS = """
SELECT array_agg(id ORDER BY array_position(%(codes)s::text[], code)) AS accounts
FROM account WHERE business_id = %(business_id)s AND code = ANY(%(codes)s::text[])
"""
LOCK_INVOICE = """
SELECT number, outstanding FROM invoice
WHERE business_id = %(business_id)s AND id = %(invoice_id)s AND customer_id = %(customer_id)s
FOR UPDATE
"""
TAKE_INVOICE_NUMBER = """
UPDATE counter SET last = last + 1 WHERE business_id = %(business_id)s AND series = 'INV'
RETURNING 'INV-' || last AS invoice_number
"""
TAKE_ENTRY_NUMBER = """
UPDATE counter SET last = last + 1 WHERE business_id = %(business_id)s AND series = 'JE'
RETURNING 'JE-' || last AS entry_number
"""
ADD_INVOICE = """
INSERT INTO invoice (id, business_id, customer_id, number, state, currency, sent_at, due_at,
  subtotal, tax_total, total_amount, outstanding, created_at, updated_at)
VALUES (%(invoice_id)s, %(business_id)s, %(customer_id)s, %(invoice_number)s, 'open', 'GBP',
  %(sent_at)s::timestamptz, %(sent_at)s::timestamptz + interval '14 days', %(net)s::bigint,
  %(tax)s::bigint, %(net)s::bigint + %(tax)s::bigint, %(net)s::bigint + %(tax)s::bigint, now(),
  now())
"""
_LINES = """
unnest(%(descriptions)s::text[], %(quantities)s::numeric[], %(prices)s::bigint[],
       %(rates)s::numeric[], %(nets)s::bigint[], %(taxes)s::bigint[]) WITH ORDINALITY
       AS l (description, quantity, price, rate, net, tax, place)
"""
ADD_INVOICE_LINES = f"""
INSERT INTO invoice_line (id, invoice_id, place, description, quantity, unit_price, tax_rate, net,
  tax)
SELECT gen_random_uuid(), %(invoice_id)s, place, description, quantity, price, rate, net, tax
FROM {_LINES}
"""
ADD_PAYMENT = """
INSERT INTO payment (id, business_id, customer_id, total, currency, method, payment_date,
  created_at)
VALUES (%(payment_id)s, %(business_id)s, %(customer_id)s, %(amount)s::bigint, 'GBP',
  'bank_transfer', %(entry_date)s::date, now())
"""
ADD_ALLOCATION = """
INSERT INTO allocation (id, payment_id, invoice_id, amount)
VALUES (gen_random_uuid(), %(payment_id)s, %(invoice_id)s, %(amount)s::bigint)
"""
SETTLE_INVOICE = """
UPDATE invoice SET outstanding = outstanding - %(amount)s::bigint, updated_at = now()
WHERE id = %(invoice_id)s
"""
ADD_ENTRY = """
INSERT INTO entry (id, business_id, number, entry_date, description, source_id)
VALUES (%(entry_id)s, %(business_id)s, %(entry_number)s, %(entry_date)s::date, 'Posted',
  %(source_id)s)
"""
ADD_ENTRY_LINES = """
INSERT INTO entry_line (id, business_id, entry_id, account_id, entry_date, debit, credit)
SELECT gen_random_uuid(), %(business_id)s, %(entry_id)s, account_id, %(entry_date)s::date, debit,
       credit
FROM unnest(%(accounts)s::uuid[], %(debits)s::bigint[], %(credits)s::bigint[])
     AS l (account_id, debit, credit)
"""

CREATE_CHECKS = (FIND_BUSINESS, FIND_CUSTOMER, FIND_ACCOUNTS)
CREATE_NUMBERS = (TAKE_INVOICE_NUMBER, TAKE_ENTRY_NUMBER)
CREATE_ROWS = (ADD_INVOICE, ADD_INVOICE_LINES, ADD_ENTRY, ADD_ENTRY_LINES)

PAY_CHECKS = (FIND_BUSINESS, FIND_CUSTOMER, FIND_ACCOUNTS, LOCK_INVOICE)
PAY_NUMBERS = (TAKE_ENTRY_NUMBER,)
PAY_ROWS = (ADD_PAYMENT, ADD_ALLOCATION, SETTLE_INVOICE, ADD_ENTRY, ADD_ENTRY_LINES)

_POSTED = """
taken AS (
  UPDATE counter k SET last = k.last + 1 FROM allowed
  WHERE k.business_id = allowed.business_id AND k.series = 'JE' RETURNING 'JE-' || k.last AS number
), posted AS (
  INSERT INTO entry (id, business_id, number, entry_date, description, source_id)
  SELECT gen_random_uuid(), %(business_id)s, taken.number, %(entry_date)s::date, 'Posted', made.id
  FROM taken, made RETURNING id
), lines AS (
  INSERT INTO entry_line (id, business_id, entry_id, account_id, entry_date, debit, credit)
  SELECT gen_random_uuid(), a.business_id, posted.id, a.id, %(entry_date)s::date, l.debit, l.credit
  FROM posted,
       unnest(%(codes)s::text[], %(debits)s::bigint[], %(credits)s::bigint[])
       AS l (code, debit, credit)
  JOIN account a ON a.business_id = %(business_id)s AND a.code = l.code
)
"""
CREATE = f"""
WITH allowed AS (
  SELECT b.id AS business_id, c.id AS customer_id
  FROM business b JOIN customer c ON c.business_id = b.id AND c.id = %(customer_id)s
  WHERE b.id = %(business_id)s AND b.partner_id = %(partner_id)s AND b.archived_at IS NULL
), numbered AS (
  UPDATE counter k SET last = k.last + 1 FROM allowed
  WHERE k.business_id = allowed.business_id AND k.series = 'INV'
  RETURNING 'INV-' || k.last AS number
), made AS (
  INSERT INTO invoice (id, business_id, customer_id, number, state, currency, sent_at, due_at,
    subtotal, tax_total, total_amount, outstanding, created_at, updated_at)
  SELECT gen_random_uuid(), business_id, customer_id, number, 'open', 'GBP',
    %(sent_at)s::timestamptz, %(sent_at)s::timestamptz + interval '14 days', %(net)s::bigint,
    %(tax)s::bigint, %(net)s::bigint + %(tax)s::bigint, %(net)s::bigint + %(tax)s::bigint, now(),
    now()
  FROM allowed, numbered RETURNING id, number
), items AS (
  INSERT INTO invoice_line (id, invoice_id, place, description, quantity, unit_price, tax_rate, net,
    tax)
  SELECT gen_random_uuid(), made.id, place, description, quantity, price, rate, net, tax
  FROM made, {_LINES}
), {_POSTED}
SELECT id, number FROM made
"""
PAY = f"""
WITH allowed AS (
  SELECT i.business_id, i.customer_id, i.id AS invoice_id
  FROM invoice i JOIN business b ON b.id = i.business_id
  WHERE i.id = %(invoice_id)s AND i.customer_id = %(customer_id)s AND b.id = %(business_id)s
    AND b.partner_id = %(partner_id)s AND b.archived_at IS NULL
), settled AS (
  UPDATE invoice i SET outstanding = i.outstanding - %(amount)s::bigint, updated_at = now()
  FROM allowed WHERE i.id = allowed.invoice_id RETURNING i.id
), made AS (
  INSERT INTO payment (id, business_id, customer_id, total, currency, method, payment_date,
    created_at)
  SELECT gen_random_uuid(), business_id, customer_id, %(amount)s::bigint, 'GBP', 'bank_transfer',
    %(entry_date)s::date, now()
  FROM allowed RETURNING id
), allocated AS (
  INSERT INTO allocation (id, payment_id, invoice_id, amount)
  SELECT gen_random_uuid(), made.id, settled.id, %(amount)s::bigint FROM made, settled
), {_POSTED}
SELECT id FROM made
"""
