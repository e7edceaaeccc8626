-- Businesses of before count days in UTC. So do their records, and those that a server of the release
-- before writes: the day beside their moment is null, and no row is written anew.
ALTER TABLE business ADD COLUMN timezone TEXT NOT NULL DEFAULT 'UTC';
SELECT audit_columns('business', ARRAY['timezone'], '''UTC''');

-- What of a business decides how its books read, from what to what; at the beginning from nothing.
CREATE OR REPLACE FUNCTION audited_changes(before jsonb, after jsonb)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(
    name, jsonb_build_object('from', before -> name, 'to', after -> name) ORDER BY name
  )
  FROM unnest(ARRAY['accounting_method', 'fiscal_year_end', 'lock_date', 'timezone']) AS name
  WHERE coalesce(before -> name, 'null') <> coalesce(after -> name, 'null')
$$;

ALTER TABLE invoice ADD COLUMN voided_on DATE;
SELECT audit_columns('invoice', ARRAY['voided_on'], 'NULL');
ALTER TABLE bill ADD COLUMN voided_on DATE;
SELECT audit_columns('bill', ARRAY['voided_on'], 'NULL');
ALTER TABLE write_off ADD COLUMN written_off_on DATE, ADD COLUMN reversed_on DATE;
SELECT audit_columns('write_off', ARRAY['written_off_on', 'reversed_on'], 'NULL, NULL');
ALTER TABLE bill_write_off ADD COLUMN written_off_on DATE, ADD COLUMN reversed_on DATE;
SELECT audit_columns('bill_write_off', ARRAY['written_off_on', 'reversed_on'], 'NULL, NULL');
-- A credit has the day of its moment beside it too, and not only one of an opening.
ALTER TABLE customer_credit DROP CONSTRAINT customer_credit_opened_with_check;
ALTER TABLE customer_credit ADD COLUMN voided_on DATE;
SELECT audit_columns('customer_credit', ARRAY['voided_on'], 'NULL');
ALTER TABLE vendor_credit DROP CONSTRAINT vendor_credit_opened_with_check;
ALTER TABLE vendor_credit ADD COLUMN voided_on DATE;
SELECT audit_columns('vendor_credit', ARRAY['voided_on'], 'NULL');
ALTER TABLE invoice_refund ADD COLUMN cancelled_on DATE;
SELECT audit_columns('invoice_refund', ARRAY['cancelled_on'], 'NULL');
ALTER TABLE vendor_refund ADD COLUMN cancelled_on DATE;
SELECT audit_columns('vendor_refund', ARRAY['cancelled_on'], 'NULL');
ALTER TABLE invoice_refund_payment ADD COLUMN completed_on DATE;
SELECT audit_columns('invoice_refund_payment', ARRAY['completed_on'], 'NULL');
ALTER TABLE vendor_refund_payment ADD COLUMN completed_on DATE;
SELECT audit_columns('vendor_refund_payment', ARRAY['completed_on'], 'NULL');
ALTER TABLE payout ADD COLUMN completed_on DATE;
SELECT audit_columns('payout', ARRAY['completed_on'], 'NULL');
ALTER TABLE opening_balance ADD COLUMN reversed_on DATE;
SELECT audit_columns('opening_balance', ARRAY['reversed_on'], 'NULL');
