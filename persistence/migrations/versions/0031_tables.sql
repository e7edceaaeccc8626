-- What refers to another table comes once this one is spread, where tables are. Each step may be run
-- once more: what was posted before is added up beside writers, and that may be stopped.
CREATE TABLE IF NOT EXISTS tax_month (
  business_id UUID NOT NULL,
  month DATE NOT NULL,
  tax_code_id UUID NOT NULL,
  tax_rate NUMERIC NOT NULL,
  tax_part TEXT NOT NULL,
  debits BIGINT NOT NULL,
  credits BIGINT NOT NULL,
  cash_debits BIGINT NOT NULL,
  cash_credits BIGINT NOT NULL,
  CONSTRAINT tax_month_pkey PRIMARY KEY (business_id, month, tax_code_id, tax_rate, tax_part),
  CONSTRAINT tax_month_first_of_month_check CHECK (extract(day FROM month) = 1),
  CONSTRAINT tax_month_sums_positive_check
    CHECK (least(debits, credits, cash_debits, cash_credits) >= 0)
);

-- Like the months of accounts: what should not be there says 0, and is not deleted.
GRANT SELECT, INSERT, UPDATE ON tax_month TO accounting_server;
ALTER TABLE tax_month ENABLE ROW LEVEL SECURITY;
DROP POLICY IF EXISTS one_business ON tax_month;
CREATE POLICY one_business ON tax_month USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
