-- Foreign money at the bank. The columns are null where the currency is that of the books.
ALTER TABLE invoice_payment ADD COLUMN linked_base BIGINT;
ALTER TABLE invoice_payment ADD COLUMN linked_back_base BIGINT;
ALTER TABLE invoice_payment ADD COLUMN own_account_id UUID;
ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_business_id_own_account_id_fkey
  FOREIGN KEY (business_id, own_account_id) REFERENCES account (business_id, id) NOT VALID;
SELECT audit_columns('invoice_payment', ARRAY['linked_base', 'linked_back_base', 'own_account_id'], 'NULL, NULL, NULL');
ALTER TABLE bill_payment ADD COLUMN linked_base BIGINT;
ALTER TABLE bill_payment ADD COLUMN linked_back_base BIGINT;
ALTER TABLE bill_payment ADD COLUMN own_account_id UUID;
ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_business_id_own_account_id_fkey
  FOREIGN KEY (business_id, own_account_id) REFERENCES account (business_id, id) NOT VALID;
SELECT audit_columns('bill_payment', ARRAY['linked_base', 'linked_back_base', 'own_account_id'], 'NULL, NULL, NULL');
ALTER TABLE invoice_refund_payment ADD COLUMN linked_base BIGINT;
ALTER TABLE invoice_refund_payment ADD COLUMN linked_back_base BIGINT;
ALTER TABLE invoice_refund_payment ADD COLUMN own_account_id UUID;
ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_business_id_own_account_id_fkey
  FOREIGN KEY (business_id, own_account_id) REFERENCES account (business_id, id) NOT VALID;
SELECT audit_columns('invoice_refund_payment', ARRAY['linked_base', 'linked_back_base', 'own_account_id'], 'NULL, NULL, NULL');
ALTER TABLE vendor_refund_payment ADD COLUMN linked_base BIGINT;
ALTER TABLE vendor_refund_payment ADD COLUMN linked_back_base BIGINT;
ALTER TABLE vendor_refund_payment ADD COLUMN own_account_id UUID;
ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_business_id_own_account_id_fkey
  FOREIGN KEY (business_id, own_account_id) REFERENCES account (business_id, id) NOT VALID;
SELECT audit_columns('vendor_refund_payment', ARRAY['linked_base', 'linked_back_base', 'own_account_id'], 'NULL, NULL, NULL');
ALTER TABLE payout ADD COLUMN rate_base NUMERIC;
ALTER TABLE payout ADD COLUMN rate_own NUMERIC;
ALTER TABLE payout ADD COLUMN base_total BIGINT;
ALTER TABLE payout ADD COLUMN linked_base BIGINT;
ALTER TABLE payout ADD COLUMN own_account_id UUID;
ALTER TABLE payout ADD CONSTRAINT payout_business_id_own_account_id_fkey
  FOREIGN KEY (business_id, own_account_id) REFERENCES account (business_id, id) NOT VALID;
SELECT audit_columns('payout', ARRAY['rate_base', 'rate_own', 'base_total', 'linked_base', 'own_account_id'], 'NULL, NULL, NULL, NULL, NULL');
ALTER TABLE bank_transaction ADD COLUMN rate_base NUMERIC;
ALTER TABLE bank_transaction ADD COLUMN rate_own NUMERIC;
ALTER TABLE bank_transaction ADD COLUMN base_total BIGINT;
ALTER TABLE bank_transaction ADD COLUMN exchanged JSONB;
SELECT audit_columns('bank_transaction', ARRAY['rate_base', 'rate_own', 'base_total', 'exchanged'], 'NULL, NULL, NULL, NULL');
ALTER TABLE bank_link ADD COLUMN target_amount JSONB;
SELECT audit_columns('bank_link', ARRAY['target_amount'], 'NULL');
ALTER TABLE bank_transfer ADD COLUMN currency TEXT;
ALTER TABLE bank_transfer ADD COLUMN base_amount BIGINT;
ALTER TABLE bank_transfer ADD COLUMN arrived BIGINT;
ALTER TABLE bank_transfer ADD COLUMN arrived_currency TEXT;
SELECT audit_columns('bank_transfer', ARRAY['currency', 'base_amount', 'arrived', 'arrived_currency'], 'NULL, NULL, NULL, NULL');
