-- No document is foreign yet. Built beside writers.
DROP INDEX CONCURRENTLY IF EXISTS invoice_open_foreign_idx;
CREATE INDEX CONCURRENTLY invoice_open_foreign_idx ON invoice (business_id, id)
  INCLUDE (base_total, base_settled) WHERE outstanding > 0 AND base_total IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS bill_open_foreign_idx;
CREATE INDEX CONCURRENTLY bill_open_foreign_idx ON bill (business_id, id)
  INCLUDE (base_total, base_settled) WHERE outstanding > 0 AND base_total IS NOT NULL;
ALTER TABLE journal_line VALIDATE CONSTRAINT journal_line_one_side_only_check;
ALTER TABLE journal_line VALIDATE CONSTRAINT journal_line_own_amount_check;
ALTER TABLE journal_entry VALIDATE CONSTRAINT journal_entry_total_positive_check;
