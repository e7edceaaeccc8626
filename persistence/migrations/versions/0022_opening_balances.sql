-- The opening of books, and what came with it. What was there before came with none.
ALTER TABLE opening_balance ADD CONSTRAINT opening_balance_business_id_fkey
  FOREIGN KEY(business_id) REFERENCES business (id);

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
