-- Lines of before were all in the statements of their days.
ALTER TABLE bank_transaction ADD COLUMN after_closing BOOLEAN DEFAULT false NOT NULL;
SELECT audit_columns('bank_transaction', ARRAY['after_closing'], 'false');

-- A line that was imported after the closing is in no statement, so that it holds no link and no money.
CREATE OR REPLACE FUNCTION refuse_end_of_reconciled_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM bank_transaction t
    JOIN bank_reconciliation r
      ON r.business_id = NEW.business_id AND r.bank_account_id = t.bank_account_id
    WHERE t.business_id = NEW.business_id AND t.id = NEW.transaction_id AND NOT t.after_closing
      AND r.status = 'closed' AND r.statement_date >= t.booked_on
  ) THEN
    RAISE EXCEPTION 'the end of % breaks constraint "bank_link_reconciled"', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'bank_link_reconciled';
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION refuse_change_of_reconciled_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM bank_link k
    JOIN bank_transaction t ON t.business_id = NEW.business_id AND t.id = k.transaction_id
    JOIN bank_reconciliation r
      ON r.business_id = NEW.business_id AND r.bank_account_id = t.bank_account_id
    WHERE k.business_id = NEW.business_id AND k.target_id = NEW.id AND k.ended_at IS NULL
      AND r.status = 'closed' AND r.statement_date >= t.booked_on AND NOT t.after_closing
  ) THEN
    RAISE EXCEPTION 'a change of % breaks constraint "linked_money_reconciled"', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'linked_money_reconciled';
  END IF;
  RETURN NULL;
END
$$;
