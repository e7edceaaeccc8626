-- The two bases of one ledger: which lines stay on cash, what stands there in the place of others,
-- and months of both.
ALTER TABLE cash_line ADD CONSTRAINT cash_line_business_id_fkey
  FOREIGN KEY (business_id) REFERENCES business (id);
ALTER TABLE cash_line ADD CONSTRAINT cash_line_business_id_line_id_fkey
  FOREIGN KEY (business_id, line_id) REFERENCES journal_line (business_id, id);
ALTER TABLE cash_line ADD CONSTRAINT cash_line_business_id_account_id_fkey
  FOREIGN KEY (business_id, account_id) REFERENCES account (business_id, id);

ALTER TABLE journal_line ADD COLUMN in_cash BOOLEAN, ADD COLUMN document_id UUID;

-- A server of the release before knows nothing of these, and adds a month without them.
ALTER TABLE account_month
  ADD COLUMN cash_debits BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN cash_credits BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN cash_debit_count BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN cash_credit_count BIGINT NOT NULL DEFAULT 0;
ALTER TABLE account_month ADD CONSTRAINT account_month_cash_sums_positive_check
  CHECK (least(cash_debits, cash_credits, cash_debit_count, cash_credit_count) >= 0);

-- As before, with the sums on cash beside the others: those of the lines that stay, and of what
-- stands in the place of the others.
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
             count(*) FILTER (WHERE line.credit > 0 AND line.in_cash) AS cash_credit_count
      FROM (
        SELECT e.id FROM journal_entry e
        WHERE e.business_id = advance_months.business AND e.series = due.series
          AND e.place > due.rolled_up AND e.place <= due.last
        ORDER BY e.place
      ) AS entry
      CROSS JOIN LATERAL (
        (
          SELECT l.account_id, l.entry_date, l.debit, l.credit, true AS in_ledger, l.in_cash
          FROM journal_line l
          WHERE l.business_id = advance_months.business AND l.entry_id = entry.id
          ORDER BY l.line_number
        )
        UNION ALL
        (
          SELECT c.account_id, c.entry_date, c.debit, c.credit, false, true FROM cash_line c
          WHERE c.business_id = advance_months.business AND c.entry_id = entry.id
          ORDER BY c.entry_id
        )
      ) AS line
      GROUP BY 1, 2
    LOOP
      INSERT INTO account_month AS known (
        business_id, account_id, month, debits, credits, debit_count, credit_count,
        cash_debits, cash_credits, cash_debit_count, cash_credit_count
      ) VALUES (
        advance_months.business, added.account_id, added.month, added.debits, added.credits,
        added.debit_count, added.credit_count, added.cash_debits, added.cash_credits,
        added.cash_debit_count, added.cash_credit_count
      )
      ON CONFLICT (business_id, account_id, month) DO UPDATE SET
        debits = known.debits + excluded.debits,
        credits = known.credits + excluded.credits,
        debit_count = known.debit_count + excluded.debit_count,
        credit_count = known.credit_count + excluded.credit_count,
        cash_debits = known.cash_debits + excluded.cash_debits,
        cash_credits = known.cash_credits + excluded.cash_credits,
        cash_debit_count = known.cash_debit_count + excluded.cash_debit_count,
        cash_credit_count = known.cash_credit_count + excluded.cash_credit_count;
    END LOOP;
    UPDATE number_series s SET rolled_up = due.last
    WHERE s.business_id = advance_months.business AND s.series = due.series;
  END LOOP;
END
$$;
