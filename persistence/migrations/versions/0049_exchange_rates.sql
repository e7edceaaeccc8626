-- The exchange rates of a day: units of each currency for one of the reference, as decimals in text.
-- On many machines the coordinator alone has those of partners.
CREATE TABLE partner_exchange_rate_table (
  id UUID NOT NULL,
  partner_id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  day DATE NOT NULL,
  reference_currency TEXT NOT NULL,
  rates JSONB NOT NULL,
  CONSTRAINT partner_exchange_rate_table_pkey PRIMARY KEY (id),
  CONSTRAINT partner_exchange_rate_table_partner_id_day_key UNIQUE (partner_id, day)
);
CREATE INDEX partner_exchange_rate_table_partner_id_created_at_id_idx
  ON partner_exchange_rate_table (partner_id, created_at, id);

CREATE TABLE exchange_rate_table (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  version BIGINT NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  updated_at TIMESTAMP WITH TIME ZONE NOT NULL,
  day DATE NOT NULL,
  reference_currency TEXT NOT NULL,
  rates JSONB NOT NULL,
  CONSTRAINT exchange_rate_table_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT exchange_rate_table_business_id_fkey FOREIGN KEY (business_id) REFERENCES business (id),
  CONSTRAINT exchange_rate_table_business_id_day_key UNIQUE (business_id, day)
);
CREATE INDEX exchange_rate_table_business_id_created_at_id_idx
  ON exchange_rate_table (business_id, created_at, id);

GRANT SELECT, INSERT, UPDATE ON partner_exchange_rate_table, exchange_rate_table TO accounting_server;
ALTER TABLE partner_exchange_rate_table ENABLE ROW LEVEL SECURITY;
ALTER TABLE exchange_rate_table ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_partner ON partner_exchange_rate_table USING (coalesce(
  partner_id = nullif(current_setting('app.partner_id', true), '')::uuid, true
));
CREATE POLICY one_business ON exchange_rate_table USING (
  business_id = nullif(current_setting('app.business_id', true), '')::uuid
);

SELECT audit_table('exchange_rate_table', 'exchange_rate_table');
SELECT audit_table(
  'partner_exchange_rate_table', 'exchange_rate_table', 'partner_id', 'partner_audit_record'
);

-- The server calls this for tables that are copied to each machine, where no trigger can. It read all
-- rows of a partner; with the rates of many years, which triggers audit, it would take long.
CREATE OR REPLACE FUNCTION audit_partner(partner uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  standing record;
  known bytea;
BEGIN
  FOR standing IN
    SELECT r.* FROM unnest(ARRAY['api_key', 'partner', 'webhook_endpoint']) AS of_type,
      public.partner_audit_record_rows(partner, of_type) AS r
  LOOP
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
