-- The peers' schema in a usual style: documents, payments, a journal, and gapless numbers.

CREATE TABLE business (
    id uuid PRIMARY KEY,
    partner_id uuid NOT NULL,
    archived_at timestamptz
);

CREATE TABLE account (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    code text NOT NULL,
    name text NOT NULL,
    UNIQUE (business_id, code)
);

CREATE TABLE customer (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    external_id text,
    reference_number text,
    individual_name text,
    company_name text,
    email text,
    mobile_phone text,
    office_phone text,
    address_line1 text,
    address_line2 text,
    city text,
    state_county text,
    postal_code text,
    country text,
    address_string text,
    vat_number text,
    tax_exempt boolean NOT NULL,
    transaction_tags jsonb NOT NULL,
    notes text,
    metadata jsonb,
    payment_terms_days bigint,
    credit_limit_cents bigint,
    archived_at timestamptz,
    UNIQUE (business_id, external_id)
);
CREATE INDEX ON customer (business_id, created_at, id);

-- The last number issued in a series; the row lock makes the numbers gapless.
CREATE TABLE counter (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    series text NOT NULL,
    last bigint NOT NULL,
    UNIQUE (business_id, series)
);

CREATE TABLE invoice (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    customer_id uuid NOT NULL REFERENCES customer,
    number text,
    state text NOT NULL CHECK (state IN ('draft', 'open')),
    currency text NOT NULL,
    sent_at timestamptz,
    due_at timestamptz,
    subtotal bigint NOT NULL,
    tax_total bigint NOT NULL,
    total_amount bigint NOT NULL,
    outstanding bigint NOT NULL CHECK (outstanding BETWEEN 0 AND total_amount),
    memo text,
    created_at timestamptz NOT NULL,
    updated_at timestamptz NOT NULL,
    UNIQUE (business_id, number)
);
CREATE INDEX ON invoice (business_id, customer_id, outstanding) WHERE outstanding > 0;
CREATE INDEX ON invoice (business_id, sent_at, id) INCLUDE (due_at) WHERE outstanding > 0;

CREATE TABLE invoice_line (
    id uuid PRIMARY KEY,
    invoice_id uuid NOT NULL REFERENCES invoice,
    place integer NOT NULL,
    description text NOT NULL,
    quantity numeric NOT NULL,
    unit_price bigint NOT NULL,
    tax_rate numeric NOT NULL,
    net bigint NOT NULL,
    tax bigint NOT NULL
);
CREATE INDEX ON invoice_line (invoice_id);

CREATE TABLE payment (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    customer_id uuid NOT NULL REFERENCES customer,
    total bigint NOT NULL,
    currency text NOT NULL,
    method text NOT NULL,
    payment_date date NOT NULL,
    created_at timestamptz NOT NULL
);
CREATE INDEX ON payment (business_id, payment_date, id);

CREATE TABLE allocation (
    id uuid PRIMARY KEY,
    payment_id uuid NOT NULL REFERENCES payment,
    invoice_id uuid NOT NULL REFERENCES invoice,
    amount bigint NOT NULL
);
CREATE INDEX ON allocation (payment_id);
CREATE INDEX ON allocation (invoice_id);

CREATE TABLE entry (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    number text NOT NULL,
    entry_date date NOT NULL,
    description text NOT NULL,
    source_id uuid NOT NULL,
    UNIQUE (business_id, number)
);
CREATE INDEX ON entry (source_id);

CREATE TABLE entry_line (
    id uuid PRIMARY KEY,
    business_id uuid NOT NULL REFERENCES business,
    entry_id uuid NOT NULL REFERENCES entry,
    account_id uuid NOT NULL REFERENCES account,
    entry_date date NOT NULL,
    debit bigint NOT NULL CHECK (debit >= 0),
    credit bigint NOT NULL CHECK (credit >= 0)
);
CREATE INDEX ON entry_line (entry_id);
CREATE INDEX ON entry_line (business_id, account_id) INCLUDE (debit, credit);
