"""Integrity checks of payments: amounts and allocations."""

from persistence.proof.shapes import sum_of
from persistence.proof.sides import BOTH, SideTables


def _amounts(tables: SideTables) -> str:
    """Compare the amounts of a payment with its live allocations and refunds.

    A payment that is not live has no allocations. With the status `refunded` it has no refunds
    either.
    """
    return f"""
SELECT p.id::text AS name,
       p.refunded = coalesce(r.amount, 0)
       AND p.allocated = coalesce(a.amount, 0) + p.refunded
       AND p.applied = CASE WHEN p.status = 'completed' THEN coalesce(a.amount, 0) ELSE 0 END
       AND (a.amount IS NULL OR p.status IN ('pending', 'processing', 'completed'))
       AND (p.refunded = 0 OR p.status <> 'refunded') AS holds
FROM {tables.payment} p
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM {tables.allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY payment_id
) AS a ON a.payment_id = p.id
LEFT JOIN (
  SELECT payment_id, sum(amount) AS amount FROM {tables.refund_allocation}
  WHERE business_id = %(business_id)s AND end_on IS NULL AND payment_id IS NOT NULL
  GROUP BY payment_id
) AS r ON r.payment_id = p.id
WHERE p.business_id = %(business_id)s"""


def _allocations(tables: SideTables) -> str:
    """Check that a live allocation settles an open document of the payment's party.

    It is split if the payment is completed.
    """
    return f"""
SELECT a.id::text AS name,
       coalesce(share.amount, a.amount) = a.amount
       AND (
         a.end_on IS NOT NULL
         OR d.state = 'open' AND d.party_id = p.party_id AND a.document_date = d.opened_on
         AND (share.amount IS NOT NULL) = (p.status = 'completed')
       ) AS holds
FROM {tables.allocation} a
JOIN {tables.payment} p ON p.business_id = %(business_id)s AND p.id = a.payment_id
JOIN {tables.document} d ON d.business_id = %(business_id)s AND d.id = a.document_id,
{sum_of("a.split")} AS share
WHERE a.business_id = %(business_id)s"""


def _checks(tables: SideTables) -> dict[str, str]:
    return {
        f"{tables.payments}payment_amounts": _amounts(tables),
        f"{tables.payments}allocations": _allocations(tables),
    }


CHECKS = {name: check for tables in BOTH for name, check in _checks(tables).items()}
