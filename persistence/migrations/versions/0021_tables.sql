-- What refers to another table comes once these are spread, where tables are.
CREATE TABLE bank_rule (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  name TEXT NOT NULL,
  priority INTEGER NOT NULL,
  text TEXT,
  direction TEXT,
  min_amount BIGINT,
  max_amount BIGINT,
  bank_account_id UUID,
  account_id UUID NOT NULL,
  tax_code_id UUID,
  customer_id UUID,
  vendor_id UUID,
  memo TEXT,
  apply TEXT NOT NULL,
  deleted_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT bank_rule_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_rule_direction_known_check CHECK (direction IN ('credit', 'debit')),
  CONSTRAINT bank_rule_apply_known_check CHECK (apply IN ('suggest', 'automatic')),
  CONSTRAINT bank_rule_conditioned_check CHECK (num_nonnulls(text, direction, min_amount, max_amount, bank_account_id) > 0),
  CONSTRAINT bank_rule_one_party_check CHECK (num_nonnulls(customer_id, vendor_id) <= 1)
);

CREATE TABLE bank_transfer (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  amount BIGINT NOT NULL,
  from_account_id UUID NOT NULL,
  to_account_id UUID NOT NULL,
  out_transaction_id UUID,
  in_transaction_id UUID,
  moved_on DATE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT bank_transfer_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_transfer_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT bank_transfer_two_accounts_check CHECK (from_account_id <> to_account_id),
  CONSTRAINT bank_transfer_begun_check CHECK (num_nonnulls(out_transaction_id, in_transaction_id) > 0)
);

CREATE TABLE bank_reconciliation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  bank_account_id UUID NOT NULL,
  account_id UUID NOT NULL,
  statement_date DATE NOT NULL,
  closing_balance BIGINT NOT NULL,
  status TEXT NOT NULL,
  closed_at TIMESTAMP WITH TIME ZONE,
  reopened_at TIMESTAMP WITH TIME ZONE,
  CONSTRAINT bank_reconciliation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_reconciliation_status_known_check CHECK (status IN ('open', 'closed')),
  CONSTRAINT bank_reconciliation_closed_whole_check CHECK ((status = 'closed') = (closed_at IS NOT NULL)),
  CONSTRAINT bank_reconciliation_day_key UNIQUE (business_id, bank_account_id, statement_date)
);

CREATE INDEX bank_rule_business_id_priority_id_idx ON bank_rule (business_id, priority, id);
CREATE INDEX bank_rule_business_id_created_at_id_idx ON bank_rule (business_id, created_at, id);
CREATE INDEX bank_transfer_business_id_out_transaction_id_idx ON bank_transfer (business_id, out_transaction_id);
CREATE INDEX bank_transfer_business_id_in_transaction_id_idx ON bank_transfer (business_id, in_transaction_id);
CREATE INDEX bank_transfer_coming_idx ON bank_transfer (business_id, to_account_id) WHERE in_transaction_id IS NULL AND ended_at IS NULL;
CREATE INDEX bank_transfer_leaving_idx ON bank_transfer (business_id, from_account_id) WHERE out_transaction_id IS NULL AND ended_at IS NULL;
CREATE INDEX bank_reconciliation_listed_idx ON bank_reconciliation (business_id, bank_account_id, statement_date, id);
CREATE INDEX bank_reconciliation_made_idx ON bank_reconciliation (business_id, bank_account_id, created_at, id);
CREATE INDEX bank_reconciliation_closed_idx ON bank_reconciliation (business_id, account_id, statement_date) WHERE status = 'closed';
