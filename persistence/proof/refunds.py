"""What must hold in invoice refunds: what they give back, and what is paid of them."""

from persistence.proof.shapes import by_account, shares, sum_of

# A refund comes to what it gives back, which lives until it is cancelled; it completed with the
# payment that paid the last of it.
AMOUNTS = """
SELECT r.id::text AS name,
       r.amount = CASE WHEN r.cancelled_at IS NULL THEN given.live ELSE given.ever END
       AND (r.cancelled_at IS NULL OR given.live IS NULL)
       AND r.paid = coalesce(money.paid, 0)
       AND (r.completed_at IS NOT NULL) = (r.paid = r.amount)
       AND (r.completed_at IS NULL OR r.completed_at = ANY (money.moments)) AS holds
FROM invoice_refund r
LEFT JOIN (
  SELECT refund_id, sum(amount) AS ever, sum(amount) FILTER (WHERE end_on IS NULL) AS live
  FROM invoice_refund_allocation WHERE business_id = %(business_id)s GROUP BY refund_id
) AS given ON given.refund_id = r.id
LEFT JOIN (
  SELECT refund_id, sum(amount) AS paid, array_agg(completed_at) AS moments
  FROM invoice_refund_payment
  WHERE business_id = %(business_id)s AND status = 'completed' GROUP BY refund_id
) AS money ON money.refund_id = r.id
WHERE r.business_id = %(business_id)s"""

# By account, what is paid of a refund is what its completed payments took of it.
PARTS_PAID = by_account(
    "invoice_refund",
    "t.id::text",
    kept="settled",
    sums_to="t.paid",
    parts=shares("invoice_refund_allocation", "refund_id", "split", "end_on IS NULL"),
    taken=shares("invoice_refund_payment", "refund_id", "split", "status = 'completed'"),
)

# What is given back is the same customer's, and an invoice stays open under a live refund.
ALLOCATIONS = f"""
SELECT a.id::text AS name,
       share.amount = a.amount AND coalesce(i.party_id, p.party_id) = r.party_id
       AND (a.end_on IS NOT NULL OR p.id IS NOT NULL OR i.state = 'open') AS holds
FROM invoice_refund_allocation a
JOIN invoice_refund r ON r.business_id = a.business_id AND r.id = a.refund_id
LEFT JOIN invoice i ON i.business_id = a.business_id AND i.id = a.document_id
LEFT JOIN invoice_payment p ON p.business_id = a.business_id AND p.id = a.payment_id,
{sum_of("a.split")} AS share
WHERE a.business_id = %(business_id)s"""

PAYMENTS = f"""
SELECT p.id::text AS name,
       share.amount = p.amount
       AND (p.status = 'cancelled' OR p.status = 'completed' AND r.cancelled_at IS NULL) AS holds
FROM invoice_refund_payment p
JOIN invoice_refund r ON r.business_id = p.business_id AND r.id = p.refund_id,
{sum_of("p.split")} AS share
WHERE p.business_id = %(business_id)s"""

CHECKS = {
    "refund_amounts": AMOUNTS,
    "refund_parts_paid": PARTS_PAID,
    "refund_allocations": ALLOCATIONS,
    "refund_payments": PAYMENTS,
}
