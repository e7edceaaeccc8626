-- What returns refer to, and that a mark on a posted line is whole.
ALTER TABLE tax_return ADD CONSTRAINT tax_return_business_id_fkey
  FOREIGN KEY (business_id) REFERENCES business (id);
ALTER TABLE tax_return ADD CONSTRAINT tax_return_business_id_supersedes_id_fkey
  FOREIGN KEY (business_id, supersedes_id) REFERENCES tax_return (business_id, id);

ALTER TABLE journal_line ADD CONSTRAINT journal_line_mark_whole_check CHECK (
  num_nulls(tax_code_id, tax_rate, tax_part) IN (0, 3)
);
