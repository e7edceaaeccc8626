-- Money from before names none: its method decides the account.

ALTER TABLE invoice_payment ADD COLUMN bank_account_id UUID;
ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('invoice_payment', ARRAY['bank_account_id'], 'NULL');

ALTER TABLE bill_payment ADD COLUMN bank_account_id UUID;
ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('bill_payment', ARRAY['bank_account_id'], 'NULL');

ALTER TABLE invoice_refund ADD COLUMN bank_account_id UUID;
ALTER TABLE invoice_refund ADD CONSTRAINT invoice_refund_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('invoice_refund', ARRAY['bank_account_id'], 'NULL');

ALTER TABLE invoice_refund_payment ADD COLUMN bank_account_id UUID;
ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('invoice_refund_payment', ARRAY['bank_account_id'], 'NULL');

ALTER TABLE vendor_refund_payment ADD COLUMN bank_account_id UUID;
ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('vendor_refund_payment', ARRAY['bank_account_id'], 'NULL');

ALTER TABLE payout ADD COLUMN bank_account_id UUID;
ALTER TABLE payout ADD CONSTRAINT payout_business_id_bank_account_id_fkey
  FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
SELECT audit_columns('payout', ARRAY['bank_account_id'], 'NULL');
