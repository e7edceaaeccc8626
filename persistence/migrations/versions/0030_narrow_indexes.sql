-- What nobody lists in the order of ids has none in its index: rows that are alike then share one place.
-- One that was left half built is built anew.
DROP INDEX CONCURRENTLY IF EXISTS audit_record_business_id_request_id_idx;
CREATE INDEX CONCURRENTLY audit_record_business_id_request_id_idx
  ON audit_record (business_id, request_id);
DROP INDEX CONCURRENTLY IF EXISTS journal_line_business_id_tax_code_id_entry_date_idx;
CREATE INDEX CONCURRENTLY journal_line_business_id_tax_code_id_entry_date_idx
  ON journal_line (business_id, tax_code_id, entry_date) WHERE tax_code_id IS NOT NULL;
