-- Tax codes. What refers to another table comes once this one is spread, where tables are.
CREATE TABLE tax_code (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  code TEXT NOT NULL,
  name TEXT NOT NULL,
  direction TEXT NOT NULL,
  treatment TEXT NOT NULL,
  rates JSONB NOT NULL,
  tax_account_id UUID NOT NULL,
  boxes JSONB NOT NULL,
  is_default BOOLEAN NOT NULL,
  archived_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT tax_code_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT tax_code_direction_known_check CHECK (direction IN ('sales', 'purchases')),
  CONSTRAINT tax_code_treatment_known_check CHECK (treatment IN (
    'standard', 'reduced', 'zero', 'exempt', 'out_of_scope', 'reverse_charge', 'acquisition',
    'import_postponed', 'withholding'
  )),
  CONSTRAINT tax_code_default_charged_check CHECK (
    NOT is_default OR archived_at IS NULL AND treatment IN ('standard', 'reduced')
  ),
  CONSTRAINT tax_code_business_id_code_key UNIQUE (business_id, code)
);

CREATE INDEX tax_code_business_id_created_at_id_idx ON tax_code (business_id, created_at, id);

GRANT SELECT, INSERT, UPDATE ON tax_code TO accounting_server;
ALTER TABLE tax_code ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON tax_code USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
SELECT audit_table('tax_code', 'tax_code');
