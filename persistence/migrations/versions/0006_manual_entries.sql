-- Entries that are written by hand: what waits to be posted, and what is rejected.

CREATE TABLE journal_draft (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  entry_date DATE NOT NULL,
  reference TEXT,
  description TEXT NOT NULL,
  currency TEXT NOT NULL,
  total BIGINT NOT NULL,
  created_by TEXT NOT NULL,
  status TEXT NOT NULL,
  lines JSONB NOT NULL,
  listed_number TEXT GENERATED ALWAYS AS ('') STORED,
  CONSTRAINT journal_draft_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT journal_draft_total_positive_check CHECK (total > 0),
  CONSTRAINT journal_draft_created_by_known_check CHECK (created_by IN ('ai', 'manual', 'import')),
  CONSTRAINT journal_draft_status_known_check CHECK (status IN ('draft', 'rejected')),
  CONSTRAINT journal_draft_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX journal_draft_business_id_entry_date_id_idx ON journal_draft (business_id, entry_date, id);

CREATE INDEX journal_draft_business_id_created_at_id_idx ON journal_draft (business_id, created_at, id);

CREATE INDEX journal_draft_business_id_listed_number_id_idx ON journal_draft (business_id, listed_number, id);

-- A draft is one resource with the entry that it becomes, so that one goes on counting its versions.
ALTER TABLE journal_entry ADD COLUMN version BIGINT NOT NULL DEFAULT 1;
ALTER TABLE journal_entry ALTER COLUMN version DROP DEFAULT;

CREATE INDEX journal_entry_business_id_created_at_id_idx ON journal_entry (business_id, created_at, id);

-- A draft leaves when it is posted.
GRANT SELECT, INSERT, UPDATE, DELETE ON journal_draft TO accounting_server;

ALTER TABLE journal_draft ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON journal_draft USING (
  business_id = (SELECT nullif(current_setting('app.business_id', true), '')::uuid)
);
