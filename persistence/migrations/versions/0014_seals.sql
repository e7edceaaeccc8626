-- Seals: each binds the records of a business that no seal binds yet, and the seal before.

CREATE TABLE audit_seal (
  business_id UUID NOT NULL,
  number BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  record_ids UUID[] NOT NULL,
  record_digests BYTEA[] NOT NULL,
  before_digest BYTEA,
  digest BYTEA NOT NULL,
  CONSTRAINT audit_seal_pkey PRIMARY KEY (business_id, number)
);
-- The server reads them. Only the function below adds to them, with its owner's rights.
GRANT SELECT ON audit_seal TO accounting_server;
ALTER TABLE audit_seal ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON audit_seal USING
  (business_id = nullif(current_setting('app.business_id', true), '')::uuid);

CREATE FUNCTION audit_seal_digest(
  business_id uuid, number bigint, created_at timestamptz, record_ids uuid[],
  record_digests bytea[], before_digest bytea
) RETURNS bytea LANGUAGE sql STABLE AS $$
  SELECT sha256(record_send(ROW(
    business_id, number, created_at, record_ids, record_digests, before_digest
  )))
$$;

-- Seals what is new, and returns how many records that is. Nobody needs to be kept out: a record
-- that is committed later than one with a higher id comes into the next seal, and a day is longer
-- than any transaction, or than a clock goes back.
CREATE FUNCTION seal_audit_trail(business uuid) RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  before public.audit_seal;
  since timestamptz;
  seal public.audit_seal;
BEGIN
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
  IF seal.record_ids IS NULL THEN
    RETURN 0;
  END IF;
  seal.digest := public.audit_seal_digest(
    seal.business_id, seal.number, seal.created_at, seal.record_ids, seal.record_digests,
    seal.before_digest
  );
  INSERT INTO public.audit_seal SELECT seal.*;
  RETURN cardinality(seal.record_ids);
END
$$;
REVOKE EXECUTE ON FUNCTION seal_audit_trail FROM PUBLIC;
GRANT EXECUTE ON FUNCTION seal_audit_trail TO accounting_server;

-- Seal 0 binds the records of before, which have no digests of their own: there are no others.
INSERT INTO audit_seal
SELECT business_id, 0, moment, record_ids, record_digests, NULL,
       audit_seal_digest(business_id, 0, moment, record_ids, record_digests, NULL)
FROM (
  SELECT business_id, clock_timestamp() AS moment, array_agg(id ORDER BY id) AS record_ids,
         array_agg(audit_record_digest(
           business_id, id, created_at, object_type, object_id, change, action, actor_kind,
           partner_id, key_id, request_id, before_digest, after_digest, changes
         ) ORDER BY id) AS record_digests
  FROM audit_record GROUP BY business_id
) AS told;
