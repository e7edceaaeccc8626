-- What the records of the audit trail say of rows, and of themselves; see docs/decisions/0020.

-- Null in records of before: their digests are of whole rows, as those were at the time.
ALTER TABLE audit_record ADD COLUMN digest BYTEA;
ALTER TABLE audit_record DROP CONSTRAINT audit_record_change_known_check;
ALTER TABLE audit_record ADD CONSTRAINT audit_record_change_known_check
  CHECK (change IN ('insert', 'update', 'delete', 'start'));

-- The same of partners and their keys, which only an operator changes.
CREATE TABLE partner_audit_record (
  partner_id UUID NOT NULL,
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  object_type TEXT NOT NULL,
  object_id UUID NOT NULL,
  change TEXT NOT NULL,
  action TEXT,
  before_digest BYTEA,
  after_digest BYTEA,
  digest BYTEA NOT NULL,
  CONSTRAINT partner_audit_record_pkey PRIMARY KEY (partner_id, id),
  CONSTRAINT partner_audit_record_change_known_check
    CHECK (change IN ('insert', 'update', 'delete', 'start'))
);
GRANT SELECT ON partner_audit_record TO accounting_server;

-- Each table under audit: whose its rows are, and which of their columns a digest is over. A column
-- that is not listed changes no digest, and neither does one that PostgreSQL generates.
CREATE TABLE audited_table (
  name TEXT NOT NULL,
  object_type TEXT NOT NULL,
  trail TEXT NOT NULL,
  owner_column TEXT NOT NULL,
  column_lists JSONB NOT NULL,
  CONSTRAINT audited_table_pkey PRIMARY KEY (name)
);

-- A record's own digest, over all that it says.
CREATE FUNCTION audit_record_digest(
  business_id uuid, id uuid, created_at timestamptz, object_type text, object_id uuid, change text,
  action text, actor_kind text, partner_id uuid, key_id text, request_id text,
  before_digest bytea, after_digest bytea, changes jsonb
) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(record_send(ROW(
    business_id, id, created_at, object_type, object_id, change, action, actor_kind, partner_id,
    key_id, request_id, before_digest, after_digest, changes
  )))
$$;
CREATE FUNCTION partner_audit_record_digest(
  partner_id uuid, id uuid, created_at timestamptz, object_type text, object_id uuid, change text,
  action text, before_digest bytea, after_digest bytea
) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(record_send(ROW(
    partner_id, id, created_at, object_type, object_id, change, action, before_digest, after_digest
  )))
$$;

-- Who writes, as persistence/engine/sessions.py announces it, or a server of the release before.
CREATE FUNCTION audit_caller() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    nullif(current_setting('app.caller', true), '')::jsonb,
    jsonb_build_object(
      'action', nullif(current_setting('app.action', true), ''),
      'kind', nullif(current_setting('app.actor_kind', true), ''),
      'partner_id', nullif(current_setting('app.partner_id', true), ''),
      'key_id', nullif(current_setting('app.key_id', true), ''),
      'request_id', nullif(current_setting('app.request_id', true), '')
    )
  )
$$;

-- The moment is the clock's, and not the request's: see docs/decisions/0012. Only what has its
-- owner's rights may call this, and never the server: it believes whatever it is told.
CREATE FUNCTION keep_audit_record(
  object_type text, owner uuid, object uuid, change text,
  before_digest bytea, after_digest bytea, changes jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  id uuid := public.audit_id(moment);
  caller jsonb := public.audit_caller();
  action text := caller ->> 'action';
  kind text := coalesce(caller ->> 'kind', 'operator');
  partner_id uuid := caller ->> 'partner_id';
  key_id text := caller ->> 'key_id';
  request_id text := caller ->> 'request_id';
BEGIN
  INSERT INTO public.audit_record VALUES (
    owner, id, moment, object_type, object, change, action, kind, partner_id, key_id, request_id,
    before_digest, after_digest, changes,
    public.audit_record_digest(
      owner, id, moment, object_type, object, change, action, kind, partner_id, key_id, request_id,
      before_digest, after_digest, changes
    )
  );
END
$$;
REVOKE EXECUTE ON FUNCTION keep_audit_record FROM PUBLIC;

CREATE FUNCTION keep_partner_audit_record(
  object_type text, owner uuid, object uuid, change text,
  before_digest bytea, after_digest bytea, changes jsonb
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  moment timestamptz := clock_timestamp();
  id uuid := public.audit_id(moment);
  action text := public.audit_caller() ->> 'action';
BEGIN
  INSERT INTO public.partner_audit_record VALUES (
    owner, id, moment, object_type, object, change, action, before_digest, after_digest,
    public.partner_audit_record_digest(
      owner, id, moment, object_type, object, change, action, before_digest, after_digest
    )
  );
END
$$;
REVOKE EXECUTE ON FUNCTION keep_partner_audit_record FROM PUBLIC;

-- What of a business decides how its books read, from what to what; at the beginning from nothing.
CREATE OR REPLACE FUNCTION audited_changes(before jsonb, after jsonb)
RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT jsonb_object_agg(
    name, jsonb_build_object('from', before -> name, 'to', after -> name) ORDER BY name
  )
  FROM unnest(ARRAY['accounting_method', 'fiscal_year_end', 'lock_date']) AS name
  WHERE coalesce(before -> name, 'null') <> coalesce(after -> name, 'null')
$$;

-- The expression that digests a row: the first list of columns, as PostgreSQL sends them. The
-- columns of a later list count where they hold something else than rows of before were given.
CREATE FUNCTION row_digest(lists jsonb, alias text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  list jsonb;
  listed text;
  digest text;
BEGIN
  FOR list IN SELECT * FROM jsonb_array_elements(lists) LOOP
    listed := (
      SELECT string_agg(format('%s.%I', alias, name), ', ' ORDER BY place)
      FROM jsonb_array_elements_text(list -> 'columns') WITH ORDINALITY AS names (name, place)
    );
    digest := CASE WHEN digest IS NULL
      THEN format('sha256(record_send(ROW(%s)))', listed)
      ELSE format(
        'CASE WHEN ROW(%1$s) IS NOT DISTINCT FROM ROW(%2$s) THEN %3$s'
        ' ELSE sha256(%3$s || record_send(ROW(%1$s))) END',
        listed, list ->> 'given', digest
      ) END;
  END LOOP;
  RETURN digest;
END
$$;

-- The function of a table's triggers. It has its owner's rights and its own search path, and digests
-- text in one encoding, whatever that of the caller is.
CREATE FUNCTION write_audit_function(audited audited_table) RETURNS void LANGUAGE plpgsql AS $writer$
BEGIN
  EXECUTE format(
    $text$
      CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp SET client_encoding = 'UTF8' AS $$
      BEGIN
        IF TG_OP = 'INSERT' THEN
          PERFORM public.%2$I(%3$L, NEW.%4$I, NEW.id, 'insert', NULL, %5$s, %7$s);
        ELSIF TG_OP = 'UPDATE' THEN
          PERFORM public.%2$I(%3$L, NEW.%4$I, NEW.id, 'update', %6$s, %5$s, %7$s);
        ELSE
          PERFORM public.%2$I(%3$L, OLD.%4$I, OLD.id, 'delete', %6$s, NULL, %7$s);
        END IF;
        RETURN NULL;
      END
      $$
    $text$,
    audited.name || '_audit', 'keep_' || audited.trail, audited.object_type, audited.owner_column,
    row_digest(audited.column_lists, 'NEW'), row_digest(audited.column_lists, 'OLD'),
    CASE audited.name
      WHEN 'business' THEN 'public.audited_changes(to_jsonb(OLD), to_jsonb(NEW))'
      ELSE 'NULL'
    END
  );
  -- Nobody else makes a trigger of it, on a table of their own.
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %I FROM PUBLIC', audited.name || '_audit');
END
$writer$;

-- `audit_record_rows(business)` and `partner_audit_record_rows(partner)`: the digest of each row as
-- it stands.
CREATE FUNCTION write_row_function(of_trail text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  selects text := (
    SELECT string_agg(format(
      'SELECT %L, t.id, %s FROM public.%I t WHERE t.%I = owner',
      object_type, row_digest(column_lists, 't'), name, owner_column
    ), ' UNION ALL ' ORDER BY name)
    FROM audited_table WHERE trail = of_trail
  );
BEGIN
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION %I(owner uuid)'
    ' RETURNS TABLE (object_type text, object_id uuid, digest bytea) LANGUAGE sql STABLE AS %L',
    of_trail || '_rows', selects
  );
END
$$;

-- Puts a table under audit, with all columns that it has. Later migrations call it for theirs.
DROP FUNCTION audit_table;
CREATE FUNCTION audit_table(
  name text, object_type text, owner_column text DEFAULT 'business_id',
  trail text DEFAULT 'audit_record'
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  audited audited_table := ROW(name, object_type, trail, owner_column, jsonb_build_array(
    jsonb_build_object('columns', (
      SELECT jsonb_agg(attname ORDER BY attnum) FROM pg_attribute
      WHERE attrelid = name::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = ''
    ))
  ));
BEGIN
  INSERT INTO audited_table SELECT audited.*;
  PERFORM write_audit_function(audited), write_row_function(trail);
  EXECUTE format(
    'CREATE TRIGGER %1$I AFTER INSERT OR DELETE ON %2$I FOR EACH ROW EXECUTE FUNCTION %3$I()',
    name || '_audited', name, name || '_audit'
  );
  EXECUTE format(
    'CREATE TRIGGER %1$I AFTER UPDATE ON %2$I FOR EACH ROW WHEN (OLD.* IS DISTINCT FROM NEW.*)'
    ' EXECUTE FUNCTION %3$I()',
    name || '_change_audited', name, name || '_audit'
  );
END
$$;

-- Takes columns that came later under audit too. What rows of before were given in them leaves all
-- digests as they are: `SELECT audit_columns('invoice', ARRAY['fee', 'note'], '0, NULL')`.
CREATE FUNCTION audit_columns(of_table text, columns text[], given text)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  audited audited_table;
BEGIN
  UPDATE audited_table
  SET column_lists = column_lists || jsonb_build_object('columns', columns, 'given', given)
  WHERE name = of_table
  RETURNING * INTO STRICT audited;
  PERFORM write_audit_function(audited), write_row_function(audited.trail);
END
$$;
REVOKE EXECUTE ON FUNCTION row_digest, write_audit_function, write_row_function, audit_table,
  audit_columns FROM PUBLIC;

-- The tables that are under audit already change over to functions of their own.
DO $$
DECLARE
  audited record;
BEGIN
  FOR audited IN
    SELECT DISTINCT c.relname AS name, split_part(encode(t.tgargs, 'escape'), '\000', 1) AS type
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
    WHERE t.tgfoid = 'keep_audit_trail'::regproc
  LOOP
    EXECUTE format('DROP TRIGGER %I ON %I', audited.name || '_audited', audited.name);
    EXECUTE format('DROP TRIGGER %I ON %I', audited.name || '_change_audited', audited.name);
    PERFORM audit_table(
      audited.name, audited.type, CASE audited.name WHEN 'business' THEN 'id' ELSE 'business_id' END
    );
  END LOOP;
END
$$;
DROP FUNCTION keep_audit_trail;
SELECT audit_table('partner', 'partner', 'id', 'partner_audit_record');
SELECT audit_table('api_key', 'api_key', 'partner_id', 'partner_audit_record');
