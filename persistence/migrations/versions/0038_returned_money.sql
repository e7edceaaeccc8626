-- Money that came back: bank lines may show its return, and its matches stay.

-- How many times completed money came back. A span that begins on the day on which the last one ended
-- is no return: nothing moved on the account that day. `accounting.trade.holds` has the same function.
CREATE FUNCTION times_returned(completions jsonb) RETURNS integer LANGUAGE sql IMMUTABLE STRICT AS $$
  SELECT count(*)::integer FROM generate_series(0, jsonb_array_length(completions) - 1) AS place
  WHERE completions -> place ->> 1 IS NOT NULL
    AND completions -> (place + 1) ->> 0 IS DISTINCT FROM completions -> place ->> 1
$$;

ALTER TABLE bank_link ADD COLUMN back BOOLEAN NOT NULL DEFAULT false;
SELECT audit_columns('bank_link', ARRAY['back'], 'false');

ALTER TABLE invoice_payment ADD COLUMN linked_back BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoice_payment DROP CONSTRAINT invoice_payment_linked_or_paid_out_check;
ALTER TABLE invoice_payment DROP CONSTRAINT invoice_payment_linked_positive_check;
ALTER TABLE invoice_payment DROP CONSTRAINT invoice_payment_linked_whole_check;
ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_or_paid_out_check
  CHECK (linked + linked_back = 0 OR payout_id IS NULL) NOT VALID;
ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_positive_check
  CHECK (linked >= 0 AND linked_back >= 0) NOT VALID;
ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_whole_check
  CHECK ((linked + linked_back > 0) = (money_account_id IS NOT NULL)) NOT VALID;
SELECT audit_columns('invoice_payment', ARRAY['linked_back'], '0');
DROP TRIGGER invoice_payment_reconciled ON invoice_payment;
CREATE TRIGGER invoice_payment_reconciled AFTER UPDATE ON invoice_payment
  FOR EACH ROW WHEN (
    OLD.linked + OLD.linked_back > 0
    AND (OLD.total <> NEW.total OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();

ALTER TABLE bill_payment ADD COLUMN linked_back BIGINT NOT NULL DEFAULT 0;
ALTER TABLE bill_payment DROP CONSTRAINT bill_payment_linked_or_paid_out_check;
ALTER TABLE bill_payment DROP CONSTRAINT bill_payment_linked_positive_check;
ALTER TABLE bill_payment DROP CONSTRAINT bill_payment_linked_whole_check;
ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_or_paid_out_check
  CHECK (linked + linked_back = 0 OR payout_id IS NULL) NOT VALID;
ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_positive_check
  CHECK (linked >= 0 AND linked_back >= 0) NOT VALID;
ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_whole_check
  CHECK ((linked + linked_back > 0) = (money_account_id IS NOT NULL)) NOT VALID;
SELECT audit_columns('bill_payment', ARRAY['linked_back'], '0');
DROP TRIGGER bill_payment_reconciled ON bill_payment;
CREATE TRIGGER bill_payment_reconciled AFTER UPDATE ON bill_payment
  FOR EACH ROW WHEN (
    OLD.linked + OLD.linked_back > 0
    AND (OLD.total <> NEW.total OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();

ALTER TABLE invoice_refund_payment ADD COLUMN linked_back BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoice_refund_payment DROP CONSTRAINT invoice_refund_payment_linked_or_paid_out_check;
ALTER TABLE invoice_refund_payment DROP CONSTRAINT invoice_refund_payment_linked_positive_check;
ALTER TABLE invoice_refund_payment DROP CONSTRAINT invoice_refund_payment_linked_whole_check;
ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_or_paid_out_check
  CHECK (linked + linked_back = 0 OR payout_id IS NULL) NOT VALID;
ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_positive_check
  CHECK (linked >= 0 AND linked_back >= 0) NOT VALID;
ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_whole_check
  CHECK ((linked + linked_back > 0) = (money_account_id IS NOT NULL)) NOT VALID;
SELECT audit_columns('invoice_refund_payment', ARRAY['linked_back'], '0');

ALTER TABLE vendor_refund_payment ADD COLUMN linked_back BIGINT NOT NULL DEFAULT 0;
ALTER TABLE vendor_refund_payment DROP CONSTRAINT vendor_refund_payment_linked_or_paid_out_check;
ALTER TABLE vendor_refund_payment DROP CONSTRAINT vendor_refund_payment_linked_positive_check;
ALTER TABLE vendor_refund_payment DROP CONSTRAINT vendor_refund_payment_linked_whole_check;
ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_or_paid_out_check
  CHECK (linked + linked_back = 0 OR payout_id IS NULL) NOT VALID;
ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_positive_check
  CHECK (linked >= 0 AND linked_back >= 0) NOT VALID;
ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_whole_check
  CHECK ((linked + linked_back > 0) = (money_account_id IS NOT NULL)) NOT VALID;
SELECT audit_columns('vendor_refund_payment', ARRAY['linked_back'], '0');
DROP TRIGGER vendor_refund_payment_reconciled ON vendor_refund_payment;
CREATE TRIGGER vendor_refund_payment_reconciled AFTER UPDATE ON vendor_refund_payment
  FOR EACH ROW WHEN (
    OLD.linked + OLD.linked_back > 0
    AND (OLD.amount <> NEW.amount OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();
