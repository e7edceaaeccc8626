-- What the proof of the trail needs where tables are spread over machines: Citus takes no parameter
-- in SQL functions on such tables, and no trigger can stand on what each machine has a copy of.

-- `audit_record_rows(business)` and `partner_audit_record_rows(partner)`: the digest of each row as
-- it stands, or only of those of one type.
CREATE OR REPLACE FUNCTION write_row_function(of_trail text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  selects text := (
    SELECT string_agg(format(
      'IF of_type IS NULL OR of_type = %1$L THEN'
      ' RETURN QUERY SELECT %1$L, t.id, %2$s FROM public.%3$I t WHERE t.%4$I = owner; END IF;',
      object_type, row_digest(column_lists, 't'), name, owner_column
    ), ' ' ORDER BY name)
    FROM audited_table WHERE trail = of_trail
  );
BEGIN
  EXECUTE format(
    'CREATE OR REPLACE FUNCTION %I(owner uuid, of_type text DEFAULT NULL)'
    ' RETURNS TABLE (object_type text, object_id uuid, digest bytea) LANGUAGE plpgsql STABLE'
    ' SET client_encoding = ''UTF8'' AS %L',
    of_trail || '_rows', 'BEGIN ' || selects || ' END'
  );
END
$$;
DROP FUNCTION audit_record_rows(uuid);
DROP FUNCTION partner_audit_record_rows(uuid);
SELECT write_row_function('audit_record');
SELECT write_row_function('partner_audit_record');

-- Whoever has changed a business calls this in the same transaction. It looks for itself at the row,
-- and at what is known of it; where a trigger has told of the change, it does nothing.
CREATE OR REPLACE FUNCTION audit_business(business uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  stands bytea := (SELECT r.digest FROM public.audit_record_rows(business, 'business') r);
  found jsonb := (SELECT to_jsonb(b) FROM public.business b WHERE b.id = business);
  known bytea;
  told jsonb;
BEGIN
  SELECT r.after_digest INTO known FROM public.audit_record r
  WHERE r.business_id = business AND r.object_id = business AND r.digest IS NOT NULL
    AND NOT EXISTS (
      SELECT FROM public.audit_record later
      WHERE later.business_id = business AND later.object_id = business
        AND later.before_digest = r.after_digest
    );
  IF known IS NOT DISTINCT FROM stands THEN
    RETURN;
  END IF;
  SELECT jsonb_object_agg(fact.key, fact.value -> 'to' ORDER BY r.id) INTO told
  FROM public.audit_record r, jsonb_each(r.changes) AS fact
  WHERE r.business_id = business AND r.object_id = business AND r.changes IS NOT NULL;
  PERFORM public.keep_audit_record(
    'business', business, business, CASE WHEN known IS NULL THEN 'insert' ELSE 'update' END,
    known, stands, public.audited_changes(told, found)
  );
END
$$;

-- The same for a partner and its keys.
CREATE FUNCTION audit_partner(partner uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  standing record;
  known bytea;
BEGIN
  FOR standing IN SELECT * FROM public.partner_audit_record_rows(partner) LOOP
    known := (
      SELECT r.after_digest FROM public.partner_audit_record r
      WHERE r.partner_id = partner AND r.object_id = standing.object_id
        AND NOT EXISTS (
          SELECT FROM public.partner_audit_record later
          WHERE later.partner_id = partner AND later.object_id = standing.object_id
            AND later.before_digest = r.after_digest
        )
    );
    IF known IS DISTINCT FROM standing.digest THEN
      PERFORM public.keep_partner_audit_record(
        standing.object_type, partner, standing.object_id,
        CASE WHEN known IS NULL THEN 'insert' ELSE 'update' END, known, standing.digest, NULL
      );
    END IF;
  END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION audit_partner FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_partner TO accounting_server;
