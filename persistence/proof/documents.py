"""What must hold in invoices and their write-offs: totals, and what has settled them."""

from persistence.proof.shapes import behind_series, by_account, shares, sum_of

NUMBERS = behind_series("invoice", "INV")

TOTALS = """
SELECT coalesce(i.number, i.id::text) AS name,
       i.subtotal = line.subtotal AND i.tax_total = line.tax
       AND i.additional_discount = line.share
       AND i.discount_total = line.discount + i.additional_discount
       AND i.total_amount = i.subtotal - i.additional_discount + i.tax_total AS holds
FROM invoice i, LATERAL (
  SELECT coalesce(sum((item->>'subtotal')::bigint), 0) AS subtotal,
         coalesce(sum((item->>'discount_amount')::bigint), 0) AS discount,
         coalesce(sum((item->>'discount_share')::bigint), 0) AS share,
         coalesce(sum((
           SELECT sum((tax->>0)::bigint) FROM jsonb_array_elements(item->'taxes') AS tax
         )), 0) AS tax
  FROM jsonb_array_elements(i.lines) AS item
) AS line
WHERE i.business_id = %(business_id)s"""

# What an invoice says was paid, reserved, credited, written off and refunded is what lives.
SETTLEMENT = """
SELECT coalesce(i.number, i.id::text) AS name,
       i.paid = coalesce(live.paid, 0) AND i.reserved = coalesce(live.reserved, 0)
       AND i.credited = coalesce(live.credited, 0)
       AND i.written_off = coalesce(live.written_off, 0)
       AND i.refunded = coalesce(live.refunded, 0)
       AND (i.paid_on IS NOT NULL) = (i.state = 'open' AND i.outstanding = 0) AS holds
FROM invoice i
LEFT JOIN (
  SELECT document_id,
         sum(amount) FILTER (WHERE by = 'completed') AS paid,
         sum(amount) FILTER (WHERE by IN ('pending', 'processing')) AS reserved,
         sum(amount) FILTER (WHERE by = 'credit') AS credited,
         sum(amount) FILTER (WHERE by = 'write_off') AS written_off,
         sum(amount) FILTER (WHERE by = 'refund') AS refunded
  FROM (
    SELECT a.document_id, p.status AS by, a.amount
    FROM invoice_allocation a
    JOIN invoice_payment p ON p.business_id = a.business_id AND p.id = a.payment_id
    WHERE a.business_id = %(business_id)s AND a.end_on IS NULL
    UNION ALL
    SELECT document_id, 'credit', amount FROM customer_credit_allocation
    WHERE business_id = %(business_id)s AND end_on IS NULL
    UNION ALL
    SELECT document_id, 'write_off', amount FROM write_off
    WHERE business_id = %(business_id)s AND reversed_at IS NULL
    UNION ALL
    SELECT document_id, 'refund', amount FROM invoice_refund_allocation
    WHERE business_id = %(business_id)s AND end_on IS NULL AND document_id IS NOT NULL
  ) AS each GROUP BY document_id
) AS live ON live.document_id = i.id
WHERE i.business_id = %(business_id)s"""

_NETS = """
      SELECT id, item->>'account_id' AS account,
             (item->>'subtotal')::bigint - (item->>'discount_share')::bigint AS amount
      FROM invoice, jsonb_array_elements(lines) AS item WHERE business_id = %(business_id)s"""

_TAXES = """
      SELECT id, tax->>1 AS account, (tax->>0)::bigint AS amount
      FROM invoice, jsonb_array_elements(lines) AS item, jsonb_array_elements(item->'taxes') AS tax
      WHERE business_id = %(business_id)s"""

_NAME = "coalesce(t.number, t.id::text)"

# By account, what is settled of an invoice is what payments, credits and write-offs took of it.
PARTS_SETTLED = by_account(
    "invoice",
    _NAME,
    kept="settled",
    sums_to="t.paid + t.credited + t.written_off",
    parts=f"{_NETS} UNION ALL {_TAXES}",
    taken=" UNION ALL ".join(
        (
            shares("invoice_allocation", "document_id", "split", "end_on IS NULL"),
            shares("customer_credit_allocation", "document_id", "split", "end_on IS NULL"),
            shares("write_off", "document_id", "split", "reversed_at IS NULL"),
        )
    ),
)

# A refund gives the net back on one account, and each tax where it stands.
PARTS_RETURNED = by_account(
    "invoice",
    _NAME,
    kept="returned",
    sums_to="t.refunded",
    parts=f"""
      SELECT net.id, a.id::text AS account, net.amount
      FROM account a, ({_NETS}) AS net
      WHERE a.business_id = %(business_id)s AND a.role = 'sales_returns'
      UNION ALL {_TAXES}""",
    taken=shares(
        "invoice_refund_allocation",
        "document_id",
        "split",
        "end_on IS NULL AND document_id IS NOT NULL",
    ),
)

# A live write-off is of an open invoice.
WRITE_OFFS = f"""
SELECT w.id::text AS name,
       share.amount = w.amount AND (w.reversed_at IS NOT NULL OR i.state = 'open') AS holds
FROM write_off w
JOIN invoice i ON i.business_id = w.business_id AND i.id = w.document_id,
{sum_of("w.split")} AS share
WHERE w.business_id = %(business_id)s"""

CHECKS = {
    "invoice_numbers": NUMBERS,
    "invoice_totals": TOTALS,
    "invoice_settlement": SETTLEMENT,
    "invoice_parts_settled": PARTS_SETTLED,
    "invoice_parts_returned": PARTS_RETURNED,
    "write_offs": WRITE_OFFS,
}
