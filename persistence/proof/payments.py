"""What must hold in payments: what they hold, and what their money settles."""

from persistence.proof.shapes import sum_of

# A payment that is not live holds nothing but what is refunded of it, and one that went back as a
# whole not even that.
AMOUNTS = """
SELECT p.id::text AS name,
       p.refunded = coalesce(r.amount, 0)
       AND p.allocated = coalesce(a.amount, 0) + p.refunded
       AND p.applied = CASE WHEN p.status = 'completed' THEN coalesce(a.amount, 0) ELSE 0 END
       AND (a.amount IS NULL OR p.status IN ('pending', 'processing', 'completed'))
       AND (p.refunded = 0 OR p.status <> 'refunded') AS holds
FROM invoice_payment p
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM invoice_allocation
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY payment_id
) AS a ON a.payment_id = p.id
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM invoice_refund_allocation
  WHERE business_id = %(business_id)s AND end_on IS NULL AND payment_id IS NOT NULL
  GROUP BY payment_id
) AS r ON r.payment_id = p.id
WHERE p.business_id = %(business_id)s"""

# A live allocation is of an open invoice of the same customer, and is split once it is applied.
ALLOCATIONS = f"""
SELECT a.id::text AS name,
       coalesce(share.amount, a.amount) = a.amount
       AND (
         a.end_on IS NOT NULL
         OR i.state = 'open' AND i.party_id = p.party_id
         AND a.document_date = (i.opened_at AT TIME ZONE 'UTC')::date
         AND (share.amount IS NOT NULL) = (p.status = 'completed')
       ) AS holds
FROM invoice_allocation a
JOIN invoice_payment p ON p.business_id = a.business_id AND p.id = a.payment_id
JOIN invoice i ON i.business_id = a.business_id AND i.id = a.document_id,
{sum_of("a.split")} AS share
WHERE a.business_id = %(business_id)s"""

CHECKS = {"payment_amounts": AMOUNTS, "allocations": ALLOCATIONS}
