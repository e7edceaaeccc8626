"""What must hold in payouts: what they come to and leave, and that no money is in two of them."""

from accounting.books.chart import CLEARED_BY_PROCESSOR, Role
from persistence.proof.shapes import quoted

# Where money of customers stands that nobody has paid out: with the processor, unless a bank line
# shows it.
WITH_PROCESSOR = (
    f"(processor <> '' OR method IN ({quoted(CLEARED_BY_PROCESSOR)})) AND money_account_id IS NULL"
)
_FEES = """LATERAL (SELECT coalesce(sum((step->>1)::bigint), 0) AS amount
           FROM jsonb_array_elements(p.fee_steps) AS step) AS fees"""
_OTHER = """LATERAL (SELECT coalesce(sum((item->>'amount')::bigint), 0) AS amount
           FROM jsonb_array_elements(p.other_items) AS item) AS other"""

# Only while it is live a payout holds what it lists, and follows what becomes of it.
AMOUNTS = f"""
SELECT p.id::text AS name,
       p.gross_payments = coalesce(items.payments, 0)
       AND p.total_refunds = coalesce(items.refunds, 0)
       AND fees.amount = coalesce(items.fees, 0) AS holds
FROM payout p
LEFT JOIN (
  SELECT i.payout_id, sum(m.total) AS payments, sum(r.amount) AS refunds,
         coalesce(sum(m.fee), 0) + coalesce(sum(r.fee), 0) AS fees
  FROM payout_item i
  LEFT JOIN invoice_payment m
    ON m.business_id = %(business_id)s AND m.id = i.payment_id AND m.status = 'completed'
  LEFT JOIN invoice_refund_payment r
    ON r.business_id = %(business_id)s AND r.id = i.refund_payment_id AND r.status = 'completed'
  WHERE i.business_id = %(business_id)s AND i.listed
  GROUP BY i.payout_id
) AS items ON items.payout_id = p.id,
{_FEES}
WHERE p.business_id = %(business_id)s AND p.status IN ('pending', 'processing', 'paid')"""

# What a live payout lists belongs to it, and is with the processor; what belongs to a payout is
# listed by it, and it is live. Money of vendors is in none.
ITEMS = f"""
SELECT coalesce(held.id, listed.id)::text AS name,
       held.with_processor AND held.payout_id IS NOT DISTINCT FROM listed.payout_id AS holds
FROM (
  SELECT id, payout_id, {WITH_PROCESSOR} AS with_processor FROM invoice_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, {WITH_PROCESSOR} FROM invoice_refund_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, false FROM bill_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
  UNION ALL
  SELECT id, payout_id, false FROM vendor_refund_payment
  WHERE business_id = %(business_id)s AND payout_id IS NOT NULL
) AS held
FULL JOIN (
  SELECT coalesce(i.payment_id, i.refund_payment_id) AS id, i.payout_id
  FROM payout_item i
  JOIN payout p ON p.business_id = %(business_id)s AND p.id = i.payout_id
  WHERE i.business_id = %(business_id)s AND i.listed
    AND p.status IN ('pending', 'processing', 'paid')
) AS listed ON listed.id = held.id"""

# With its items, a payout that stands paid leaves on clearing what it should have paid out and did
# not; any other leaves what it found.
VARIANCES = f"""
SELECT p.id::text AS name,
       coalesce(posted.amount, 0) = CASE WHEN p.status <> 'paid' THEN 0 ELSE
         p.gross_payments - p.total_refunds - p.additional_refunds - p.fee + other.amount
         - p.paid_out - (p.gross_payments - p.total_refunds - fees.amount) END AS holds
FROM payout p
LEFT JOIN (
  SELECT e.source_id, sum(l.debit - l.credit) AS amount
  FROM journal_entry e
  JOIN journal_line l ON l.business_id = %(business_id)s AND l.entry_id = e.id
  JOIN account a ON a.business_id = %(business_id)s AND a.id = l.account_id
  WHERE e.business_id = %(business_id)s AND e.source_type = 'payout'
    AND a.role = '{Role.PROCESSOR_CLEARING}'
  GROUP BY e.source_id
) AS posted ON posted.source_id = p.id,
{_FEES},
{_OTHER}
WHERE p.business_id = %(business_id)s"""

CHECKS = {"payout_amounts": AMOUNTS, "payout_items": ITEMS, "payout_variances": VARIANCES}

# What payouts that stand paid took off the clearing account; a fee that came with an item went off
# it before.
TAKEN = f"""
        SELECT fees.amount + other.amount - p.paid_out - p.fee - p.additional_refunds
        FROM payout p,
        {_FEES},
        {_OTHER}
        WHERE p.business_id = %(business_id)s AND p.status = 'paid'"""
