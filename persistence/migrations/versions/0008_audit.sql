-- Who changed what, and when: one record for every row of an aggregate that is inserted, changed or
-- deleted, written by the database in the same transaction, and never touched again.

CREATE TABLE audit_record (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  object_type TEXT NOT NULL,
  object_id UUID NOT NULL,
  change TEXT NOT NULL,
  action TEXT,
  actor_kind TEXT NOT NULL,
  partner_id UUID,
  key_id TEXT,
  request_id TEXT,
  before_digest BYTEA,
  after_digest BYTEA,
  changes JSONB,
  CONSTRAINT audit_record_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT audit_record_change_known_check CHECK (change IN ('insert', 'update', 'delete')),
  CONSTRAINT audit_record_actor_kind_known_check CHECK (actor_kind IN ('partner_key', 'partner_token', 'business_token', 'operator'))
);

CREATE INDEX audit_record_business_id_object_id_id_idx ON audit_record (business_id, object_id, id);
CREATE INDEX audit_record_business_id_request_id_id_idx ON audit_record (business_id, request_id, id);

-- The server reads the trail. Only the trigger below adds to it, with its owner's rights.
GRANT SELECT ON audit_record TO accounting_server;

ALTER TABLE audit_record ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON audit_record USING (business_id =
  (SELECT nullif(current_setting('app.business_id', true), '')::uuid));

-- A UUIDv7 that begins with the moment, to a quarter of a microsecond: ids stand in the order
-- of time, and the primary key serves the list. PostgreSQL has no such function before 18.
CREATE FUNCTION audit_id(moment timestamptz) RETURNS uuid LANGUAGE plpgsql AS $$
DECLARE
  micro bigint := (date_part('epoch', moment) * 1000000)::bigint;
BEGIN
  RETURN (
    lpad(to_hex(micro / 1000 << 16 | 28672 | micro % 1000 * 4096 / 1000), 16, '0')
    || to_hex((random() * 4611686018427387903)::bigint | (-9223372036854775808))
  )::uuid;
END
$$;

-- The moment is the clock's, not the request's: it is taken while the transaction holds the
-- business's row, so that postings and changes of the lock date stand in the order in which they
-- really happened. What nobody announced (see persistence/engine/sessions.py) was done by an operator.
-- The search path is its own: nobody puts other functions in the place of these.
CREATE FUNCTION keep_audit_trail() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  owner uuid;
  object uuid;
  before_digest bytea;
  after_digest bytea;
  changes jsonb;
BEGIN
  IF TG_OP <> 'INSERT' THEN
    object := OLD.id;
    before_digest := sha256(record_send(OLD));
  END IF;
  IF TG_OP <> 'DELETE' THEN
    object := NEW.id;
    after_digest := sha256(record_send(NEW));
  END IF;
  IF TG_TABLE_NAME = 'business' THEN
    owner := object;
    changes := public.audited_changes(to_jsonb(OLD), to_jsonb(NEW));
  ELSIF TG_OP = 'DELETE' THEN
    owner := OLD.business_id;
  ELSE
    owner := NEW.business_id;
  END IF;
  INSERT INTO public.audit_record (
    business_id, id, created_at, object_type, object_id, change, action, actor_kind,
    partner_id, key_id, request_id, before_digest, after_digest, changes
  ) VALUES (
    owner, public.audit_id(moment), moment, TG_ARGV[0], object, lower(TG_OP),
    nullif(current_setting('app.action', true), ''),
    coalesce(nullif(current_setting('app.actor_kind', true), ''), 'operator'),
    nullif(current_setting('app.partner_id', true), '')::uuid,
    nullif(current_setting('app.key_id', true), ''),
    nullif(current_setting('app.request_id', true), ''),
    before_digest, after_digest, changes
  );
  RETURN NULL;
END
$$;

-- What of a business decides how its books read is told in full, from what to what.
CREATE FUNCTION audited_changes(before jsonb, after jsonb) RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(
    name, jsonb_build_object('from', before -> name, 'to', after -> name) ORDER BY name
  )
  FROM unnest(ARRAY['accounting_method', 'fiscal_year_end', 'lock_date']) AS name
  WHERE before -> name <> after -> name
$$;

-- Puts a table under audit. Called for each, here and by later migrations.
CREATE FUNCTION audit_table(name text, object_type text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'CREATE TRIGGER %I AFTER INSERT OR DELETE ON %I'
    ' FOR EACH ROW EXECUTE FUNCTION keep_audit_trail(%L)',
    name || '_audited', name, object_type
  );
  EXECUTE format(
    'CREATE TRIGGER %I AFTER UPDATE ON %I FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)'
    ' EXECUTE FUNCTION keep_audit_trail(%L)',
    name || '_change_audited', name, object_type
  );
END
$$;
REVOKE EXECUTE ON FUNCTION audit_table FROM PUBLIC;

SELECT audit_table(name, name)
FROM unnest(ARRAY[
  'business', 'account', 'customer', 'vendor', 'invoice', 'bill', 'invoice_payment', 'bill_payment',
  'customer_credit', 'vendor_credit', 'write_off', 'invoice_refund', 'invoice_refund_payment',
  'vendor_refund', 'vendor_refund_payment', 'journal_entry', 'bank_account', 'bank_transaction'
]) AS name;
SELECT audit_table('stored_document', 'document');
-- To a caller a draft and the entry that it becomes are one thing, with one id.
SELECT audit_table('journal_draft', 'journal_entry');

-- The history of a lock date begins here where it was set before.
INSERT INTO audit_record (
  business_id, id, created_at, object_type, object_id, change, actor_kind, after_digest, changes
)
SELECT b.id, audit_id(moment), moment, 'business', b.id, 'update', 'operator',
       sha256(record_send(b)),
       jsonb_build_object('lock_date', jsonb_build_object('from', NULL, 'to', b.lock_date))
FROM business b, LATERAL (SELECT clock_timestamp() AS moment) AS clock
WHERE b.lock_date IS NOT NULL;
