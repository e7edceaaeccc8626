-- Bank accounts, each over an account of the chart, and the lines of their statements.

CREATE TABLE bank_account (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  external_id TEXT,
  display_name TEXT NOT NULL,
  currency TEXT NOT NULL,
  account_id UUID NOT NULL,
  iban TEXT,
  mask TEXT,
  institution_name TEXT,
  CONSTRAINT bank_account_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_account_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id),
  CONSTRAINT bank_account_business_id_account_id_key UNIQUE (business_id, account_id),
  CONSTRAINT bank_account_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT bank_account_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bank_account_business_id_created_at_id_idx ON bank_account (business_id, created_at, id);

CREATE TABLE bank_transaction (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  bank_account_id UUID NOT NULL,
  external_id TEXT NOT NULL,
  booked_on DATE NOT NULL,
  amount BIGINT NOT NULL,
  direction TEXT NOT NULL,
  currency TEXT NOT NULL,
  description TEXT,
  counterparty_name TEXT,
  reference TEXT,
  imported_at TIMESTAMP WITH TIME ZONE NOT NULL,
  source_format TEXT NOT NULL,
  linked BIGINT NOT NULL,
  categorized BIGINT NOT NULL,
  category_account_id UUID,
  category_memo TEXT,
  remaining BIGINT GENERATED ALWAYS AS (amount - linked - categorized) STORED,
  CONSTRAINT bank_transaction_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_transaction_direction_known_check CHECK (direction IN ('credit', 'debit')),
  CONSTRAINT bank_transaction_source_format_known_check CHECK (source_format IN ('json', 'csv', 'ofx', 'camt053', 'mt940')),
  CONSTRAINT bank_transaction_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT bank_transaction_within_amount_check CHECK (linked >= 0 AND categorized >= 0 AND linked + categorized <= amount),
  CONSTRAINT bank_transaction_categorized_whole_check CHECK ((categorized > 0) = (category_account_id IS NOT NULL)),
  CONSTRAINT bank_transaction_business_id_bank_account_id_fkey FOREIGN KEY(business_id, bank_account_id) REFERENCES bank_account (business_id, id),
  CONSTRAINT bank_transaction_business_id_category_account_id_fkey FOREIGN KEY(business_id, category_account_id) REFERENCES account (business_id, id),
  CONSTRAINT bank_transaction_business_id_bank_account_id_external_id_key UNIQUE (business_id, bank_account_id, external_id),
  CONSTRAINT bank_transaction_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bank_transaction_business_id_bank_account_id_booked_on_id_idx ON bank_transaction (business_id, bank_account_id, booked_on, id);

CREATE INDEX bank_transaction_business_id_booked_on_id_idx ON bank_transaction (business_id, booked_on, id);

CREATE INDEX bank_transaction_business_id_created_at_id_idx ON bank_transaction (business_id, created_at, id);

-- A line is matched and categorised, but never taken away: the bank has it too.
GRANT SELECT, INSERT, UPDATE ON bank_account, bank_transaction TO accounting_server;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['bank_account', 'bank_transaction'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY one_business ON %I USING (business_id = '
      '(SELECT nullif(current_setting(''app.business_id'', true), '''')::uuid))',
      tenant_table
    );
  END LOOP;
END
$$;
