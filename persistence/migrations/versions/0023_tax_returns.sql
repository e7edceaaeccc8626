-- Tax returns. What refers to another table comes once this one is spread, where tables are.
CREATE TABLE tax_return (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  start_date DATE NOT NULL,
  end_date DATE NOT NULL,
  scheme TEXT NOT NULL,
  status TEXT NOT NULL,
  filed_at TIMESTAMP WITH TIME ZONE,
  reference TEXT,
  reason TEXT,
  supersedes_id UUID,
  slices JSONB NOT NULL,
  figures JSONB,
  CONSTRAINT tax_return_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT tax_return_scheme_known_check CHECK (scheme IN ('accrual', 'cash')),
  CONSTRAINT tax_return_status_known_check CHECK (status IN ('draft', 'filed', 'superseded')),
  CONSTRAINT tax_return_days_in_order_check CHECK (start_date <= end_date),
  CONSTRAINT tax_return_superseding_reasoned_check CHECK (
    num_nulls(reason, supersedes_id) IN (0, 2)
  ),
  CONSTRAINT tax_return_filed_whole_check CHECK (
    num_nulls(filed_at, figures) = CASE WHEN status = 'draft' THEN 2 ELSE 0 END
  ),
  CONSTRAINT tax_return_business_id_supersedes_id_key UNIQUE (business_id, supersedes_id)
);

CREATE INDEX tax_return_business_id_start_date_id_idx ON tax_return (business_id, start_date, id);
CREATE INDEX tax_return_business_id_created_at_id_idx ON tax_return (business_id, created_at, id);

-- A draft may go again; what was filed is kept by the rules, and the trail tells of both.
GRANT SELECT, INSERT, UPDATE, DELETE ON tax_return TO accounting_server;
ALTER TABLE tax_return ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON tax_return USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
SELECT audit_table('tax_return', 'tax_return');
