-- What is said to the database in the same words on one machine and on many.

-- Without a sub-select, which Citus refuses. A statement that names its business compares the two
-- once, not for each row.
DO $$
DECLARE
  tenant_table name;
BEGIN
  FOR tenant_table IN SELECT tablename FROM pg_policies
    WHERE schemaname = 'public' AND policyname = 'one_business'
  LOOP
    EXECUTE format(
      'ALTER POLICY one_business ON %I USING (business_id = '
      'nullif(current_setting(''app.business_id'', true), '''')::uuid)',
      tenant_table
    );
  END LOOP;
END
$$;

-- Who writes is one setting, a JSON object. A server of the release before still says it in five;
-- what is in neither was done by an operator. `business` is told by what its trigger was made with:
-- on many machines a table has another name on each.
CREATE OR REPLACE FUNCTION keep_audit_trail() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  caller jsonb := coalesce(
    nullif(current_setting('app.caller', true), '')::jsonb,
    jsonb_build_object(
      'action', nullif(current_setting('app.action', true), ''),
      'kind', nullif(current_setting('app.actor_kind', true), ''),
      'partner_id', nullif(current_setting('app.partner_id', true), ''),
      'key_id', nullif(current_setting('app.key_id', true), ''),
      'request_id', nullif(current_setting('app.request_id', true), '')
    )
  );
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
  IF TG_ARGV[0] = 'business' THEN
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
    caller ->> 'action', coalesce(caller ->> 'kind', 'operator'),
    (caller ->> 'partner_id')::uuid, caller ->> 'key_id', caller ->> 'request_id',
    before_digest, after_digest, changes
  );
  RETURN NULL;
END
$$;
