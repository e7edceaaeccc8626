-- The feed of a business. Its sequence is a series of `number_series`, taken with the other numbers of a
-- transaction, so it has no gaps and is the order of the commits. Events are added to, never changed.
CREATE TABLE event (
  business_id UUID NOT NULL,
  sequence BIGINT NOT NULL,
  id UUID NOT NULL,
  occurred_at TIMESTAMP WITH TIME ZONE NOT NULL,
  type TEXT NOT NULL,
  change TEXT NOT NULL,
  object_type TEXT NOT NULL,
  object_id UUID NOT NULL,
  external_id TEXT,
  holder_id UUID,
  version BIGINT NOT NULL,
  previous_status TEXT,
  status TEXT,
  changed JSONB,
  journal_entry_ids JSONB,
  counts JSONB,
  operation TEXT,
  request_id TEXT,
  actor_kind TEXT NOT NULL,
  key_id TEXT,
  CONSTRAINT event_pkey PRIMARY KEY (business_id, sequence),
  CONSTRAINT event_change_known_check CHECK (change IN ('created', 'updated', 'deleted', 'start'))
);
CREATE INDEX event_business_id_object_id_sequence_idx ON event (business_id, object_id, sequence);

-- The events of a transaction that the feed of the partner does not have yet.
CREATE TABLE unplaced_event (
  business_id UUID NOT NULL,
  first_sequence BIGINT NOT NULL,
  last_sequence BIGINT NOT NULL,
  CONSTRAINT unplaced_event_pkey PRIMARY KEY (business_id, last_sequence)
);

GRANT SELECT, INSERT ON event TO accounting_server;
GRANT SELECT, INSERT, DELETE ON unplaced_event TO accounting_server;
ALTER TABLE event ENABLE ROW LEVEL SECURITY;
ALTER TABLE unplaced_event ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON event USING (business_id = nullif(current_setting('app.business_id', true), '')::uuid);
CREATE POLICY one_business ON unplaced_event USING (business_id = nullif(current_setting('app.business_id', true), '')::uuid);

ALTER TABLE reply ADD COLUMN event_sequence BIGINT;
ALTER TABLE partner_reply ADD COLUMN event_sequence BIGINT;

-- A server announces with its caller that it writes the events of its transaction itself. This trigger
-- writes the events of all other changes, such as those by a server of the previous release. Their types
-- are more general.
CREATE FUNCTION record_event() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  caller jsonb := coalesce(nullif(current_setting('app.caller', true), ''), '{}');
  was jsonb := to_jsonb(OLD);
  record jsonb := coalesce(
    (SELECT to_jsonb(e) || jsonb_build_object('version', e.version + 1) FROM public.journal_entry AS e
     WHERE TG_ARGV[1] = 'reversed' AND e.business_id = (to_jsonb(NEW) ->> 'business_id')::uuid
       AND e.id = (to_jsonb(NEW) ->> 'reversal_of_id')::uuid),
    to_jsonb(NEW), to_jsonb(OLD)
  );
  owner uuid := coalesce(record ->> 'business_id', record ->> 'id');
  object_type text := TG_ARGV[0];
  word text := CASE
    WHEN TG_OP = 'INSERT' THEN TG_ARGV[1]
    WHEN TG_OP = 'DELETE' THEN 'deleted'
    WHEN was ->> 'deleted_at' IS NULL AND record ->> 'deleted_at' IS NOT NULL THEN 'deleted'
    WHEN was ->> 'ended_at' IS NULL AND record ->> 'ended_at' IS NOT NULL THEN 'deleted'
    WHEN was ->> 'reversed_at' IS NULL AND record ->> 'reversed_at' IS NOT NULL THEN 'reversed'
    WHEN was ->> 'archived_at' IS NULL AND record ->> 'archived_at' IS NOT NULL THEN 'archived'
    WHEN was ->> 'archived_at' IS NOT NULL AND record ->> 'archived_at' IS NULL THEN 'unarchived'
    ELSE coalesce(caller ->> 'word', 'updated')
  END;
  kind text := CASE
    WHEN word = 'deleted' THEN 'deleted'
    WHEN TG_OP = 'INSERT' AND word <> 'imported' THEN 'created'
    ELSE 'updated'
  END;
  family text := object_type;
  object_id uuid := record ->> 'id';
  named text := record ->> 'external_id';
  version bigint := coalesce((record ->> 'version')::bigint, 1);
  counts jsonb;
  tenant text := coalesce(current_setting('app.business_id', true), '');
  place bigint;
BEGIN
  -- A reversal changes the entry that it reverses, without another row of it.
  IF TG_ARGV[1] = 'reversed' THEN kind := 'updated'; END IF;
  -- Changes of businesses are not confined to one of them.
  PERFORM set_config('app.business_id', owner::text, true);
  IF word = 'imported' THEN
    object_type := 'bank_account';
    family := 'bank_transactions';
    counts := '{"imported": 1, "skipped": 0, "failed": 0}';
    SELECT known.id, known.external_id, known.version INTO object_id, named, version
    FROM public.bank_account AS known
    WHERE known.business_id = owner AND known.id = (record ->> 'bank_account_id')::uuid;
  END IF;
  INSERT INTO public.number_series AS known (business_id, series, last) VALUES (owner, 'EVENT', 1)
  ON CONFLICT (business_id, series) DO UPDATE SET last = known.last + 1 RETURNING last INTO place;
  INSERT INTO public.event (
    business_id, sequence, id, occurred_at, type, change, object_type, object_id, external_id, version,
    changed, counts, operation, request_id, actor_kind, key_id
  ) VALUES (
    owner, place, gen_random_uuid(), coalesce((caller ->> 'at')::timestamptz, clock_timestamp()),
    family || '.' || word, kind, object_type, object_id, named, version,
    CASE WHEN word = caller ->> 'word' THEN caller -> 'changed' END, counts,
    caller ->> 'action', caller ->> 'request_id', coalesce(caller ->> 'kind', 'operator'), caller ->> 'key_id'
  );
  INSERT INTO public.unplaced_event VALUES (owner, place, place);
  PERFORM set_config('app.business_id', tenant, true);
  RETURN NULL;
END
$$;

-- A server of the previous release copies the template of sandboxes with its `EVENT` row, after a trigger has
-- created the row of the copy. It announces a caller that does not write events.
CREATE FUNCTION keep_events_counted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RETURN NULL;
END
$$;
CREATE TRIGGER number_series_counts_events BEFORE INSERT ON number_series FOR EACH ROW
WHEN (NEW.series = 'EVENT' AND pg_trigger_depth() = 0
  AND current_setting('app.caller', true) <> ''
  AND current_setting('app.caller', true) NOT LIKE '%"events":"written"%')
EXECUTE FUNCTION keep_events_counted();

-- Creates a trigger for events, which a session that writes its events itself does not run.
CREATE FUNCTION event_trigger(
  name text, occasion text, object_type text, word text, condition text DEFAULT 'true'
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  EXECUTE format(
    'CREATE TRIGGER %I AFTER %s FOR EACH ROW WHEN (%s AND'
    ' coalesce(current_setting(''app.caller'', true), '''') NOT LIKE ''%%"events":"written"%%'')'
    ' EXECUTE FUNCTION record_event(%L, %L)', name, occasion, condition, object_type, word
  );
END
$$;
REVOKE EXECUTE ON FUNCTION event_trigger FROM PUBLIC;

-- Creates the triggers for events of a table: of its changed rows, and of its new and deleted rows or of
-- those that `operations` names.
CREATE FUNCTION event_table(
  name text, object_type text, word text DEFAULT 'created', operations text DEFAULT 'INSERT OR DELETE'
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM event_trigger(name || '_to_feed', format('%s ON %I', operations, name), object_type, word);
  PERFORM event_trigger(
    name || '_change_to_feed', format('UPDATE ON %I', name), object_type, word, 'OLD.version <> NEW.version'
  );
END
$$;
REVOKE EXECUTE ON FUNCTION event_table FROM PUBLIC;
-- Triggers run in the order of their names: the reversed entry has its event before its reversal.
SELECT event_trigger(
  'journal_entry_reversal_to_feed', 'INSERT ON journal_entry', 'journal_entry', 'reversed',
  'NEW.reversal_of_id IS NOT NULL'
);
-- A stored document has no versions and is never changed.
SELECT event_trigger('stored_document_to_feed', 'INSERT ON stored_document', 'document', 'created');

SELECT event_table(name, name)
FROM unnest(ARRAY[
  'business', 'account', 'customer', 'vendor', 'tax_code', 'invoice', 'bill', 'invoice_payment', 'bill_payment',
  'customer_credit', 'vendor_credit', 'write_off', 'bill_write_off', 'invoice_refund', 'invoice_refund_payment',
  'vendor_refund', 'vendor_refund_payment', 'payout', 'opening_balance', 'tax_return',
  'bank_account', 'bank_rule', 'bank_transfer', 'bank_reconciliation'
]) AS name;
-- The event of a new bank transaction is an import into its bank account.
SELECT event_table('bank_transaction', 'bank_transaction', 'imported');
-- A draft is deleted when it is posted; the entry with the same id has the event.
SELECT event_table('journal_draft', 'journal_entry', 'created', 'INSERT');
SELECT event_table('journal_entry', 'journal_entry', 'posted', 'INSERT');

-- Earlier businesses have an empty feed. Row 0, which no answer shows, is the moment at which it began: after the
-- triggers, which waited for all writers, so no later change lacks its event.
INSERT INTO event (business_id, sequence, id, occurred_at, type, change, object_type, object_id, version, actor_kind)
SELECT id, 0, id, clock_timestamp(), 'start', 'start', 'business', id, version, 'operator' FROM business;
