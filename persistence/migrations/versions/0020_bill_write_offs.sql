-- What is given up of bills. What refers to another table comes once this one is spread.
CREATE TABLE bill_write_off (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  document_id UUID NOT NULL,
  external_id TEXT,
  amount BIGINT NOT NULL,
  account_id UUID NOT NULL,
  write_off_at TIMESTAMP WITH TIME ZONE NOT NULL,
  reversed_at TIMESTAMP WITH TIME ZONE,
  split JSONB NOT NULL,
  tax_relief BOOLEAN NOT NULL,
  relieved JSONB NOT NULL,
  lines JSONB NOT NULL,
  memo TEXT,
  tags JSONB NOT NULL,
  CONSTRAINT bill_write_off_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bill_write_off_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT bill_write_off_business_id_external_id_key UNIQUE (business_id, external_id)
);
CREATE INDEX bill_write_off_business_id_document_id_idx ON bill_write_off (business_id, document_id);
GRANT SELECT, INSERT, UPDATE ON bill_write_off TO accounting_server;
ALTER TABLE bill_write_off ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON bill_write_off
  USING (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
SELECT audit_table('bill_write_off', 'bill_write_off');
