GRANT SELECT, INSERT, UPDATE ON webhook_feed TO accounting_server;
GRANT SELECT ON event_placement TO accounting_server;
GRANT SELECT, INSERT, UPDATE, DELETE
  ON webhook_endpoint, webhook_health, webhook_secret, webhook_delivery TO accounting_server;

-- As in the other tables of partners: a session without a partner sees all rows, as the process that
-- delivers does. The server sets the partner before it admits a caller; then only its rows are seen.
DO $$
DECLARE
  name text;
BEGIN
  FOREACH name IN ARRAY ARRAY[
    'event_placement', 'webhook_feed', 'webhook_endpoint', 'webhook_health', 'webhook_secret',
    'webhook_delivery'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
    EXECUTE format(
      'CREATE POLICY one_partner ON %I USING (coalesce('
      'partner_id = nullif(current_setting(''app.partner_id'', true), '''')::uuid, true))',
      name
    );
  END LOOP;
END
$$;

SELECT audit_table('webhook_endpoint', 'webhook_endpoint', 'partner_id', 'partner_audit_record');

-- Moves the rows of `unplaced_event` to the order of each partner, in pieces of at most 500 events,
-- and returns the number of placements. Only one transaction at a time does so, and the next one sees
-- its placements. A transaction that writes events locks their series until it ends. So a reader that
-- sees a row of a business also sees its earlier rows, and no row is placed after a later one. The
-- function runs with the rights of the owner, to see the rows of all businesses.
CREATE FUNCTION place_events() RETURNS bigint LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken record;
  businesses uuid[] := '{}';
  firsts bigint[] := '{}';
  lasts bigint[] := '{}';
  placed bigint := 0;
BEGIN
  SET LOCAL app.every_business = 'on';
  -- Many readers ask, mostly for nothing. Rows that another transaction places now are still seen here.
  PERFORM FROM public.unplaced_event LIMIT 1;
  IF NOT FOUND THEN
    SET LOCAL app.every_business = 'off';
    RETURN 0;
  END IF;
  PERFORM pg_advisory_xact_lock(hashtextextended('place events', 0));
  FOR taken IN DELETE FROM public.unplaced_event RETURNING business_id, first_sequence, last_sequence
  LOOP
    businesses := businesses || taken.business_id;
    firsts := firsts || taken.first_sequence;
    lasts := lasts || taken.last_sequence;
  END LOOP;
  IF cardinality(businesses) > 0 THEN
    WITH news AS (
      SELECT * FROM unnest(businesses, firsts, lasts) AS n (business_id, first, last)
    ), marked AS (
      SELECT n.*, n.first IS DISTINCT FROM 1 + lag(n.last) OVER each_business AS begins
      FROM news n WINDOW each_business AS (PARTITION BY n.business_id ORDER BY n.first)
    ), grouped AS (
      SELECT m.*, count(*) FILTER (WHERE m.begins) OVER (
        PARTITION BY m.business_id ORDER BY m.first
      ) AS run
      FROM marked m
    ), runs AS (
      SELECT g.business_id, min(g.first) AS first, max(g.last) AS last
      FROM grouped g GROUP BY g.business_id, g.run
    ), pieces AS (
      SELECT b.partner_id, r.business_id, piece AS first, least(piece + 499, r.last) AS last
      FROM runs r JOIN public.business b ON b.id = r.business_id,
        generate_series(r.first, r.last, 500) AS piece
    )
    INSERT INTO public.event_placement
      (partner_id, position, business_id, first_sequence, last_sequence)
    SELECT p.partner_id,
      coalesce((
        SELECT max(e.position) FROM public.event_placement e WHERE e.partner_id = p.partner_id
      ), 0) + row_number() OVER (PARTITION BY p.partner_id ORDER BY p.business_id, p.first),
      p.business_id, p.first, p.last
    FROM pieces p;
    GET DIAGNOSTICS placed = ROW_COUNT;
  END IF;
  SET LOCAL app.every_business = 'off';
  RETURN placed;
END
$$;
REVOKE EXECUTE ON FUNCTION place_events FROM PUBLIC;
GRANT EXECUTE ON FUNCTION place_events TO accounting_server;
