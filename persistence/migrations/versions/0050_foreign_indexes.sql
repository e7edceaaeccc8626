-- No document is foreign yet. Built beside writers.
DROP INDEX CONCURRENTLY IF EXISTS invoice_open_foreign_idx;
CREATE INDEX CONCURRENTLY invoice_open_foreign_idx ON invoice (business_id, party_id, id)
  INCLUDE (currency, outstanding, base_total, base_settled) WHERE outstanding > 0 AND base_total IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS bill_open_foreign_idx;
CREATE INDEX CONCURRENTLY bill_open_foreign_idx ON bill (business_id, party_id, id)
  INCLUDE (currency, outstanding, base_total, base_settled) WHERE outstanding > 0 AND base_total IS NOT NULL;
DROP INDEX CONCURRENTLY IF EXISTS journal_line_foreign_idx;
CREATE INDEX CONCURRENTLY journal_line_foreign_idx ON journal_line (business_id, account_id, currency, entry_date)
  INCLUDE (currency_amount, debit, credit) WHERE currency IS NOT NULL;
ALTER TABLE journal_line VALIDATE CONSTRAINT journal_line_one_side_only_check;
ALTER TABLE journal_line VALIDATE CONSTRAINT journal_line_own_amount_check;
ALTER TABLE journal_entry VALIDATE CONSTRAINT journal_entry_total_positive_check;
ALTER TABLE invoice_payment VALIDATE CONSTRAINT invoice_payment_business_id_own_account_id_fkey;
ALTER TABLE bill_payment VALIDATE CONSTRAINT bill_payment_business_id_own_account_id_fkey;
ALTER TABLE invoice_refund_payment VALIDATE CONSTRAINT invoice_refund_payment_business_id_own_account_id_fkey;
ALTER TABLE vendor_refund_payment VALIDATE CONSTRAINT vendor_refund_payment_business_id_own_account_id_fkey;
ALTER TABLE payout VALIDATE CONSTRAINT payout_business_id_own_account_id_fkey;
