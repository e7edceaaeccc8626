-- The opening of books, and what came with it. What was there before came with none.
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
  CONSTRAINT opening_balance_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT opening_balance_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
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

-- On many machines it is spread before anything refers to it.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'citus') THEN
    IF EXISTS (SELECT FROM pg_dist_partition WHERE logicalrelid = 'account'::regclass) THEN
      PERFORM create_distributed_table('opening_balance', 'business_id', colocate_with := 'account');
    END IF;
  END IF;
END
$$;

ALTER TABLE invoice ADD COLUMN opening_id UUID;

ALTER TABLE invoice ADD CONSTRAINT invoice_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX invoice_opening_idx ON invoice (business_id, opening_id) WHERE opening_id IS NOT NULL;

SELECT audit_columns('invoice', ARRAY['opening_id'], 'NULL');

ALTER TABLE bill ADD COLUMN opening_id UUID;

ALTER TABLE bill ADD CONSTRAINT bill_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX bill_opening_idx ON bill (business_id, opening_id) WHERE opening_id IS NOT NULL;

SELECT audit_columns('bill', ARRAY['opening_id'], 'NULL');

ALTER TABLE customer_credit ADD COLUMN opening_id UUID;

ALTER TABLE customer_credit ADD CONSTRAINT customer_credit_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX customer_credit_opening_idx ON customer_credit (business_id, opening_id) WHERE opening_id IS NOT NULL;

ALTER TABLE customer_credit ADD COLUMN opened_on DATE;

ALTER TABLE customer_credit ADD CONSTRAINT customer_credit_opened_with_check CHECK ((opened_on IS NULL) = (opening_id IS NULL));

SELECT audit_columns('customer_credit', ARRAY['opening_id', 'opened_on'], 'NULL, NULL');

ALTER TABLE vendor_credit ADD COLUMN opening_id UUID;

ALTER TABLE vendor_credit ADD CONSTRAINT vendor_credit_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX vendor_credit_opening_idx ON vendor_credit (business_id, opening_id) WHERE opening_id IS NOT NULL;

ALTER TABLE vendor_credit ADD COLUMN opened_on DATE;

ALTER TABLE vendor_credit ADD CONSTRAINT vendor_credit_opened_with_check CHECK ((opened_on IS NULL) = (opening_id IS NULL));

SELECT audit_columns('vendor_credit', ARRAY['opening_id', 'opened_on'], 'NULL, NULL');

ALTER TABLE invoice_payment ADD COLUMN opening_id UUID;

ALTER TABLE invoice_payment ADD CONSTRAINT invoice_payment_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX invoice_payment_opening_idx ON invoice_payment (business_id, opening_id) WHERE opening_id IS NOT NULL;

SELECT audit_columns('invoice_payment', ARRAY['opening_id'], 'NULL');

ALTER TABLE bill_payment ADD COLUMN opening_id UUID;

ALTER TABLE bill_payment ADD CONSTRAINT bill_payment_business_id_opening_id_fkey FOREIGN KEY(business_id, opening_id) REFERENCES opening_balance (business_id, id);

CREATE INDEX bill_payment_opening_idx ON bill_payment (business_id, opening_id) WHERE opening_id IS NOT NULL;

SELECT audit_columns('bill_payment', ARRAY['opening_id'], 'NULL');

-- The numbers of what was taken back with its opening are free again.
ALTER TABLE invoice DROP CONSTRAINT invoice_business_id_number_key;

CREATE UNIQUE INDEX invoice_business_id_number_key ON invoice (business_id, number) WHERE state <> 'void' OR opening_id IS NULL;

ALTER TABLE bill DROP CONSTRAINT bill_business_id_number_key;

CREATE UNIQUE INDEX bill_business_id_number_key ON bill (business_id, number) WHERE state <> 'void' OR opening_id IS NULL;

ALTER TABLE customer_credit DROP CONSTRAINT customer_credit_business_id_number_key;

CREATE UNIQUE INDEX customer_credit_business_id_number_key ON customer_credit (business_id, number) WHERE state <> 'void' OR opening_id IS NULL;

ALTER TABLE vendor_credit DROP CONSTRAINT vendor_credit_business_id_number_key;

CREATE UNIQUE INDEX vendor_credit_business_id_number_key ON vendor_credit (business_id, number) WHERE state <> 'void' OR opening_id IS NULL;
