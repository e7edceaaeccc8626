-- Columns that come to tables keep their defaults: a server of the release before does not name them.

ALTER TABLE bill_write_off ADD CONSTRAINT bill_write_off_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES bill (business_id, id);
ALTER TABLE bill_write_off ADD CONSTRAINT bill_write_off_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id);
ALTER TABLE bill_write_off ADD CONSTRAINT bill_write_off_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id);

-- What is paid out of a credit is used up. The expression of a generated column cannot be changed.
DROP INDEX customer_credit_business_id_listed_status_listed_at_id_idx;
ALTER TABLE customer_credit DROP COLUMN listed_status;
ALTER TABLE customer_credit
  DROP CONSTRAINT customer_credit_within_total_check,
  DROP CONSTRAINT customer_credit_applied_while_open_check;
ALTER TABLE customer_credit ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0;
ALTER TABLE customer_credit
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state <> 'open' THEN state WHEN applied + refunded = total_amount THEN 'applied' WHEN applied + refunded > 0 THEN 'partially_applied' ELSE 'sent' END) STORED;
ALTER TABLE customer_credit ADD CONSTRAINT customer_credit_within_total_check
  CHECK (least(applied, refunded) >= 0 AND applied + refunded <= total_amount);
ALTER TABLE customer_credit ADD CONSTRAINT customer_credit_applied_while_open_check
  CHECK (applied + refunded = 0 OR state = 'open');
CREATE INDEX customer_credit_business_id_listed_status_listed_at_id_idx
  ON customer_credit (business_id, listed_status, listed_at, id);
SELECT audit_columns('customer_credit', ARRAY['refunded'], '0');

DROP INDEX vendor_credit_business_id_listed_status_listed_at_id_idx;
ALTER TABLE vendor_credit DROP COLUMN listed_status;
ALTER TABLE vendor_credit
  DROP CONSTRAINT vendor_credit_within_total_check,
  DROP CONSTRAINT vendor_credit_applied_while_open_check;
ALTER TABLE vendor_credit ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0;
ALTER TABLE vendor_credit
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state <> 'open' THEN state WHEN applied + refunded = total_amount THEN 'applied' WHEN applied + refunded > 0 THEN 'partially_applied' ELSE 'received' END) STORED;
ALTER TABLE vendor_credit ADD CONSTRAINT vendor_credit_within_total_check
  CHECK (least(applied, refunded) >= 0 AND applied + refunded <= total_amount);
ALTER TABLE vendor_credit ADD CONSTRAINT vendor_credit_applied_while_open_check
  CHECK (applied + refunded = 0 OR state = 'open');
CREATE INDEX vendor_credit_business_id_listed_status_listed_at_id_idx
  ON vendor_credit (business_id, listed_status, listed_at, id);
SELECT audit_columns('vendor_credit', ARRAY['refunded'], '0');

ALTER TABLE invoice_refund_allocation ADD COLUMN refunded_credit_id UUID;
ALTER TABLE invoice_refund_allocation DROP CONSTRAINT invoice_refund_allocation_one_target_check;
ALTER TABLE invoice_refund_allocation ADD CONSTRAINT invoice_refund_allocation_one_target_check
  CHECK (num_nonnulls(document_id, payment_id, refunded_credit_id) = 1);
ALTER TABLE invoice_refund_allocation ADD CONSTRAINT invoice_refund_allocation_business_id_refunded_credit_id_fkey FOREIGN KEY(business_id, refunded_credit_id) REFERENCES customer_credit (business_id, id);
CREATE INDEX invoice_refund_allocation_business_id_refunded_credit_id_idx
  ON invoice_refund_allocation (business_id, refunded_credit_id);

ALTER TABLE vendor_refund_allocation ADD COLUMN refunded_credit_id UUID;
ALTER TABLE vendor_refund_allocation DROP CONSTRAINT vendor_refund_allocation_one_target_check;
ALTER TABLE vendor_refund_allocation ADD CONSTRAINT vendor_refund_allocation_one_target_check
  CHECK (num_nonnulls(document_id, payment_id, credit_id, refunded_credit_id) = 1);
ALTER TABLE vendor_refund_allocation ADD CONSTRAINT vendor_refund_allocation_business_id_refunded_credit_id_fkey FOREIGN KEY(business_id, refunded_credit_id) REFERENCES vendor_credit (business_id, id);
CREATE INDEX vendor_refund_allocation_business_id_refunded_credit_id_idx
  ON vendor_refund_allocation (business_id, refunded_credit_id);

-- A processor may give fees back.
ALTER TABLE payout ADD COLUMN other_items JSONB NOT NULL DEFAULT '[]';
ALTER TABLE payout DROP CONSTRAINT payout_amounts_positive_check;
ALTER TABLE payout ADD CONSTRAINT payout_amounts_positive_check
  CHECK (least(additional_refunds, gross_payments, total_refunds) >= 0);
SELECT audit_columns('payout', ARRAY['other_items'], '''[]''::jsonb');

ALTER TABLE bank_link ADD COLUMN rounding BIGINT NOT NULL DEFAULT 0;
SELECT audit_columns('bank_link', ARRAY['rounding'], '0');
ALTER TABLE bank_transaction ADD COLUMN rounding BIGINT NOT NULL DEFAULT 0;
SELECT audit_columns('bank_transaction', ARRAY['rounding'], '0');
ALTER TABLE business ADD COLUMN matching_tolerance_cents BIGINT NOT NULL DEFAULT 0;
ALTER TABLE business ADD CONSTRAINT business_matching_tolerance_small_check
  CHECK (matching_tolerance_cents BETWEEN 0 AND 500);
SELECT audit_columns('business', ARRAY['matching_tolerance_cents'], '0');
