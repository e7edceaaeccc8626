CREATE TABLE payout (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  external_id TEXT,
  processor TEXT NOT NULL,
  processor_payout_id TEXT,
  paid_out BIGINT NOT NULL,
  fee BIGINT NOT NULL,
  additional_refunds BIGINT NOT NULL,
  currency TEXT NOT NULL,
  status TEXT NOT NULL,
  completed_at TIMESTAMP WITH TIME ZONE,
  imported_at TIMESTAMP WITH TIME ZONE,
  deleted_at TIMESTAMP WITH TIME ZONE,
  reference_number TEXT,
  memo TEXT,
  metadata JSONB,
  gross_payments BIGINT NOT NULL,
  total_refunds BIGINT NOT NULL,
  fee_steps JSONB NOT NULL,
  completions JSONB NOT NULL,
  linked BIGINT NOT NULL,
  money_account_id UUID,
  listed_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(completed_at, '-infinity')) STORED,
  unlinked BIGINT GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'processing', 'paid') AND abs(paid_out) > linked THEN abs(paid_out) - linked END) STORED,
  CONSTRAINT payout_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT payout_status_known_check CHECK (status IN ('pending', 'processing', 'paid', 'failed', 'cancelled')),
  CONSTRAINT payout_amounts_positive_check CHECK (least(fee, additional_refunds, gross_payments, total_refunds) >= 0),
  CONSTRAINT payout_within_paid_out_check CHECK (0 <= linked AND linked <= abs(paid_out)),
  CONSTRAINT payout_linked_whole_check CHECK ((linked > 0) = (money_account_id IS NOT NULL)),
  CONSTRAINT payout_paid_on_a_day_check CHECK (status <> 'paid' OR completed_at IS NOT NULL),
  CONSTRAINT payout_deleted_whole_check CHECK (deleted_at IS NULL OR status = 'cancelled' AND external_id IS NULL),
  CONSTRAINT payout_business_id_money_account_id_fkey FOREIGN KEY(business_id, money_account_id) REFERENCES account (business_id, id),
  CONSTRAINT payout_business_id_external_id_key UNIQUE (business_id, external_id),
  CONSTRAINT payout_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX payout_business_id_created_at_id_idx ON payout (business_id, created_at, id);

CREATE INDEX payout_business_id_listed_at_id_idx ON payout (business_id, listed_at, id);

CREATE INDEX payout_business_id_unlinked_idx ON payout (business_id, unlinked) WHERE unlinked IS NOT NULL;

CREATE TABLE payout_item (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  payout_id UUID NOT NULL,
  payment_id UUID,
  refund_payment_id UUID,
  listed BOOLEAN NOT NULL,
  CONSTRAINT payout_item_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT payout_item_one_kind_check CHECK (num_nonnulls(payment_id, refund_payment_id) = 1),
  CONSTRAINT payout_item_business_id_payout_id_fkey FOREIGN KEY(business_id, payout_id) REFERENCES payout (business_id, id),
  CONSTRAINT payout_item_business_id_payment_id_fkey FOREIGN KEY(business_id, payment_id) REFERENCES invoice_payment (business_id, id),
  CONSTRAINT payout_item_business_id_refund_payment_id_fkey FOREIGN KEY(business_id, refund_payment_id) REFERENCES invoice_refund_payment (business_id, id),
  CONSTRAINT payout_item_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX payout_item_business_id_payment_id_idx ON payout_item (business_id, payment_id);

CREATE INDEX payout_item_business_id_payout_id_idx ON payout_item (business_id, payout_id);

CREATE INDEX payout_item_business_id_refund_payment_id_idx ON payout_item (business_id, refund_payment_id);

CREATE TABLE bank_link (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  transaction_id UUID NOT NULL,
  target_type TEXT NOT NULL,
  target_id UUID NOT NULL,
  amount BIGINT NOT NULL,
  linked_at TIMESTAMP WITH TIME ZONE NOT NULL,
  ended_at TIMESTAMP WITH TIME ZONE,
  memo TEXT,
  CONSTRAINT bank_link_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT bank_link_target_type_known_check CHECK (target_type IN ('invoice_payment', 'invoice_refund_payment', 'bill_payment', 'vendor_refund_payment', 'payout')),
  CONSTRAINT bank_link_amount_positive_check CHECK (amount >= 1),
  CONSTRAINT bank_link_business_id_transaction_id_fkey FOREIGN KEY(business_id, transaction_id) REFERENCES bank_transaction (business_id, id),
  CONSTRAINT bank_link_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX bank_link_business_id_target_id_idx ON bank_link (business_id, target_id);

CREATE INDEX bank_link_business_id_transaction_id_idx ON bank_link (business_id, transaction_id);

ALTER TABLE invoice_payment
  ADD COLUMN linked BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN money_account_id UUID,
  ADD COLUMN payout_id UUID;
ALTER TABLE invoice_payment ALTER COLUMN linked DROP DEFAULT;

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_business_id_money_account_id_fkey FOREIGN KEY(business_id, money_account_id) REFERENCES account (business_id, id);

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_business_id_payout_id_fkey FOREIGN KEY(business_id, payout_id) REFERENCES payout (business_id, id);

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_or_paid_out_check CHECK (linked = 0 OR payout_id IS NULL);

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_positive_check CHECK (linked >= 0);

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_linked_whole_check CHECK ((linked > 0) = (money_account_id IS NOT NULL));

CREATE INDEX invoice_payment_business_id_payout_id_idx ON invoice_payment (business_id, payout_id);

ALTER TABLE invoice_payment ADD COLUMN unlinked BIGINT GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'processing', 'completed') AND payout_id IS NULL AND total - fee > linked THEN total - fee - linked END) STORED;

CREATE INDEX invoice_payment_business_id_unlinked_payment_date_idx ON invoice_payment (business_id, unlinked, payment_date) WHERE unlinked IS NOT NULL;

ALTER TABLE bill_payment
  ADD COLUMN linked BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN money_account_id UUID,
  ADD COLUMN payout_id UUID;
ALTER TABLE bill_payment ALTER COLUMN linked DROP DEFAULT;

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_business_id_money_account_id_fkey FOREIGN KEY(business_id, money_account_id) REFERENCES account (business_id, id);

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_business_id_payout_id_fkey FOREIGN KEY(business_id, payout_id) REFERENCES payout (business_id, id);

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_or_paid_out_check CHECK (linked = 0 OR payout_id IS NULL);

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_positive_check CHECK (linked >= 0);

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_linked_whole_check CHECK ((linked > 0) = (money_account_id IS NOT NULL));

CREATE INDEX bill_payment_business_id_payout_id_idx ON bill_payment (business_id, payout_id);

ALTER TABLE bill_payment ADD COLUMN unlinked BIGINT GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'processing', 'completed') AND payout_id IS NULL AND total + fee > linked THEN total + fee - linked END) STORED;

CREATE INDEX bill_payment_business_id_unlinked_payment_date_idx ON bill_payment (business_id, unlinked, payment_date) WHERE unlinked IS NOT NULL;

ALTER TABLE invoice_refund_payment
  ADD COLUMN linked BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN money_account_id UUID,
  ADD COLUMN payout_id UUID;
ALTER TABLE invoice_refund_payment ALTER COLUMN linked DROP DEFAULT;

ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_business_id_money_account_id_fkey FOREIGN KEY(business_id, money_account_id) REFERENCES account (business_id, id);

ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_business_id_payout_id_fkey FOREIGN KEY(business_id, payout_id) REFERENCES payout (business_id, id);

ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_or_paid_out_check CHECK (linked = 0 OR payout_id IS NULL);

ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_positive_check CHECK (linked >= 0);

ALTER TABLE invoice_refund_payment ADD CONSTRAINT invoice_refund_payment_linked_whole_check CHECK ((linked > 0) = (money_account_id IS NOT NULL));

CREATE INDEX invoice_refund_payment_business_id_payout_id_idx ON invoice_refund_payment (business_id, payout_id);

ALTER TABLE invoice_refund_payment ADD COLUMN unlinked BIGINT GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'processing', 'completed') AND payout_id IS NULL AND amount + fee > linked THEN amount + fee - linked END) STORED;

CREATE INDEX invoice_refund_payment_business_id_unlinked_created_at_idx ON invoice_refund_payment (business_id, unlinked, created_at) WHERE unlinked IS NOT NULL;

ALTER TABLE vendor_refund_payment
  ADD COLUMN linked BIGINT NOT NULL DEFAULT 0,
  ADD COLUMN money_account_id UUID,
  ADD COLUMN payout_id UUID;
ALTER TABLE vendor_refund_payment ALTER COLUMN linked DROP DEFAULT;

ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_business_id_money_account_id_fkey FOREIGN KEY(business_id, money_account_id) REFERENCES account (business_id, id);

ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_business_id_payout_id_fkey FOREIGN KEY(business_id, payout_id) REFERENCES payout (business_id, id);

ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_or_paid_out_check CHECK (linked = 0 OR payout_id IS NULL);

ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_positive_check CHECK (linked >= 0);

ALTER TABLE vendor_refund_payment ADD CONSTRAINT vendor_refund_payment_linked_whole_check CHECK ((linked > 0) = (money_account_id IS NOT NULL));

CREATE INDEX vendor_refund_payment_business_id_payout_id_idx ON vendor_refund_payment (business_id, payout_id);

ALTER TABLE vendor_refund_payment ADD COLUMN unlinked BIGINT GENERATED ALWAYS AS (CASE WHEN status IN ('pending', 'processing', 'completed') AND payout_id IS NULL AND amount - fee > linked THEN amount - fee - linked END) STORED;

CREATE INDEX vendor_refund_payment_business_id_unlinked_created_at_idx ON vendor_refund_payment (business_id, unlinked, created_at) WHERE unlinked IS NOT NULL;

GRANT SELECT, INSERT, UPDATE ON payout, payout_item, bank_link TO accounting_server;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY['payout', 'payout_item', 'bank_link'] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY one_business ON %I USING (business_id = '
      '(SELECT nullif(current_setting(''app.business_id'', true), '''')::uuid))',
      tenant_table
    );
  END LOOP;
END
$$;

SELECT audit_table('payout', 'payout');
SELECT audit_table('bank_link', 'bank_link');
