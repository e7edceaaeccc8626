-- What refers to another table comes once this one is spread, where tables are.
CREATE TABLE opening_balance (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  opened_on DATE NOT NULL,
  currency TEXT NOT NULL,
  memo TEXT,
  stated JSONB NOT NULL,
  documented JSONB NOT NULL,
  reversed_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT opening_balance_pkey PRIMARY KEY (business_id, id)
);

CREATE UNIQUE INDEX opening_balance_opened_on_key ON opening_balance (business_id, opened_on) WHERE reversed_at IS NULL;

CREATE INDEX opening_balance_business_id_created_at_id_idx ON opening_balance (business_id, created_at, id);

CREATE INDEX opening_balance_business_id_opened_on_id_idx ON opening_balance (business_id, opened_on, id);

CREATE INDEX opening_balance_business_id_updated_at_idx ON opening_balance (business_id, updated_at);

GRANT SELECT, INSERT, UPDATE ON opening_balance TO accounting_server;

ALTER TABLE opening_balance ENABLE ROW LEVEL SECURITY;

CREATE POLICY one_business ON opening_balance
  USING (business_id = nullif(current_setting('app.business_id', true), '')::uuid);

SELECT audit_table('opening_balance', 'opening_balance');
