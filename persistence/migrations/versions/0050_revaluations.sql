-- Foreign balances at the closing rate of a day. `rates` are the given ones, as decimals in text; `items` are
-- the balances with their rates and differences.
CREATE TABLE revaluation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  revalued_on DATE NOT NULL,
  currency TEXT NOT NULL,
  rates JSONB NOT NULL,
  items JSONB NOT NULL,
  reversed_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT revaluation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT revaluation_business_id_fkey FOREIGN KEY (business_id) REFERENCES business (id)
);
CREATE INDEX revaluation_business_id_revalued_on_id_idx ON revaluation (business_id, revalued_on, id);
CREATE INDEX revaluation_business_id_created_at_id_idx ON revaluation (business_id, created_at, id);
CREATE INDEX revaluation_business_id_updated_at_idx ON revaluation (business_id, updated_at);

GRANT SELECT, INSERT, UPDATE ON revaluation TO accounting_server;
ALTER TABLE revaluation ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON revaluation USING (
  business_id = nullif(current_setting('app.business_id', true), '')::uuid
);
SELECT audit_table('revaluation', 'revaluation');
SELECT event_table('revaluation', 'revaluation');

-- A line whose own amount is 0 changes no figure of the statement of an account in its currency.
CREATE OR REPLACE FUNCTION refuse_posting_to_reconciled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.currency_amount = 0 THEN
    PERFORM 1 FROM account
    WHERE business_id = NEW.business_id AND id = NEW.account_id AND currency = NEW.currency;
    IF FOUND THEN
      RETURN NULL;
    END IF;
  END IF;
  PERFORM 1 FROM bank_reconciliation
  WHERE business_id = NEW.business_id AND account_id = NEW.account_id AND status = 'closed'
    AND statement_date >= NEW.entry_date
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'a line of % breaks constraint "journal_line_after_reconciliation"',
      NEW.entry_date
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_line_after_reconciliation';
  END IF;
  RETURN NULL;
END
$$;
