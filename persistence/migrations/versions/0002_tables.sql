-- What refunds give back of an invoice, by account; and what they hold of a payment that has not
-- settled anything.
ALTER TABLE invoice ADD COLUMN returned JSONB NOT NULL DEFAULT '[]';
ALTER TABLE invoice ALTER COLUMN returned DROP DEFAULT;

ALTER TABLE invoice_payment ADD COLUMN refunded BIGINT NOT NULL DEFAULT 0;
ALTER TABLE invoice_payment ALTER COLUMN refunded DROP DEFAULT;
ALTER TABLE invoice_payment
  DROP CONSTRAINT invoice_payment_within_total_check,
  ADD CONSTRAINT invoice_payment_within_total_check CHECK (least(applied, refunded) >= 0 AND applied + refunded <= allocated AND allocated <= total);
-- The day of the document an allocation is for, as it was when the allocation was made: a document
-- that is free again may be dated anew, and what was posted before does not move with it.
ALTER TABLE invoice_allocation ADD COLUMN document_date DATE;
UPDATE invoice_allocation a SET document_date = (i.opened_at AT TIME ZONE 'UTC')::date
FROM invoice i WHERE i.business_id = a.business_id AND i.id = a.document_id;
ALTER TABLE invoice_allocation ALTER COLUMN document_date SET NOT NULL;

CREATE TABLE write_off (
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
  memo TEXT,
  tags JSONB NOT NULL,
  CONSTRAINT write_off_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT write_off_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT write_off_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES invoice (business_id, id),
  CONSTRAINT write_off_business_id_account_id_fkey FOREIGN KEY(business_id, account_id) REFERENCES account (business_id, id),
  CONSTRAINT write_off_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT write_off_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX write_off_business_id_document_id_idx ON write_off (business_id, document_id);

CREATE TABLE customer_credit (
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
  opened_at TIMESTAMP WITH TIME ZONE,
  voided_at TIMESTAMP WITH TIME ZONE,
  source_document_id UUID,
  lines JSONB NOT NULL,
  tax_account_id UUID NOT NULL,
  tax_total BIGINT NOT NULL,
  total_amount BIGINT NOT NULL,
  applied BIGINT NOT NULL,
  settled JSONB NOT NULL,
  listed_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(opened_at, '-infinity')) STORED,
  memo TEXT,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  CONSTRAINT customer_credit_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT customer_credit_state_known_check CHECK (state IN ('draft', 'open', 'void')),
  CONSTRAINT customer_credit_opened_check CHECK (state <> 'open' OR opened_at IS NOT NULL),
  CONSTRAINT customer_credit_numbered_check CHECK (state = 'draft' OR number IS NOT NULL),
  CONSTRAINT customer_credit_amounts_positive_check CHECK (total_amount >= 1 AND tax_total >= 0),
  CONSTRAINT customer_credit_within_total_check CHECK (0 <= applied AND applied <= total_amount),
  CONSTRAINT customer_credit_applied_while_open_check CHECK (applied = 0 OR state = 'open'),
  CONSTRAINT customer_credit_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES customer (business_id, id),
  CONSTRAINT customer_credit_business_id_source_document_id_fkey FOREIGN KEY(business_id, source_document_id) REFERENCES invoice (business_id, id),
  CONSTRAINT customer_credit_business_id_tax_account_id_fkey FOREIGN KEY(business_id, tax_account_id) REFERENCES account (business_id, id),
  CONSTRAINT customer_credit_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT customer_credit_business_id_number_key UNIQUE (business_id, number),
  CONSTRAINT customer_credit_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX customer_credit_business_id_created_at_id_idx ON customer_credit (business_id, created_at, id);

CREATE INDEX customer_credit_business_id_listed_at_id_idx ON customer_credit (business_id, listed_at, id);

CREATE INDEX customer_credit_business_id_party_id_idx ON customer_credit (business_id, party_id);

CREATE INDEX customer_credit_business_id_source_document_id_idx ON customer_credit (business_id, source_document_id);

CREATE TABLE customer_credit_allocation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  credit_id UUID NOT NULL,
  document_id UUID NOT NULL,
  document_date DATE NOT NULL,
  amount BIGINT NOT NULL,
  start_on DATE,
  end_on DATE,
  split JSONB NOT NULL,
  own_split JSONB NOT NULL,
  CONSTRAINT customer_credit_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT customer_credit_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT customer_credit_allocation_business_id_credit_id_fkey FOREIGN KEY(business_id, credit_id) REFERENCES customer_credit (business_id, id),
  CONSTRAINT customer_credit_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES invoice (business_id, id),
  CONSTRAINT customer_credit_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX customer_credit_allocation_business_id_credit_id_idx ON customer_credit_allocation (business_id, credit_id);

CREATE INDEX customer_credit_allocation_business_id_document_id_idx ON customer_credit_allocation (business_id, document_id);

CREATE UNIQUE INDEX customer_credit_allocation_live_key ON customer_credit_allocation (business_id, credit_id, document_id) WHERE end_on IS NULL;

CREATE TABLE invoice_refund (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  party_id UUID NOT NULL,
  external_id TEXT,
  amount BIGINT NOT NULL,
  paid BIGINT NOT NULL,
  currency TEXT NOT NULL,
  agreed_on DATE NOT NULL,
  completed_at TIMESTAMP WITH TIME ZONE,
  cancelled_at TIMESTAMP WITH TIME ZONE,
  method TEXT NOT NULL,
  processor TEXT,
  fee BIGINT NOT NULL,
  settled JSONB NOT NULL,
  memo TEXT,
  reference_number TEXT,
  metadata JSONB,
  CONSTRAINT invoice_refund_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_refund_amounts_positive_check CHECK (amount >= 1 AND fee >= 0),
  CONSTRAINT invoice_refund_within_amount_check CHECK (0 <= paid AND paid <= amount),
  CONSTRAINT invoice_refund_cancelled_unpaid_check CHECK (paid = 0 OR cancelled_at IS NULL),
  CONSTRAINT invoice_refund_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES customer (business_id, id),
  CONSTRAINT invoice_refund_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT invoice_refund_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_refund_business_id_created_at_id_idx ON invoice_refund (business_id, created_at, id);

CREATE INDEX invoice_refund_business_id_party_id_idx ON invoice_refund (business_id, party_id);

CREATE TABLE invoice_refund_allocation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  refund_id UUID NOT NULL,
  document_id UUID,
  payment_id UUID,
  amount BIGINT NOT NULL,
  split JSONB NOT NULL,
  start_on DATE,
  end_on DATE,
  CONSTRAINT invoice_refund_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_refund_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT invoice_refund_allocation_one_target_check CHECK (num_nonnulls(document_id, payment_id) = 1),
  CONSTRAINT invoice_refund_allocation_business_id_refund_id_fkey FOREIGN KEY(business_id, refund_id) REFERENCES invoice_refund (business_id, id),
  CONSTRAINT invoice_refund_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES invoice (business_id, id),
  CONSTRAINT invoice_refund_allocation_business_id_payment_id_fkey FOREIGN KEY(business_id, payment_id) REFERENCES invoice_payment (business_id, id),
  CONSTRAINT invoice_refund_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_refund_allocation_business_id_document_id_idx ON invoice_refund_allocation (business_id, document_id);

CREATE INDEX invoice_refund_allocation_business_id_payment_id_idx ON invoice_refund_allocation (business_id, payment_id);

CREATE INDEX invoice_refund_allocation_business_id_refund_id_idx ON invoice_refund_allocation (business_id, refund_id);

CREATE TABLE invoice_refund_payment (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  refund_id UUID NOT NULL,
  external_id TEXT,
  amount BIGINT NOT NULL,
  currency TEXT NOT NULL,
  method TEXT NOT NULL,
  processor TEXT,
  fee BIGINT NOT NULL,
  status TEXT NOT NULL,
  completed_at TIMESTAMP WITH TIME ZONE NOT NULL,
  cancelled_at TIMESTAMP WITH TIME ZONE,
  completions JSONB NOT NULL,
  split JSONB NOT NULL,
  memo TEXT,
  transaction_tags JSONB,
  metadata JSONB,
  CONSTRAINT invoice_refund_payment_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT invoice_refund_payment_amounts_positive_check CHECK (amount >= 1 AND fee >= 0),
  CONSTRAINT invoice_refund_payment_cancelled_check CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
  CONSTRAINT invoice_refund_payment_business_id_refund_id_fkey FOREIGN KEY(business_id, refund_id) REFERENCES invoice_refund (business_id, id),
  CONSTRAINT invoice_refund_payment_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT invoice_refund_payment_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX invoice_refund_payment_business_id_refund_id_created_at_id_idx ON invoice_refund_payment (business_id, refund_id, created_at, id);
