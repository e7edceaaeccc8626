"""Integrity checks of payouts: amounts, items and variances; no payment is in two payouts."""

from accounting.books.chart import CLEARED_BY_PROCESSOR, Role
from persistence.proof.shapes import quoted

# Customer money that the processor holds before a payout, unless a bank line shows it.
WITH_PROCESSOR = (
    f"(processor <> '' OR method IN ({quoted(CLEARED_BY_PROCESSOR)})) AND money_account_id IS NULL"
)
_FEES = """LATERAL (SELECT coalesce(sum((step->>1)::bigint), 0) AS amount
           FROM jsonb_array_elements(p.fee_steps) AS step) AS fees"""
_OTHER = """LATERAL (SELECT coalesce(sum((item->>'amount')::bigint), 0) AS amount
           FROM jsonb_array_elements(p.other_items) AS item) AS other"""

# A live payout has the amounts of its completed items. One that is not live keeps its last amounts.
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

# The items that a live payout lists refer to it and are with the processor, and every payment that
# refers to a payout is listed by it. Payments of vendors are in no payout.
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

# A paid payout and its items leave on the clearing account what should have been paid out and was
# not. Any other payout leaves the balance unchanged.
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

# The effect of paid payouts on the clearing account; the fees of their items were deducted before.
TAKEN = f"""
        SELECT fees.amount + other.amount - p.paid_out - p.fee - p.additional_refunds
        FROM payout p,
        {_FEES},
        {_OTHER}
        WHERE p.business_id = %(business_id)s AND p.status = 'paid'"""
