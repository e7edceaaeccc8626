-- What the database itself holds up: who may do what, whose rows one sees, and that posted entries
-- balance, stay as they are and keep out of a locked period.

-- The server's role. A login of its own may be granted it behind a pooler that refuses options.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'accounting_server') THEN
    CREATE ROLE accounting_server NOLOGIN NOSUPERUSER NOBYPASSRLS;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END
$$;

-- Roles belong to the whole server. Another database of it may be migrated at this very moment and
-- say the same: what is there is left alone, and "tuple concurrently updated" means that it is.
DO $$
BEGIN
  IF NOT pg_has_role(current_user, 'accounting_server', 'MEMBER') THEN
    EXECUTE format('GRANT accounting_server TO %I', current_user);
  END IF;
EXCEPTION WHEN internal_error OR unique_violation THEN
  NULL;
END
$$;

-- Nobody waits for ever: limits of a login as this role. The server, which puts the role on, brings
-- its own along.
DO $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole
    WHERE r.rolname = 'accounting_server'
  ) THEN
    ALTER ROLE accounting_server SET statement_timeout = '10s';
    ALTER ROLE accounting_server SET lock_timeout = '5s';
    ALTER ROLE accounting_server SET idle_in_transaction_session_timeout = '15s';
  END IF;
EXCEPTION WHEN internal_error OR unique_violation THEN
  NULL;
END
$$;

GRANT USAGE ON SCHEMA public TO accounting_server;
GRANT SELECT ON alembic_version TO accounting_server;  -- It starts on the schema it knows only.
GRANT SELECT, INSERT, UPDATE ON partner, api_key, business, number_series TO accounting_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON partner_reply, reply TO accounting_server;
GRANT SELECT, INSERT, UPDATE ON customer, account TO accounting_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON invoice TO accounting_server;
GRANT SELECT, INSERT, UPDATE ON invoice_payment, invoice_allocation TO accounting_server;
-- History is added to, never edited.
GRANT SELECT, INSERT ON journal_entry, journal_line TO accounting_server;

-- Row security is the second net behind the stores: without a tenant there are no rows.
DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY[
    'reply', 'number_series', 'customer', 'account', 'invoice', 'invoice_payment',
    'invoice_allocation', 'journal_entry', 'journal_line'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY one_business ON %I USING (business_id = '
      '(SELECT nullif(current_setting(''app.business_id'', true), '''')::uuid))',
      tenant_table
    );
  END LOOP;
END
$$;

-- All lines of an entry come in one INSERT: they balance, they start at line 1 (so none can be
-- added later), their debits are the entry's total, and their day is the entry's.
CREATE FUNCTION refuse_unbalanced_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  wrong uuid;
BEGIN
  SELECT l.entry_id INTO wrong
  FROM added l JOIN journal_entry e ON e.business_id = l.business_id AND e.id = l.entry_id
  GROUP BY l.business_id, l.entry_id, e.total, e.entry_date
  HAVING sum(l.debit) <> sum(l.credit) OR sum(l.debit) <> e.total OR min(l.line_number) <> 1
    OR bool_or(l.entry_date <> e.entry_date)
  LIMIT 1;
  IF wrong IS NOT NULL THEN
    RAISE EXCEPTION 'journal entry % does not balance', wrong
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_balanced';
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER journal_line_balanced AFTER INSERT ON journal_line
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_unbalanced_entry();

CREATE FUNCTION refuse_entry_without_lines() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM journal_line WHERE business_id = NEW.business_id AND entry_id = NEW.id
  ) THEN
    RAISE EXCEPTION 'journal entry % has no lines', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_with_lines';
  END IF;
  RETURN NULL;
END
$$;

CREATE CONSTRAINT TRIGGER journal_entry_with_lines AFTER INSERT ON journal_entry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_entry_without_lines();

CREATE FUNCTION refuse_locked_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM added e JOIN business b ON b.id = e.business_id
    WHERE e.entry_date <= b.lock_date
  ) THEN
    RAISE EXCEPTION 'the period of this date is locked'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_after_lock_date';
  END IF;
  RETURN NULL;
END
$$;

CREATE TRIGGER journal_entry_after_lock_date AFTER INSERT ON journal_entry
  REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_locked_period();

-- Claims an idempotency key for this transaction, or fails at once: the statements that were sent
-- along, which may wait for locks of the very request that holds the key, are then skipped.
CREATE FUNCTION claim_key(claim text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF NOT pg_try_advisory_xact_lock(hashtextextended(claim, 0)) THEN
    RAISE EXCEPTION 'the key is at work in another request'
      USING ERRCODE = 'lock_not_available', CONSTRAINT = 'idempotency_key_busy';
  END IF;
END
$$;
