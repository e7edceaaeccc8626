-- What partners see of one another. Who is let in is looked up before any partner is known, so that
-- without one all are seen; once one is set, which the server does in the statement that lets a
-- caller in, there are no others. Servers of the release before set none.
ALTER TABLE api_key ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON api_key USING
  (coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

-- Sandboxes are copied from a template, which belongs to a partner that nobody is.
ALTER TABLE business ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON business
  USING (
    coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true)
    OR sandbox = 'template'
  )
  WITH CHECK
    (coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

ALTER TABLE partner ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON partner USING
  (coalesce(id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

ALTER TABLE partner_reply ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON partner_reply USING
  (coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

ALTER TABLE partner_audit_record ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON partner_audit_record USING
  (coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

ALTER TABLE revoked_token ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON revoked_token USING
  (coalesce(partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true));

-- As before, and of the business that it is asked for whichever one is set: row security binds its
-- owner from now on, and a server of the release before sets none.
CREATE OR REPLACE FUNCTION audit_business(business uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  stands bytea := (SELECT r.digest FROM public.audit_record_rows(business, 'business') r);
  found jsonb := (SELECT to_jsonb(b) FROM public.business b WHERE b.id = business);
  set_before text := current_setting('app.business_id', true);
  known bytea;
  told jsonb;
BEGIN
  PERFORM set_config('app.business_id', business::text, true);
  SELECT r.after_digest INTO known FROM public.audit_record r
  WHERE r.business_id = business AND r.object_id = business AND r.digest IS NOT NULL
    AND NOT EXISTS (
      SELECT FROM public.audit_record later
      WHERE later.business_id = business AND later.object_id = business
        AND later.before_digest = r.after_digest
    );
  IF known IS DISTINCT FROM stands THEN
    SELECT jsonb_object_agg(fact.key, fact.value -> 'to' ORDER BY r.id) INTO told
    FROM public.audit_record r, jsonb_each(r.changes) AS fact
    WHERE r.business_id = business AND r.object_id = business AND r.changes IS NOT NULL;
    PERFORM public.keep_audit_record(
      'business', business, business, CASE WHEN known IS NULL THEN 'insert' ELSE 'update' END,
      known, stands, public.audited_changes(told, found)
    );
  END IF;
  PERFORM set_config('app.business_id', coalesce(set_before, ''), true);
END
$$;

CREATE OR REPLACE FUNCTION seal_audit_trail(business uuid) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before public.audit_seal;
  since timestamptz;
  seal public.audit_seal;
  set_before text := current_setting('app.business_id', true);
BEGIN
  PERFORM set_config('app.business_id', business::text, true);
  PERFORM pg_advisory_xact_lock(hashtextextended('seal ' || business, 0));
  SELECT * INTO before FROM public.audit_seal s
  WHERE s.business_id = business ORDER BY s.number DESC LIMIT 1;
  since := coalesce(before.created_at - interval '1 day', 'epoch');
  seal.business_id := business;
  seal.number := coalesce(before.number + 1, 1);
  seal.created_at := clock_timestamp();
  seal.before_digest := before.digest;
  SELECT array_agg(r.id ORDER BY r.id), array_agg(r.digest ORDER BY r.id)
  INTO seal.record_ids, seal.record_digests
  FROM public.audit_record r
  WHERE r.business_id = business AND r.digest IS NOT NULL
    AND r.id >= public.audit_id(since)
    AND r.id NOT IN (
      SELECT unnest(s.record_ids) FROM public.audit_seal s
      WHERE s.business_id = business AND s.created_at >= since
    );
  IF seal.record_ids IS NOT NULL THEN
    seal.digest := public.audit_seal_digest(
      seal.business_id, seal.number, seal.created_at, seal.record_ids, seal.record_digests,
      seal.before_digest
    );
    INSERT INTO public.audit_seal SELECT seal.*;
  END IF;
  PERFORM set_config('app.business_id', coalesce(set_before, ''), true);
  RETURN coalesce(cardinality(seal.record_ids), 0);
END
$$;
