-- The trail of what is there already starts with what it is now.

SELECT keep_audit_record(
  r.object_type, b.id, r.object_id, 'start', NULL, r.digest,
  -- A lock date has been told of when it was set.
  CASE r.object_type WHEN 'business' THEN audited_changes(NULL, to_jsonb(b) - 'lock_date') END
)
FROM business b, LATERAL audit_record_rows(b.id) AS r;

SELECT keep_partner_audit_record(r.object_type, p.id, r.object_id, 'start', NULL, r.digest, NULL)
FROM partner p, LATERAL partner_audit_record_rows(p.id) AS r;

-- On many machines each has a copy of `business`, on which no trigger can stand: whoever has changed
-- it calls this, in the same transaction. It looks for itself at the row, and at what is known of
-- it; where a trigger has told of the change, it does nothing.
CREATE FUNCTION audit_business(business uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  known bytea;
  told jsonb;
  stands bytea;
  found jsonb;
BEGIN
  SELECT r.digest INTO stands FROM public.audit_record_rows(business) r
  WHERE r.object_id = business AND r.object_type = 'business';
  SELECT to_jsonb(b) INTO found FROM public.business b WHERE b.id = business;
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
REVOKE EXECUTE ON FUNCTION audit_business FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_business TO accounting_server;
