-- What was posted before, on cash: as accounting/books/ledger.py says. Nobody posts meanwhile.
UPDATE journal_line l SET
  in_cash = l.split = '[]' AND NOT (
    e.stream = 'main' AND e.source_type IN (
      'invoice', 'bill', 'customer_credit', 'vendor_credit', 'write_off', 'bill_write_off',
      'refund', 'vendor_refund'
    )
  ),
  document_id = coalesce(l.settles_id, e.source_id)
FROM journal_entry e
WHERE e.business_id = l.business_id AND e.id = l.entry_id;

-- What writes off an invoice or a bill is about that,
UPDATE journal_line l SET document_id = w.document_id
FROM write_off w
WHERE w.business_id = l.business_id AND w.id = l.document_id;
UPDATE journal_line l SET document_id = w.document_id
FROM bill_write_off w
WHERE w.business_id = l.business_id AND w.id = l.document_id;

-- and what agrees or pays a refund of one thing about that.
UPDATE journal_line l SET document_id = r.target_id
FROM (
  SELECT business_id, refund_id, (array_agg(DISTINCT target_id))[1] AS target_id
  FROM (
    SELECT business_id, refund_id, coalesce(document_id, payment_id, refunded_credit_id)
      AS target_id
    FROM invoice_refund_allocation
  ) AS allocation
  WHERE target_id IS NOT NULL
  GROUP BY business_id, refund_id HAVING count(DISTINCT target_id) = 1
) AS r
WHERE r.business_id = l.business_id AND r.refund_id = l.document_id;
UPDATE journal_line l SET document_id = r.target_id
FROM (
  SELECT business_id, refund_id, (array_agg(DISTINCT target_id))[1] AS target_id
  FROM (
    SELECT business_id, refund_id, coalesce(document_id, payment_id, refunded_credit_id)
      AS target_id
    FROM vendor_refund_allocation
  ) AS allocation
  WHERE target_id IS NOT NULL
  GROUP BY business_id, refund_id HAVING count(DISTINCT target_id) = 1
) AS r
WHERE r.business_id = l.business_id AND r.refund_id = l.document_id;

-- The parts that count in the place of a line; each has an id that follows from the line's.
INSERT INTO cash_line (
  business_id, id, line_id, entry_id, account_id, entry_date, debit, credit, document_id,
  tax_code_id, tax_rate, tax_part
)
SELECT l.business_id, md5(l.id::text || ' ' || share.place::text)::uuid, l.id, l.entry_id,
       (share.part->>0)::uuid, l.entry_date, greatest((share.part->>1)::bigint, 0),
       greatest(-(share.part->>1)::bigint, 0), l.document_id, (share.part->>2)::uuid,
       (share.part->>3)::numeric, share.part->>4
FROM journal_line l
JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
CROSS JOIN LATERAL jsonb_array_elements(l.split) WITH ORDINALITY AS share (part, place)
WHERE NOT (
  e.stream = 'main' AND e.source_type IN (
    'invoice', 'bill', 'customer_credit', 'vendor_credit', 'write_off', 'bill_write_off',
    'refund', 'vendor_refund'
  )
) AND (share.part->>1)::bigint <> 0;

-- The months of what is rolled up.
INSERT INTO account_month AS known (
  business_id, account_id, month, debits, credits, debit_count, credit_count,
  cash_debits, cash_credits, cash_debit_count, cash_credit_count
)
SELECT l.business_id, l.account_id, date_trunc('month', l.entry_date::timestamp)::date, 0, 0, 0, 0,
       sum(l.debit), sum(l.credit),
       count(*) FILTER (WHERE l.debit > 0), count(*) FILTER (WHERE l.credit > 0)
FROM (
  SELECT business_id, entry_id, account_id, entry_date, debit, credit
  FROM journal_line WHERE in_cash
  UNION ALL
  SELECT business_id, entry_id, account_id, entry_date, debit, credit FROM cash_line
) AS l
JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
JOIN number_series s ON s.business_id = e.business_id AND s.series = e.series
  AND e.place <= s.rolled_up
GROUP BY 1, 2, 3
ON CONFLICT (business_id, account_id, month) DO UPDATE SET
  cash_debits = excluded.cash_debits, cash_credits = excluded.cash_credits,
  cash_debit_count = excluded.cash_debit_count, cash_credit_count = excluded.cash_credit_count;

-- Once all of it is written: what covers a balance says what stays on cash, too; the lines of one
-- document; and what was posted since a moment.
DROP INDEX journal_line_business_id_account_id_entry_date_id_idx;
CREATE INDEX journal_line_business_id_account_id_entry_date_id_idx
  ON journal_line (business_id, account_id, entry_date, id) INCLUDE (debit, credit, in_cash);
CREATE INDEX journal_line_business_id_document_id_idx ON journal_line (business_id, document_id);
CREATE INDEX journal_entry_business_id_posted_at_idx ON journal_entry (business_id, posted_at);
