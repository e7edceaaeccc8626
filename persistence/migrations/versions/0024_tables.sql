-- What refers to another table comes once this one is spread, where tables are.
CREATE TABLE cash_line (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  line_id UUID NOT NULL,
  entry_id UUID NOT NULL,
  account_id UUID NOT NULL,
  entry_date DATE NOT NULL,
  debit BIGINT NOT NULL,
  credit BIGINT NOT NULL,
  document_id UUID NOT NULL,
  tax_code_id UUID,
  tax_rate NUMERIC,
  tax_part TEXT,
  CONSTRAINT cash_line_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT cash_line_one_side_only_check
    CHECK ((debit > 0 AND credit = 0) OR (credit > 0 AND debit = 0)),
  CONSTRAINT cash_line_mark_whole_check
    CHECK (num_nulls(tax_code_id, tax_rate, tax_part) IN (0, 3)),
  CONSTRAINT cash_line_tax_part_known_check CHECK (
    tax_part IN ('net', 'output', 'input', 'blocked', 'withheld', 'relief_net', 'relief')
  )
);

CREATE INDEX cash_line_business_id_document_id_idx ON cash_line (business_id, document_id);
CREATE INDEX cash_line_business_id_entry_id_idx ON cash_line (business_id, entry_id);
CREATE INDEX cash_line_business_id_account_id_entry_date_id_idx
  ON cash_line (business_id, account_id, entry_date, id) INCLUDE (debit, credit);

-- Like the lines that they are parts of, they are added to and never edited.
GRANT SELECT, INSERT ON cash_line TO accounting_server;
ALTER TABLE cash_line ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON cash_line USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
