ALTER TABLE tax_month DROP CONSTRAINT IF EXISTS tax_month_business_id_fkey;
ALTER TABLE tax_month ADD CONSTRAINT tax_month_business_id_fkey
  FOREIGN KEY (business_id) REFERENCES business (id);
ALTER TABLE tax_month DROP CONSTRAINT IF EXISTS tax_month_business_id_tax_code_id_fkey;
ALTER TABLE tax_month ADD CONSTRAINT tax_month_business_id_tax_code_id_fkey
  FOREIGN KEY (business_id, tax_code_id) REFERENCES tax_code (business_id, id);

ALTER TABLE account_month ADD COLUMN IF NOT EXISTS uncoded BIGINT NOT NULL DEFAULT 0;

-- As before, with the sums of tax beside the others. Servers of the release before call it, too, so
-- that they keep these without knowing of them.
CREATE OR REPLACE FUNCTION advance_months(business uuid, years text[], step bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  due record;
  added record;
BEGIN
  FOR due IN
    SELECT s.series, greatest(s.rolled_up, 0) AS rolled_up, s.last FROM number_series s
    WHERE s.business_id = advance_months.business AND s.series = ANY (years)
      AND s.last >= greatest(s.rolled_up, 0) + step
  LOOP
    FOR added IN
      SELECT line.account_id, date_trunc('month', line.entry_date::timestamp)::date AS month,
             coalesce(sum(line.debit) FILTER (WHERE line.in_ledger), 0) AS debits,
             coalesce(sum(line.credit) FILTER (WHERE line.in_ledger), 0) AS credits,
             count(*) FILTER (WHERE line.debit > 0 AND line.in_ledger) AS debit_count,
             count(*) FILTER (WHERE line.credit > 0 AND line.in_ledger) AS credit_count,
             coalesce(sum(line.debit) FILTER (WHERE line.in_cash), 0) AS cash_debits,
             coalesce(sum(line.credit) FILTER (WHERE line.in_cash), 0) AS cash_credits,
             count(*) FILTER (WHERE line.debit > 0 AND line.in_cash) AS cash_debit_count,
             count(*) FILTER (WHERE line.credit > 0 AND line.in_cash) AS cash_credit_count,
             coalesce(sum(line.debit - line.credit) FILTER (
               WHERE line.in_ledger AND line.tax_code_id IS NULL
                 AND entry.source_type <> 'opening_balance'
             ), 0) AS uncoded
      FROM (
        SELECT e.id, e.source_type FROM journal_entry e
        WHERE e.business_id = advance_months.business AND e.series = due.series
          AND e.place > due.rolled_up AND e.place <= due.last
        ORDER BY e.place
      ) AS entry
      CROSS JOIN LATERAL (
        (
          SELECT l.account_id, l.entry_date, l.debit, l.credit, true AS in_ledger, l.in_cash,
                 l.tax_code_id
          FROM journal_line l
          WHERE l.business_id = advance_months.business AND l.entry_id = entry.id
          ORDER BY l.line_number
        )
        UNION ALL
        (
          SELECT c.account_id, c.entry_date, c.debit, c.credit, false, true, c.tax_code_id
          FROM cash_line c
          WHERE c.business_id = advance_months.business AND c.entry_id = entry.id
          ORDER BY c.entry_id
        )
      ) AS line
      GROUP BY 1, 2
    LOOP
      INSERT INTO account_month AS known (
        business_id, account_id, month, debits, credits, debit_count, credit_count,
        cash_debits, cash_credits, cash_debit_count, cash_credit_count, uncoded
      ) VALUES (
        advance_months.business, added.account_id, added.month, added.debits, added.credits,
        added.debit_count, added.credit_count, added.cash_debits, added.cash_credits,
        added.cash_debit_count, added.cash_credit_count, added.uncoded
      )
      ON CONFLICT (business_id, account_id, month) DO UPDATE SET
        debits = known.debits + excluded.debits,
        credits = known.credits + excluded.credits,
        debit_count = known.debit_count + excluded.debit_count,
        credit_count = known.credit_count + excluded.credit_count,
        cash_debits = known.cash_debits + excluded.cash_debits,
        cash_credits = known.cash_credits + excluded.cash_credits,
        cash_debit_count = known.cash_debit_count + excluded.cash_debit_count,
        cash_credit_count = known.cash_credit_count + excluded.cash_credit_count,
        uncoded = known.uncoded + excluded.uncoded;
    END LOOP;
    FOR added IN
      SELECT date_trunc('month', line.entry_date::timestamp)::date AS month,
             line.tax_code_id, line.tax_rate, line.tax_part,
             coalesce(sum(line.debit) FILTER (WHERE line.in_ledger), 0) AS debits,
             coalesce(sum(line.credit) FILTER (WHERE line.in_ledger), 0) AS credits,
             coalesce(sum(line.debit) FILTER (WHERE line.in_cash), 0) AS cash_debits,
             coalesce(sum(line.credit) FILTER (WHERE line.in_cash), 0) AS cash_credits
      FROM (
        SELECT e.id,
               e.source_type NOT IN (
                 'invoice', 'customer_credit', 'refund', 'write_off',
                 'bill', 'vendor_credit', 'vendor_refund', 'bill_write_off'
               ) AS counts_itself,
               e.source_type IN (
                 'payment', 'customer_credit', 'refund_payment',
                 'bill_payment', 'vendor_credit', 'vendor_refund_payment'
               ) AS settles
        FROM journal_entry e
        WHERE e.business_id = advance_months.business AND e.series = due.series
          AND e.place > due.rolled_up AND e.place <= due.last
          AND e.source_type <> 'opening_balance'
        ORDER BY e.place
      ) AS entry
      CROSS JOIN LATERAL (
        (
          SELECT l.entry_date, l.tax_code_id, l.tax_rate, l.tax_part, l.debit, l.credit,
                 true AS in_ledger, entry.counts_itself AS in_cash
          FROM journal_line l
          WHERE l.business_id = advance_months.business AND l.entry_id = entry.id
            AND l.tax_code_id IS NOT NULL
          ORDER BY l.line_number
        )
        UNION ALL
        (
          SELECT c.entry_date, c.tax_code_id, c.tax_rate, c.tax_part, c.debit, c.credit,
                 false, entry.settles
          FROM cash_line c
          WHERE c.business_id = advance_months.business AND c.entry_id = entry.id
            AND c.tax_code_id IS NOT NULL
          ORDER BY c.entry_id
        )
      ) AS line
      GROUP BY 1, 2, 3, 4
    LOOP
      INSERT INTO tax_month AS known (
        business_id, month, tax_code_id, tax_rate, tax_part, debits, credits,
        cash_debits, cash_credits
      ) VALUES (
        advance_months.business, added.month, added.tax_code_id, added.tax_rate, added.tax_part,
        added.debits, added.credits, added.cash_debits, added.cash_credits
      )
      ON CONFLICT (business_id, month, tax_code_id, tax_rate, tax_part) DO UPDATE SET
        debits = known.debits + excluded.debits,
        credits = known.credits + excluded.credits,
        cash_debits = known.cash_debits + excluded.cash_debits,
        cash_credits = known.cash_credits + excluded.cash_credits;
    END LOOP;
    UPDATE number_series s SET rolled_up = due.last
    WHERE s.business_id = advance_months.business AND s.series = due.series;
  END LOOP;
END
$$;
