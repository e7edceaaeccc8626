-- What a posting costs on many machines: a round trip to the machine of its business for each number
-- that it carries and to see whether months are due, and a plan of Citus for each question of a trigger.

-- Takes the next numbers of some series, each locked until the end: what a statement sets on another
-- machine sets nothing here, so that whoever calls this keeps in settings what it returns. By two, as
-- a document and its entry take them: rows of one statement take one round trip, and one whose text is
-- made anew is planned anew.
CREATE FUNCTION take_numbers(business uuid, wanted text[], amounts bigint[])
RETURNS SETOF number_series LANGUAGE plpgsql AS $$
BEGIN
  FOR place IN 1 .. cardinality(wanted) BY 2 LOOP
    IF place < cardinality(wanted) THEN
      RETURN QUERY INSERT INTO number_series AS known (business_id, series, last)
      VALUES (business, wanted[place], amounts[place]),
             (business, wanted[place + 1], amounts[place + 1])
      ON CONFLICT (business_id, series) DO UPDATE SET last = known.last + excluded.last
      RETURNING known.*;
    ELSE
      RETURN QUERY INSERT INTO number_series AS known (business_id, series, last)
      VALUES (business, wanted[place], amounts[place])
      ON CONFLICT (business_id, series) DO UPDATE SET last = known.last + excluded.last
      RETURNING known.*;
    END IF;
  END LOOP;
END
$$;

-- Calls `advance_months` where it is due by what the taking of the numbers has kept: most postings
-- spare themselves the round trip. Where nothing is kept it calls it; as the source of rows, since
-- Citus sends no function on to the machine of its business that is an expression of another one.
CREATE FUNCTION advance_due_months(business uuid, years text[], step bigint) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE
  year text;
  entries bigint;
BEGIN
  FOREACH year IN ARRAY years LOOP
    entries := nullif(current_setting('not_rolled_up.' || replace(year, '-', '_'), true), '')::bigint;
    IF coalesce(entries, step) >= step THEN
      PERFORM * FROM advance_months(business, years, step);
      RETURN;
    END IF;
  END LOOP;
END
$$;

-- As before, and where a setting keeps the last number it asks no table. Servers of the release before
-- keep none on many machines.
CREATE OR REPLACE FUNCTION taken_number(business uuid, series text, back bigint) RETURNS text
LANGUAGE plpgsql STABLE AS $$
DECLARE
  kept text := nullif(current_setting('taken.' || replace(series, '-', '_'), true), '');
  place text := (kept::bigint - back)::text;
BEGIN
  IF place IS NULL AND series IS NOT NULL THEN
    SELECT (s.last - taken_number.back)::text INTO place FROM number_series s
    WHERE s.business_id = taken_number.business AND s.series = taken_number.series;
  END IF;
  RETURN taken_number.series || '-' || lpad(place, greatest(6, length(place)), '0');
END
$$;

-- As before, with questions of one table each, which Citus plans in less time than a sub-select.
CREATE OR REPLACE FUNCTION refuse_posting_to_reconciled() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM bank_reconciliation
  WHERE business_id = NEW.business_id AND account_id = NEW.account_id AND status = 'closed'
    AND statement_date >= NEW.entry_date
  LIMIT 1;
  IF FOUND THEN
    RAISE EXCEPTION 'a line of % breaks constraint "journal_line_after_reconciliation"',
      NEW.entry_date
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_line_after_reconciliation';
  END IF;
  RETURN NULL;
END
$$;

CREATE OR REPLACE FUNCTION refuse_locked_period() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  locked date;
BEGIN
  SELECT lock_date INTO locked FROM business WHERE id = NEW.business_id;
  IF NEW.entry_date <= locked THEN
    RAISE EXCEPTION 'an entry of % breaks constraint "journal_entry_after_lock_date"',
      NEW.entry_date
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_after_lock_date';
  END IF;
  RETURN NULL;
END
$$;

-- As before, with the digest beside the statement: Citus would look for functions in it, and call them.
CREATE OR REPLACE FUNCTION keep_audit_record(
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
  digest bytea := public.audit_record_digest(
    owner, id, moment, object_type, object, change, action, kind, partner_id, key_id, request_id,
    before_digest, after_digest, changes
  );
BEGIN
  INSERT INTO public.audit_record VALUES (
    owner, id, moment, object_type, object, change, action, kind, partner_id, key_id, request_id,
    before_digest, after_digest, changes, digest
  );
END
$$;
