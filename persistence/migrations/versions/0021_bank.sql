-- Lines of bank statements in parts, money between own accounts, rules, and reconciled statements.
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_bank_account_id_fkey FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id);
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_tax_code_id_fkey FOREIGN KEY(business_id, tax_code_id) REFERENCES tax_code (business_id, id);
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_customer_id_fkey FOREIGN KEY(business_id, customer_id) REFERENCES customer (business_id, id);
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_vendor_id_fkey FOREIGN KEY(business_id, vendor_id) REFERENCES vendor (business_id, id);
ALTER TABLE bank_rule ADD CONSTRAINT bank_rule_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id);
ALTER TABLE bank_transfer ADD CONSTRAINT bank_transfer_business_id_from_account_id_fkey FOREIGN KEY(business_id, from_account_id) REFERENCES account (business_id, id);
ALTER TABLE bank_transfer ADD CONSTRAINT bank_transfer_business_id_to_account_id_fkey FOREIGN KEY(business_id, to_account_id) REFERENCES account (business_id, id);
ALTER TABLE bank_transfer ADD CONSTRAINT bank_transfer_business_id_out_transaction_id_fkey FOREIGN KEY(business_id, out_transaction_id) REFERENCES bank_transaction (business_id, id);
ALTER TABLE bank_transfer ADD CONSTRAINT bank_transfer_business_id_in_transaction_id_fkey FOREIGN KEY(business_id, in_transaction_id) REFERENCES bank_transaction (business_id, id);
ALTER TABLE bank_transfer ADD CONSTRAINT bank_transfer_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id);
ALTER TABLE bank_reconciliation ADD CONSTRAINT bank_reconciliation_business_id_bank_account_id_fkey FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id);
ALTER TABLE bank_reconciliation ADD CONSTRAINT bank_reconciliation_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id);
ALTER TABLE bank_reconciliation ADD CONSTRAINT bank_reconciliation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id);

-- Null in lines of before, and in those of a server of the release before.
ALTER TABLE bank_transaction ADD COLUMN parts JSONB, ADD COLUMN rule_id UUID;

ALTER TABLE bank_transaction ADD CONSTRAINT bank_transaction_business_id_rule_id_fkey FOREIGN KEY(business_id, rule_id) REFERENCES bank_rule (business_id, id);

ALTER TABLE bank_transaction DROP CONSTRAINT bank_transaction_categorized_whole_check;

ALTER TABLE bank_transaction ADD CONSTRAINT bank_transaction_categorized_whole_check CHECK ((categorized > 0) = (category_account_id IS NOT NULL OR parts IS NOT NULL));

CREATE INDEX bank_transaction_open_idx ON bank_transaction (business_id, remaining, booked_on) WHERE remaining > 0;

CREATE INDEX bank_transaction_business_id_rule_id_idx ON bank_transaction (business_id, rule_id) WHERE rule_id IS NOT NULL;

ALTER TABLE bank_link DROP CONSTRAINT bank_link_target_type_known_check;

ALTER TABLE bank_link ADD CONSTRAINT bank_link_target_type_known_check CHECK (target_type IN ('invoice_payment', 'invoice_refund_payment', 'bill_payment', 'vendor_refund_payment', 'payout', 'journal_entry', 'transfer'));

-- Entries that a line may be.
CREATE INDEX journal_entry_manual_idx ON journal_entry (business_id, entry_date, id) WHERE source_type = 'manual';

GRANT SELECT, INSERT, UPDATE ON bank_rule, bank_transfer TO accounting_server;
-- One that is open is dropped where the one before it is reopened.
GRANT SELECT, INSERT, UPDATE, DELETE ON bank_reconciliation TO accounting_server;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['bank_rule', 'bank_transfer', 'bank_reconciliation'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY one_business ON %I USING (business_id = '
      'nullif(current_setting(''app.business_id'', true), '''')::uuid)',
      tenant_table
    );
  END LOOP;
END
$$;

SELECT audit_columns('bank_transaction', ARRAY['parts', 'rule_id'], 'NULL, NULL');
SELECT audit_table('bank_rule', 'bank_rule');
SELECT audit_table('bank_transfer', 'bank_transfer');
SELECT audit_table('bank_reconciliation', 'bank_reconciliation');

-- What a reconciled statement holds stays, whoever asks. A statement closes while nothing else is
-- written (handlers/bank/bank_reconciliations.py), so that nothing passes these unseen.
CREATE FUNCTION refuse_posting_to_reconciled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM bank_reconciliation
    WHERE business_id = NEW.business_id AND account_id = NEW.account_id AND status = 'closed'
      AND statement_date >= NEW.entry_date
  ) THEN
    RAISE EXCEPTION 'a line of % breaks constraint "journal_line_after_reconciliation"',
      NEW.entry_date
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_line_after_reconciliation';
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER journal_line_after_reconciliation AFTER INSERT ON journal_line
  FOR EACH ROW EXECUTE FUNCTION refuse_posting_to_reconciled();

CREATE FUNCTION refuse_end_of_reconciled_link() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM bank_transaction t
    JOIN bank_reconciliation r
      ON r.business_id = NEW.business_id AND r.bank_account_id = t.bank_account_id
    WHERE t.business_id = NEW.business_id AND t.id = NEW.transaction_id
      AND r.status = 'closed' AND r.statement_date >= t.booked_on
  ) THEN
    RAISE EXCEPTION 'the end of % breaks constraint "bank_link_reconciled"', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'bank_link_reconciled';
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER bank_link_reconciled AFTER UPDATE ON bank_link
  FOR EACH ROW WHEN (OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL)
  EXECUTE FUNCTION refuse_end_of_reconciled_link();

CREATE FUNCTION refuse_change_of_reconciled_money() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM bank_link k
    JOIN bank_transaction t ON t.business_id = NEW.business_id AND t.id = k.transaction_id
    JOIN bank_reconciliation r
      ON r.business_id = NEW.business_id AND r.bank_account_id = t.bank_account_id
    WHERE k.business_id = NEW.business_id AND k.target_id = NEW.id AND k.ended_at IS NULL
      AND r.status = 'closed' AND r.statement_date >= t.booked_on
  ) THEN
    RAISE EXCEPTION 'a change of % breaks constraint "linked_money_reconciled"', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'linked_money_reconciled';
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER invoice_payment_reconciled AFTER UPDATE ON invoice_payment
  FOR EACH ROW WHEN (
    OLD.linked > 0
    AND (OLD.total <> NEW.total OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();

CREATE TRIGGER bill_payment_reconciled AFTER UPDATE ON bill_payment
  FOR EACH ROW WHEN (
    OLD.linked > 0
    AND (OLD.total <> NEW.total OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();

CREATE TRIGGER vendor_refund_payment_reconciled AFTER UPDATE ON vendor_refund_payment
  FOR EACH ROW WHEN (
    OLD.linked > 0
    AND (OLD.amount <> NEW.amount OR OLD.fee <> NEW.fee OR OLD.payment_date <> NEW.payment_date)
  )
  EXECUTE FUNCTION refuse_change_of_reconciled_money();
