-- What tax codes refer to, and what posted lines say of them: null in all that was posted before.
ALTER TABLE tax_code ADD CONSTRAINT tax_code_business_id_fkey
  FOREIGN KEY (business_id) REFERENCES business (id);
ALTER TABLE tax_code ADD CONSTRAINT tax_code_business_id_tax_account_id_fkey
  FOREIGN KEY (business_id, tax_account_id) REFERENCES account (business_id, id);

ALTER TABLE journal_line
  ADD COLUMN tax_code_id UUID,
  ADD COLUMN tax_rate NUMERIC,
  ADD COLUMN tax_part TEXT;
ALTER TABLE journal_line ADD CONSTRAINT journal_line_tax_part_known_check CHECK (
  tax_part IN ('net', 'output', 'input', 'blocked', 'withheld', 'relief_net', 'relief')
);
ALTER TABLE journal_line ADD CONSTRAINT journal_line_business_id_tax_code_id_fkey
  FOREIGN KEY (business_id, tax_code_id) REFERENCES tax_code (business_id, id);
CREATE INDEX journal_line_business_id_tax_code_id_entry_date_id_idx
  ON journal_line (business_id, tax_code_id, entry_date, id) WHERE tax_code_id IS NOT NULL;
