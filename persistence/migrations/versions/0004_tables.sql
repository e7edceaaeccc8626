-- What invoices share with bills: the day in the books, and a number and terms of the other side.
ALTER TABLE invoice ADD COLUMN opened_on DATE, ADD COLUMN party_number TEXT, ADD COLUMN terms TEXT;
UPDATE invoice SET opened_on = (opened_at AT TIME ZONE 'UTC')::date WHERE opened_at IS NOT NULL;
ALTER TABLE invoice
  DROP CONSTRAINT invoice_opened_check,
  ADD CONSTRAINT invoice_opened_check CHECK (state <> 'open' OR opened_at IS NOT NULL AND opened_on IS NOT NULL);
CREATE UNIQUE INDEX invoice_party_number_key ON invoice (business_id, party_id, party_number) WHERE state <> 'void';

ALTER TABLE invoice_payment ADD COLUMN check_number TEXT;
ALTER TABLE invoice_allocation ADD COLUMN description TEXT;
ALTER TABLE customer_credit_allocation ADD COLUMN description TEXT;

ALTER TABLE stored_document
  DROP CONSTRAINT stored_document_linked_type_known_check,
  ADD CONSTRAINT stored_document_linked_type_known_check CHECK (linked_type IN ('customer', 'invoice', 'invoice_refund', 'customer_credit', 'vendor', 'bill', 'vendor_credit', 'vendor_refund'));
ALTER TABLE customer_credit ADD COLUMN refund_id UUID;

-- A refund from a vendor may be allocated anew, and what pays it is then split anew.
ALTER TABLE invoice_refund_allocation
  ADD COLUMN released JSONB NOT NULL DEFAULT '[]', ADD COLUMN description TEXT, ADD COLUMN metadata JSONB;
ALTER TABLE invoice_refund_allocation ALTER COLUMN released DROP DEFAULT;
ALTER TABLE invoice_refund_payment ADD COLUMN payment_date DATE, ALTER COLUMN completed_at DROP NOT NULL;
ALTER TABLE invoice_refund_payment RENAME COLUMN split TO splits;
UPDATE invoice_refund_payment SET splits = jsonb_build_array(splits);

CREATE TABLE vendor (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  external_id TEXT,
  individual_name TEXT,
  company_name TEXT,
  email TEXT,
  mobile_phone TEXT,
  office_phone TEXT,
  country TEXT,
  address_string TEXT,
  vat_number TEXT,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  payment_terms_days INTEGER,
  archived_at TIMESTAMP WITH TIME ZONE,
  memo TEXT,
  standing TEXT NOT NULL,
  CONSTRAINT vendor_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_standing_known_check CHECK (standing IN ('ACTIVE', 'INACTIVE', 'BLOCKED')),
  CONSTRAINT vendor_named_check CHECK (individual_name IS NOT NULL OR company_name IS NOT NULL),
  CONSTRAINT vendor_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT vendor_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_business_id_created_at_id_idx ON vendor (business_id, created_at, id);

CREATE TABLE bill (
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
  opened_on DATE,
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
  returned JSONB NOT NULL,
  outstanding BIGINT GENERATED ALWAYS AS (CASE WHEN state = 'open' THEN total_amount - paid - credited - written_off ELSE 0 END) STORED,
  listed_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(opened_at, '-infinity')) STORED,
  party_number TEXT,
  terms TEXT,
  memo TEXT,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  CONSTRAINT bill_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bill_state_known_check CHECK (state IN ('draft', 'open', 'void')),
  CONSTRAINT bill_opened_check CHECK (state <> 'open' OR opened_at IS NOT NULL AND opened_on IS NOT NULL),
  CONSTRAINT bill_numbered_check CHECK (state = 'draft' OR number IS NOT NULL),
  CONSTRAINT bill_amounts_positive_check CHECK (least(total_amount, paid, reserved, credited, written_off, refunded) >= 0),
  CONSTRAINT bill_not_over_allocated_check CHECK (paid + reserved + credited + written_off <= total_amount),
  CONSTRAINT bill_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES vendor (business_id, id),
  CONSTRAINT bill_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT bill_business_id_number_key UNIQUE (business_id, number),
  CONSTRAINT bill_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bill_business_id_created_at_id_idx ON bill (business_id, created_at, id);

CREATE INDEX bill_business_id_listed_at_id_idx ON bill (business_id, listed_at, id);

CREATE INDEX bill_business_id_party_id_outstanding_idx ON bill (business_id, party_id, outstanding);

CREATE UNIQUE INDEX bill_party_number_key ON bill (business_id, party_id, party_number) WHERE state <> 'void';

CREATE TABLE bill_payment (
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
  refunded BIGINT NOT NULL,
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
  check_number TEXT,
  "references" JSONB NOT NULL,
  transaction_tags JSONB NOT NULL,
  metadata JSONB,
  idempotency_key TEXT,
  completions JSONB NOT NULL,
  CONSTRAINT bill_payment_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bill_payment_amounts_positive_check CHECK (total >= 1 AND fee >= 0),
  CONSTRAINT bill_payment_within_total_check CHECK (least(applied, refunded) >= 0 AND applied + refunded <= allocated AND allocated <= total),
  CONSTRAINT bill_payment_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES vendor (business_id, id),
  CONSTRAINT bill_payment_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT bill_payment_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bill_payment_business_id_created_at_id_idx ON bill_payment (business_id, created_at, id);

CREATE INDEX bill_payment_business_id_party_id_idx ON bill_payment (business_id, party_id);

CREATE INDEX bill_payment_business_id_payment_date_id_idx ON bill_payment (business_id, payment_date, id);

CREATE TABLE bill_allocation (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  payment_id UUID NOT NULL,
  document_id UUID NOT NULL,
  document_date DATE NOT NULL,
  amount BIGINT NOT NULL,
  start_on DATE,
  end_on DATE,
  split JSONB NOT NULL,
  description TEXT,
  CONSTRAINT bill_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bill_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT bill_allocation_business_id_payment_id_fkey FOREIGN KEY(business_id, payment_id) REFERENCES bill_payment (business_id, id),
  CONSTRAINT bill_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES bill (business_id, id),
  CONSTRAINT bill_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bill_allocation_business_id_document_id_idx ON bill_allocation (business_id, document_id);

CREATE INDEX bill_allocation_business_id_payment_id_idx ON bill_allocation (business_id, payment_id);

CREATE UNIQUE INDEX bill_allocation_live_key ON bill_allocation (business_id, payment_id, document_id) WHERE end_on IS NULL;

CREATE TABLE vendor_credit (
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
  refund_id UUID,
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
  CONSTRAINT vendor_credit_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_credit_state_known_check CHECK (state IN ('draft', 'open', 'void')),
  CONSTRAINT vendor_credit_opened_check CHECK (state <> 'open' OR opened_at IS NOT NULL),
  CONSTRAINT vendor_credit_numbered_check CHECK (state = 'draft' OR number IS NOT NULL),
  CONSTRAINT vendor_credit_amounts_positive_check CHECK (total_amount >= 1 AND tax_total >= 0),
  CONSTRAINT vendor_credit_within_total_check CHECK (0 <= applied AND applied <= total_amount),
  CONSTRAINT vendor_credit_applied_while_open_check CHECK (applied = 0 OR state = 'open'),
  CONSTRAINT vendor_credit_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES vendor (business_id, id),
  CONSTRAINT vendor_credit_business_id_source_document_id_fkey FOREIGN KEY(business_id, source_document_id) REFERENCES bill (business_id, id),
  CONSTRAINT vendor_credit_business_id_tax_account_id_fkey FOREIGN KEY(business_id, tax_account_id) REFERENCES account (business_id, id),
  CONSTRAINT vendor_credit_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT vendor_credit_business_id_number_key UNIQUE (business_id, number),
  CONSTRAINT vendor_credit_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_credit_business_id_created_at_id_idx ON vendor_credit (business_id, created_at, id);

CREATE INDEX vendor_credit_business_id_listed_at_id_idx ON vendor_credit (business_id, listed_at, id);

CREATE INDEX vendor_credit_business_id_party_id_idx ON vendor_credit (business_id, party_id);

CREATE INDEX vendor_credit_business_id_source_document_id_idx ON vendor_credit (business_id, source_document_id);

CREATE TABLE vendor_credit_allocation (
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
  description TEXT,
  own_split JSONB NOT NULL,
  CONSTRAINT vendor_credit_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_credit_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT vendor_credit_allocation_business_id_credit_id_fkey FOREIGN KEY(business_id, credit_id) REFERENCES vendor_credit (business_id, id),
  CONSTRAINT vendor_credit_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES bill (business_id, id),
  CONSTRAINT vendor_credit_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_credit_allocation_business_id_credit_id_idx ON vendor_credit_allocation (business_id, credit_id);

CREATE INDEX vendor_credit_allocation_business_id_document_id_idx ON vendor_credit_allocation (business_id, document_id);

CREATE UNIQUE INDEX vendor_credit_allocation_live_key ON vendor_credit_allocation (business_id, credit_id, document_id) WHERE end_on IS NULL;

CREATE TABLE vendor_refund (
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
  settled JSONB NOT NULL,
  memo TEXT,
  reference_number TEXT,
  metadata JSONB,
  refund_type TEXT NOT NULL,
  expected_completion_date DATE,
  description TEXT,
  reason TEXT,
  CONSTRAINT vendor_refund_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_refund_amounts_positive_check CHECK (amount >= 1),
  CONSTRAINT vendor_refund_within_amount_check CHECK (0 <= paid AND paid <= amount),
  CONSTRAINT vendor_refund_cancelled_unpaid_check CHECK (paid = 0 OR cancelled_at IS NULL),
  CONSTRAINT vendor_refund_business_id_party_id_fkey FOREIGN KEY(business_id, party_id) REFERENCES vendor (business_id, id),
  CONSTRAINT vendor_refund_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT vendor_refund_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_refund_business_id_created_at_id_idx ON vendor_refund (business_id, created_at, id);

CREATE INDEX vendor_refund_business_id_party_id_idx ON vendor_refund (business_id, party_id);

CREATE TABLE vendor_refund_allocation (
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
  released JSONB NOT NULL,
  description TEXT,
  metadata JSONB,
  credit_id UUID,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  CONSTRAINT vendor_refund_allocation_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_refund_allocation_one_target_check CHECK (num_nonnulls(document_id, payment_id, credit_id) = 1),
  CONSTRAINT vendor_refund_allocation_business_id_credit_id_fkey FOREIGN KEY(business_id, credit_id) REFERENCES vendor_credit (business_id, id),
  CONSTRAINT vendor_refund_allocation_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT vendor_refund_allocation_business_id_refund_id_fkey FOREIGN KEY(business_id, refund_id) REFERENCES vendor_refund (business_id, id),
  CONSTRAINT vendor_refund_allocation_business_id_document_id_fkey FOREIGN KEY(business_id, document_id) REFERENCES bill (business_id, id),
  CONSTRAINT vendor_refund_allocation_business_id_payment_id_fkey FOREIGN KEY(business_id, payment_id) REFERENCES bill_payment (business_id, id),
  CONSTRAINT vendor_refund_allocation_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_refund_allocation_business_id_credit_id_idx ON vendor_refund_allocation (business_id, credit_id);

CREATE INDEX vendor_refund_allocation_business_id_document_id_idx ON vendor_refund_allocation (business_id, document_id);

CREATE INDEX vendor_refund_allocation_business_id_payment_id_idx ON vendor_refund_allocation (business_id, payment_id);

CREATE INDEX vendor_refund_allocation_business_id_refund_id_idx ON vendor_refund_allocation (business_id, refund_id);

CREATE TABLE vendor_refund_payment (
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
  payment_date DATE,
  completed_at TIMESTAMP WITH TIME ZONE,
  cancelled_at TIMESTAMP WITH TIME ZONE,
  completions JSONB NOT NULL,
  splits JSONB NOT NULL,
  memo TEXT,
  transaction_tags JSONB,
  metadata JSONB,
  payment_reference TEXT,
  processor_payment_id TEXT,
  submitted_at TIMESTAMP WITH TIME ZONE,
  failed_at TIMESTAMP WITH TIME ZONE,
  failure_reason TEXT,
  description TEXT,
  CONSTRAINT vendor_refund_payment_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT vendor_refund_payment_amounts_positive_check CHECK (0 <= fee AND fee <= amount),
  CONSTRAINT vendor_refund_payment_cancelled_check CHECK ((status = 'cancelled') = (cancelled_at IS NOT NULL)),
  CONSTRAINT vendor_refund_payment_business_id_refund_id_fkey FOREIGN KEY(business_id, refund_id) REFERENCES vendor_refund (business_id, id),
  CONSTRAINT vendor_refund_payment_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT vendor_refund_payment_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX vendor_refund_payment_business_id_created_at_id_idx ON vendor_refund_payment (business_id, created_at, id);

CREATE INDEX vendor_refund_payment_business_id_refund_id_created_at_id_idx ON vendor_refund_payment (business_id, refund_id, created_at, id);
