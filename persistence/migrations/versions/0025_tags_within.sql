ALTER TABLE tagged_line ADD CONSTRAINT tagged_line_business_id_fkey
  FOREIGN KEY (business_id) REFERENCES business (id);
ALTER TABLE tagged_line ADD CONSTRAINT tagged_line_business_id_account_id_fkey
  FOREIGN KEY (business_id, account_id) REFERENCES account (business_id, id);

-- What documents with tags have posted so far.
WITH held AS (
  SELECT business_id, id, transaction_tags AS tags FROM invoice
  UNION ALL SELECT business_id, id, transaction_tags FROM bill
  UNION ALL SELECT business_id, id, transaction_tags FROM invoice_payment
  UNION ALL SELECT business_id, id, transaction_tags FROM bill_payment
  UNION ALL SELECT business_id, id, transaction_tags FROM customer_credit
  UNION ALL SELECT business_id, id, transaction_tags FROM vendor_credit
  UNION ALL SELECT business_id, id, transaction_tags FROM invoice_refund_payment
  UNION ALL SELECT business_id, id, transaction_tags FROM vendor_refund_payment
), word AS (
  SELECT DISTINCT h.business_id, h.id, w.value #>> '{}' AS tag
  FROM held h
  CROSS JOIN LATERAL jsonb_array_elements(
    CASE jsonb_typeof(h.tags) WHEN 'array' THEN h.tags ELSE '[]' END
  ) AS w
  WHERE jsonb_typeof(w.value) = 'string' AND w.value <> '""'
), tagged AS (
  SELECT business_id, id, tag, false AS has_several FROM word
  UNION ALL
  SELECT business_id, id, '', count(*) > 1 FROM word GROUP BY business_id, id
)
INSERT INTO tagged_line (
  business_id, tag, account_id, entry_date, line_id, entry_id, document_id, debit, credit,
  in_ledger, in_cash, has_several
)
SELECT t.business_id, t.tag, l.account_id, l.entry_date, l.id, l.entry_id, l.document_id, l.debit,
       l.credit, l.in_ledger, l.in_cash, t.has_several
FROM tagged t
JOIN (
  SELECT business_id, id, account_id, entry_date, entry_id, document_id, debit, credit,
         true AS in_ledger, coalesce(in_cash, false) AS in_cash
  FROM journal_line
  UNION ALL
  SELECT business_id, id, account_id, entry_date, entry_id, document_id, debit, credit, false, true
  FROM cash_line
) AS l ON l.business_id = t.business_id AND l.document_id = t.id;
