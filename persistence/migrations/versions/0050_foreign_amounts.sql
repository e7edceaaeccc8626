-- All columns are null where the currency is that of the books, so no row is rewritten.
ALTER TABLE invoice ADD COLUMN rate_base NUMERIC;
ALTER TABLE invoice ADD COLUMN rate_own NUMERIC;
ALTER TABLE invoice ADD COLUMN base_total BIGINT;
ALTER TABLE invoice ADD COLUMN base_settled BIGINT;
SELECT audit_columns('invoice', ARRAY['rate_base', 'rate_own', 'base_total', 'base_settled'], 'NULL, NULL, NULL, NULL');
ALTER TABLE bill ADD COLUMN rate_base NUMERIC;
ALTER TABLE bill ADD COLUMN rate_own NUMERIC;
ALTER TABLE bill ADD COLUMN base_total BIGINT;
ALTER TABLE bill ADD COLUMN base_settled BIGINT;
SELECT audit_columns('bill', ARRAY['rate_base', 'rate_own', 'base_total', 'base_settled'], 'NULL, NULL, NULL, NULL');
ALTER TABLE invoice_payment ADD COLUMN rate_base NUMERIC;
ALTER TABLE invoice_payment ADD COLUMN rate_own NUMERIC;
ALTER TABLE invoice_payment ADD COLUMN base_total BIGINT;
ALTER TABLE invoice_payment ADD COLUMN base_allocated BIGINT;
ALTER TABLE invoice_payment ADD COLUMN base_refunded BIGINT;
SELECT audit_columns('invoice_payment', ARRAY['rate_base', 'rate_own', 'base_total', 'base_allocated', 'base_refunded'], 'NULL, NULL, NULL, NULL, NULL');
ALTER TABLE bill_payment ADD COLUMN rate_base NUMERIC;
ALTER TABLE bill_payment ADD COLUMN rate_own NUMERIC;
ALTER TABLE bill_payment ADD COLUMN base_total BIGINT;
ALTER TABLE bill_payment ADD COLUMN base_allocated BIGINT;
ALTER TABLE bill_payment ADD COLUMN base_refunded BIGINT;
SELECT audit_columns('bill_payment', ARRAY['rate_base', 'rate_own', 'base_total', 'base_allocated', 'base_refunded'], 'NULL, NULL, NULL, NULL, NULL');
ALTER TABLE customer_credit ADD COLUMN rate_base NUMERIC;
ALTER TABLE customer_credit ADD COLUMN rate_own NUMERIC;
ALTER TABLE customer_credit ADD COLUMN base_total BIGINT;
ALTER TABLE customer_credit ADD COLUMN base_used BIGINT;
SELECT audit_columns('customer_credit', ARRAY['rate_base', 'rate_own', 'base_total', 'base_used'], 'NULL, NULL, NULL, NULL');
ALTER TABLE vendor_credit ADD COLUMN rate_base NUMERIC;
ALTER TABLE vendor_credit ADD COLUMN rate_own NUMERIC;
ALTER TABLE vendor_credit ADD COLUMN base_total BIGINT;
ALTER TABLE vendor_credit ADD COLUMN base_used BIGINT;
SELECT audit_columns('vendor_credit', ARRAY['rate_base', 'rate_own', 'base_total', 'base_used'], 'NULL, NULL, NULL, NULL');
ALTER TABLE invoice_refund ADD COLUMN is_foreign BOOLEAN;
SELECT audit_columns('invoice_refund', ARRAY['is_foreign'], 'NULL');
ALTER TABLE vendor_refund ADD COLUMN is_foreign BOOLEAN;
SELECT audit_columns('vendor_refund', ARRAY['is_foreign'], 'NULL');
ALTER TABLE invoice_refund_payment ADD COLUMN rate_base NUMERIC;
ALTER TABLE invoice_refund_payment ADD COLUMN rate_own NUMERIC;
ALTER TABLE invoice_refund_payment ADD COLUMN base_total BIGINT;
SELECT audit_columns('invoice_refund_payment', ARRAY['rate_base', 'rate_own', 'base_total'], 'NULL, NULL, NULL');
ALTER TABLE vendor_refund_payment ADD COLUMN rate_base NUMERIC;
ALTER TABLE vendor_refund_payment ADD COLUMN rate_own NUMERIC;
ALTER TABLE vendor_refund_payment ADD COLUMN base_total BIGINT;
SELECT audit_columns('vendor_refund_payment', ARRAY['rate_base', 'rate_own', 'base_total'], 'NULL, NULL, NULL');
ALTER TABLE invoice_allocation ADD COLUMN document_amount BIGINT;
ALTER TABLE invoice_allocation ADD COLUMN base_amount BIGINT;
ALTER TABLE bill_allocation ADD COLUMN document_amount BIGINT;
ALTER TABLE bill_allocation ADD COLUMN base_amount BIGINT;
ALTER TABLE account ADD COLUMN currency TEXT;
SELECT audit_columns('account', ARRAY['currency'], 'NULL');
ALTER TABLE opening_balance ADD COLUMN stated_own JSONB;
SELECT audit_columns('opening_balance', ARRAY['stated_own'], 'NULL');
ALTER TABLE journal_line ADD COLUMN currency TEXT;
ALTER TABLE journal_line ADD COLUMN currency_amount BIGINT;

-- The base of a small foreign amount may be 0; its line then has only the own amount.
ALTER TABLE journal_line DROP CONSTRAINT journal_line_one_side_only_check;
ALTER TABLE journal_line ADD CONSTRAINT journal_line_one_side_only_check CHECK (
  (debit > 0 AND credit = 0) OR (credit > 0 AND debit = 0)
  OR (debit = 0 AND credit = 0 AND coalesce(currency_amount, 0) <> 0)
) NOT VALID;
ALTER TABLE journal_line ADD CONSTRAINT journal_line_own_amount_check
  CHECK ((currency IS NULL) = (currency_amount IS NULL)) NOT VALID;

ALTER TABLE journal_entry DROP CONSTRAINT journal_entry_total_positive_check;
ALTER TABLE journal_entry ADD CONSTRAINT journal_entry_total_positive_check CHECK (total >= 0) NOT VALID;
