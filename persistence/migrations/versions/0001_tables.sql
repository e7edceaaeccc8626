-- Every table of the first release, as `persistence/tables.py` describes them.

CREATE TABLE partner (
  id UUID NOT NULL,
  name TEXT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  disabled_at TIMESTAMP WITH TIME ZONE,
  tokens_valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT partner_pkey PRIMARY KEY (id)
);

CREATE TABLE api_key (
  id UUID NOT NULL,
  partner_id UUID NOT NULL,
  key_id TEXT NOT NULL,
  digest BYTEA NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  revoked_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT api_key_pkey PRIMARY KEY (id),
  CONSTRAINT api_key_partner_id_key_id_key UNIQUE (partner_id, key_id),
  CONSTRAINT api_key_partner_id_fkey FOREIGN KEY(partner_id) REFERENCES partner (id)
);

CREATE TABLE business (
  id UUID NOT NULL,
  partner_id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  external_id TEXT NOT NULL,
  legal_name TEXT NOT NULL,
  name TEXT NOT NULL,
  entity_type TEXT NOT NULL,
  email TEXT NOT NULL,
  phone_number TEXT,
  tin TEXT,
  vat_number TEXT,
  company_number TEXT,
  country TEXT,
  province TEXT,
  eu_nace_industry_code TEXT,
  base_currency TEXT NOT NULL,
  accounting_method TEXT NOT NULL,
  fiscal_year_end DATE NOT NULL,
  coa_language TEXT NOT NULL,
  lock_date DATE,
  activation_at TIMESTAMP WITH TIME ZONE NOT NULL,
  archived_at TIMESTAMP WITH TIME ZONE,
  tokens_valid_from TIMESTAMP WITH TIME ZONE NOT NULL,
  metadata JSONB,
  CONSTRAINT business_pkey PRIMARY KEY (id),
  CONSTRAINT business_accounting_method_known_check CHECK (accounting_method IN ('cash', 'accrual')),
  CONSTRAINT business_partner_id_external_id_key UNIQUE (partner_id, external_id),
  CONSTRAINT business_partner_id_fkey FOREIGN KEY(partner_id) REFERENCES partner (id)
);

CREATE INDEX business_partner_id_created_at_id_idx ON business (partner_id, created_at, id);

CREATE TABLE partner_reply (
  partner_id UUID NOT NULL,
  key TEXT NOT NULL,
  fingerprint BYTEA NOT NULL,
  status INTEGER NOT NULL,
  headers JSONB NOT NULL,
  body BYTEA NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT partner_reply_pkey PRIMARY KEY (partner_id, key),
  CONSTRAINT partner_reply_partner_id_fkey FOREIGN KEY(partner_id) REFERENCES partner (id)
);

CREATE INDEX partner_reply_partner_id_created_at_idx ON partner_reply (partner_id, created_at);

CREATE TABLE account (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  code TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT,
  account_type TEXT NOT NULL,
  account_subtype TEXT NOT NULL,
  balance_behavior TEXT,
  parent_id UUID,
  external_id TEXT,
  description TEXT,
  institution_name TEXT,
  iban TEXT,
  sort_code TEXT,
  account_number_mask TEXT,
  archived_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT account_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT account_account_type_known_check CHECK (account_type IN ('asset', 'liability', 'equity', 'revenue', 'expense')),
  CONSTRAINT account_balance_behavior_known_check CHECK (balance_behavior IN ('debit_positive', 'credit_positive')),
  CONSTRAINT account_business_id_parent_id_fkey FOREIGN KEY(business_id, parent_id) REFERENCES account (business_id, id),
  CONSTRAINT account_business_id_code_key UNIQUE (business_id, code),
  CONSTRAINT account_business_id_role_key UNIQUE (business_id, role),
  CONSTRAINT account_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT account_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX account_business_id_parent_id_idx ON account (business_id, parent_id);

CREATE TABLE customer (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  external_id TEXT,
  reference_number TEXT,
  individual_name TEXT,
  company_name TEXT,
  email TEXT,
  mobile_phone TEXT,
  office_phone TEXT,
  address_line1 TEXT,
  address_line2 TEXT,
  city TEXT,
  state_county TEXT,
  postal_code TEXT,
  country TEXT,
  address_string TEXT,
  vat_number TEXT,
  tax_exempt BOOLEAN NOT NULL,
  transaction_tags JSONB NOT NULL,
  notes TEXT,
  metadata JSONB,
  payment_terms_days INTEGER,
  credit_limit_cents BIGINT,
  archived_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT customer_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT customer_named_check CHECK (individual_name IS NOT NULL OR company_name IS NOT NULL),
  CONSTRAINT customer_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT customer_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX customer_business_id_created_at_id_idx ON customer (business_id, created_at, id);

CREATE TABLE journal_entry (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  sequence_number TEXT NOT NULL,
  entry_date DATE NOT NULL,
  posted_at TIMESTAMP WITH TIME ZONE NOT NULL,
  reference TEXT,
  description TEXT NOT NULL,
  currency TEXT NOT NULL,
  total BIGINT NOT NULL,
  stream TEXT NOT NULL,
  created_by TEXT NOT NULL,
  source_type TEXT NOT NULL,
  source_id UUID NOT NULL,
  reversal_of_id UUID,
  CONSTRAINT journal_entry_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT journal_entry_total_positive_check CHECK (total > 0),
  CONSTRAINT journal_entry_created_by_known_check CHECK (created_by IN ('ai', 'manual', 'system', 'import')),
  CONSTRAINT journal_entry_business_id_reversal_of_id_fkey FOREIGN KEY(business_id, reversal_of_id) REFERENCES journal_entry (business_id, id),
  CONSTRAINT journal_entry_business_id_sequence_number_key UNIQUE (business_id, sequence_number),
  CONSTRAINT journal_entry_business_id_reversal_of_id_key UNIQUE (business_id, reversal_of_id),
  CONSTRAINT journal_entry_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX journal_entry_business_id_entry_date_id_idx ON journal_entry (business_id, entry_date, id);

CREATE INDEX journal_entry_business_id_source_id_idx ON journal_entry (business_id, source_id);

CREATE TABLE number_series (
  business_id UUID NOT NULL,
  series TEXT NOT NULL,
  last BIGINT NOT NULL,
  CONSTRAINT number_series_pkey PRIMARY KEY (business_id, series),
  CONSTRAINT number_series_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
)
 WITH (fillfactor = 50);

CREATE TABLE reply (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  key TEXT NOT NULL,
  fingerprint BYTEA NOT NULL,
  status INTEGER NOT NULL,
  headers JSONB NOT NULL,
  body BYTEA NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT reply_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT reply_business_id_key_key UNIQUE (business_id, key),
  CONSTRAINT reply_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX reply_business_id_created_at_idx ON reply (business_id, created_at);

CREATE TABLE invoice (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  party_id UUID NOT NULL,
  external_id TEXT,
  number TEXT,
  state TEXT NOT NULL,
  currency TEXT NOT NULL,
  issue_date DATE,
  opened_at TIMESTAMP WITH TIME ZONE,
  due_at TIMESTAMP WITH TIME ZONE,
  voided_at TIMESTAMP WITH TIME ZONE,
  paid_on DATE,
  imported_at TIMESTAMP WITH TIME ZONE,
  lines JSONB NOT NULL,
  additional_discount BIGINT NOT NULL,
  subtotal BIGINT NOT NULL,
  discount_total BIGINT NOT NULL,
  tax_total BIGINT NOT NULL,
  total_amount BIGINT NOT NULL,
  paid BIGINT NOT NULL,
  reserved BIGINT NOT NULL,
  credited BIGINT NOT NULL,
  written_off BIGINT NOT NULL,
  refunded BIGINT NOT NULL,
  settled JSONB NOT NULL,
  outstanding BIGINT GENERATED ALWAYS AS (CASE WHEN state = 'open' THEN total_amount - paid - credited - written_off ELSE 0 END) STORED,
  listed_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(opened_at, '-infinity')) STORED,
  memo TEXT,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  CONSTRAINT invoice_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_state_known_check CHECK (state IN ('draft', 'open', 'void')),
  CONSTRAINT invoice_opened_check CHECK (state <> 'open' OR opened_at IS NOT NULL),
  CONSTRAINT invoice_numbered_check CHECK (state = 'draft' OR number IS NOT NULL),
  CONSTRAINT invoice_amounts_positive_check CHECK (least(total_amount, paid, reserved, credited, written_off, refunded) >= 0),
  CONSTRAINT invoice_not_over_allocated_check CHECK (paid + reserved + credited + written_off <= total_amount),
  CONSTRAINT invoice_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES customer (business_id, id),
  CONSTRAINT invoice_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT invoice_business_id_number_key UNIQUE (business_id, number),
  CONSTRAINT invoice_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_business_id_created_at_id_idx ON invoice (business_id, created_at, id);

CREATE INDEX invoice_business_id_listed_at_id_idx ON invoice (business_id, listed_at, id);

CREATE INDEX invoice_business_id_party_id_outstanding_idx ON invoice (business_id, party_id, outstanding);

CREATE TABLE invoice_payment (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  party_id UUID NOT NULL,
  external_id TEXT,
  total BIGINT NOT NULL,
  allocated BIGINT NOT NULL,
  applied BIGINT NOT NULL,
  currency TEXT NOT NULL,
  payment_date DATE NOT NULL,
  method TEXT NOT NULL,
  processor TEXT,
  fee BIGINT NOT NULL,
  status TEXT NOT NULL,
  note TEXT,
  payment_reference TEXT,
  bank_reference TEXT,
  processor_reference TEXT,
  "references" JSONB NOT NULL,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  idempotency_key TEXT,
  completions JSONB NOT NULL,
  CONSTRAINT invoice_payment_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_payment_amounts_positive_check CHECK (total >= 1 AND fee >= 0),
  CONSTRAINT invoice_payment_within_total_check CHECK (0 <= applied AND applied <= allocated AND allocated <= total),
  CONSTRAINT invoice_payment_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES customer (business_id, id),
  CONSTRAINT invoice_payment_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT invoice_payment_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_payment_business_id_created_at_id_idx ON invoice_payment (business_id, created_at, id);

CREATE INDEX invoice_payment_business_id_party_id_idx ON invoice_payment (business_id, party_id);

CREATE INDEX invoice_payment_business_id_payment_date_id_idx ON invoice_payment (business_id, payment_date, id);

CREATE TABLE journal_line (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  entry_id UUID NOT NULL,
  line_number INTEGER NOT NULL,
  account_id UUID NOT NULL,
  entry_date DATE NOT NULL,
  debit BIGINT NOT NULL,
  credit BIGINT NOT NULL,
  description TEXT,
  settles_id UUID,
  split JSONB NOT NULL,
  CONSTRAINT journal_line_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT journal_line_one_side_only_check CHECK ((debit > 0 AND credit = 0) OR (credit > 0 AND debit = 0)),
  CONSTRAINT journal_line_business_id_entry_id_fkey FOREIGN KEY(business_id, entry_id) REFERENCES journal_entry (business_id, id),
  CONSTRAINT journal_line_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id),
  CONSTRAINT journal_line_business_id_entry_id_line_number_key UNIQUE (business_id, entry_id, line_number),
  CONSTRAINT journal_line_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX journal_line_business_id_account_id_entry_date_idx ON journal_line (business_id, account_id, entry_date) INCLUDE (debit, credit);

CREATE TABLE invoice_allocation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  payment_id UUID NOT NULL,
  document_id UUID NOT NULL,
  amount BIGINT NOT NULL,
  start_on DATE,
  end_on DATE,
  split JSONB NOT NULL,
  CONSTRAINT invoice_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT invoice_allocation_business_id_payment_id_fkey FOREIGN KEY(business_id, payment_id) REFERENCES invoice_payment (business_id, id),
  CONSTRAINT invoice_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES invoice (business_id, id),
  CONSTRAINT invoice_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_allocation_business_id_document_id_idx ON invoice_allocation (business_id, document_id);

CREATE INDEX invoice_allocation_business_id_payment_id_idx ON invoice_allocation (business_id, payment_id);

CREATE UNIQUE INDEX invoice_allocation_live_key ON invoice_allocation (business_id, payment_id, document_id) WHERE end_on IS NULL;
