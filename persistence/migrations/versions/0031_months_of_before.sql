-- The sums of tax of one business, of what was rolled up before. Whoever posts to it waits meanwhile,
-- and what was posted since the function knows of these sums is added up again.
SELECT series FROM number_series
WHERE business_id = :business_id AND series LIKE 'JE-%'
ORDER BY series FOR UPDATE;

INSERT INTO tax_month (
  business_id, month, tax_code_id, tax_rate, tax_part, debits, credits, cash_debits, cash_credits
)
SELECT line.business_id, date_trunc('month', line.entry_date::timestamp)::date,
       line.tax_code_id, line.tax_rate, line.tax_part,
       coalesce(sum(line.debit) FILTER (WHERE line.in_ledger), 0),
       coalesce(sum(line.credit) FILTER (WHERE line.in_ledger), 0),
       coalesce(sum(line.debit) FILTER (WHERE line.in_cash), 0),
       coalesce(sum(line.credit) FILTER (WHERE line.in_cash), 0)
FROM (
  SELECT l.business_id, l.entry_date, l.tax_code_id, l.tax_rate, l.tax_part, l.debit, l.credit,
         e.series, e.place, true AS in_ledger,
         e.source_type NOT IN (
           'invoice', 'customer_credit', 'refund', 'write_off',
           'bill', 'vendor_credit', 'vendor_refund', 'bill_write_off'
         ) AS in_cash
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
  WHERE l.business_id = :business_id
    AND l.tax_code_id IS NOT NULL AND e.source_type <> 'opening_balance'
  UNION ALL
  SELECT c.business_id, c.entry_date, c.tax_code_id, c.tax_rate, c.tax_part, c.debit, c.credit,
         e.series, e.place, false,
         e.source_type IN (
           'payment', 'customer_credit', 'refund_payment',
           'bill_payment', 'vendor_credit', 'vendor_refund_payment'
         )
  FROM cash_line c
  JOIN journal_entry e ON e.business_id = c.business_id AND e.id = c.entry_id
  WHERE c.business_id = :business_id
    AND c.tax_code_id IS NOT NULL AND e.source_type <> 'opening_balance'
) AS line
JOIN number_series s ON s.business_id = line.business_id AND s.series = line.series
  AND line.place <= s.rolled_up
GROUP BY 1, 2, 3, 4, 5
ON CONFLICT (business_id, month, tax_code_id, tax_rate, tax_part) DO UPDATE SET
  debits = excluded.debits, credits = excluded.credits,
  cash_debits = excluded.cash_debits, cash_credits = excluded.cash_credits;

UPDATE account_month known SET uncoded = added.uncoded
FROM (
  SELECT l.business_id, l.account_id, date_trunc('month', l.entry_date::timestamp)::date AS month,
         sum(l.debit - l.credit) AS uncoded
  FROM journal_line l
  JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
  JOIN number_series s ON s.business_id = e.business_id AND s.series = e.series
    AND e.place <= s.rolled_up
  WHERE l.business_id = :business_id
    AND l.tax_code_id IS NULL AND e.source_type <> 'opening_balance'
  GROUP BY 1, 2, 3
) AS added
WHERE known.business_id = :business_id
  AND known.account_id = added.account_id AND known.month = added.month;
