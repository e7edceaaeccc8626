"""What must hold in customer credits: totals, and what they are applied to."""

from persistence.proof.shapes import behind_series, by_account, shares, sum_of

NUMBERS = behind_series("customer_credit", "CN")

TOTALS = """
SELECT coalesce(c.number, c.id::text) AS name,
       c.tax_total = line.tax AND c.total_amount = line.net + line.tax AS holds
FROM customer_credit c, LATERAL (
  SELECT coalesce(sum((item->>'amount')::bigint), 0) AS net,
         coalesce(sum((item->>'tax_amount')::bigint), 0) AS tax
  FROM jsonb_array_elements(c.lines) AS item
) AS line
WHERE c.business_id = %(business_id)s"""

APPLIED = """
SELECT coalesce(c.number, c.id::text) AS name, c.applied = coalesce(a.amount, 0) AS holds
FROM customer_credit c
LEFT JOIN (
  SELECT credit_id, sum(amount) AS amount FROM customer_credit_allocation
  WHERE business_id = %(business_id)s AND end_on IS NULL GROUP BY credit_id
) AS a ON a.credit_id = c.id
WHERE c.business_id = %(business_id)s"""

# By account, what is used of a credit is what its live allocations took of it.
PARTS_APPLIED = by_account(
    "customer_credit",
    "coalesce(t.number, t.id::text)",
    kept="settled",
    sums_to="t.applied",
    parts="""
      SELECT id, item->>'account_id' AS account, (item->>'amount')::bigint AS amount
      FROM customer_credit, jsonb_array_elements(lines) AS item
      WHERE business_id = %(business_id)s
      UNION ALL
      SELECT id, tax_account_id::text, tax_total FROM customer_credit
      WHERE business_id = %(business_id)s""",
    taken=shares("customer_credit_allocation", "credit_id", "own_split", "end_on IS NULL"),
)

# A live allocation is of a sent credit, for an open invoice of the same customer.
ALLOCATIONS = f"""
SELECT a.id::text AS name,
       share.amount = a.amount AND own.amount = a.amount
       AND (
         a.end_on IS NOT NULL
         OR c.state = 'open' AND i.state = 'open' AND i.party_id = c.party_id
         AND a.document_date = (i.opened_at AT TIME ZONE 'UTC')::date
       ) AS holds
FROM customer_credit_allocation a
JOIN customer_credit c ON c.business_id = a.business_id AND c.id = a.credit_id
JOIN invoice i ON i.business_id = a.business_id AND i.id = a.document_id,
{sum_of("a.split")} AS share,
{sum_of("a.own_split")} AS own
WHERE a.business_id = %(business_id)s"""

CHECKS = {
    "credit_numbers": NUMBERS,
    "credit_totals": TOTALS,
    "credit_applied": APPLIED,
    "credit_parts_applied": PARTS_APPLIED,
    "credit_allocations": ALLOCATIONS,
}
