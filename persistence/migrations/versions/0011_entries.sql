-- The guards of the journal, as row triggers: Citus takes none that sees all rows of a statement. An
-- entry says how many lines it has, and each line says so too: none can be added later, since all
-- numbers up to there are taken.

-- What is counted here is no change of an entry: the audit trail keeps quiet.
ALTER TABLE journal_entry DISABLE TRIGGER USER;
ALTER TABLE journal_entry ADD COLUMN line_count INTEGER;
UPDATE journal_entry e SET line_count = (
  SELECT count(*) FROM journal_line l WHERE l.business_id = e.business_id AND l.entry_id = e.id
);
ALTER TABLE journal_entry ENABLE TRIGGER USER;
ALTER TABLE journal_entry
  ALTER COLUMN line_count SET NOT NULL,
  ADD CONSTRAINT journal_entry_business_id_id_line_count_key UNIQUE (business_id, id, line_count);

DROP TRIGGER journal_line_balanced ON journal_line;
ALTER TABLE journal_line ADD COLUMN line_count INTEGER;
UPDATE journal_line l SET line_count = e.line_count
FROM journal_entry e WHERE e.business_id = l.business_id AND e.id = l.entry_id;
ALTER TABLE journal_line
  ALTER COLUMN line_count SET NOT NULL,
  DROP CONSTRAINT journal_line_business_id_entry_id_fkey,
  ADD CONSTRAINT journal_line_business_id_entry_id_line_count_fkey
    FOREIGN KEY(business_id, entry_id, line_count)
    REFERENCES journal_entry (business_id, id, line_count),
  ADD CONSTRAINT journal_line_counted_check CHECK (line_number BETWEEN 1 AND line_count);

-- At COMMIT, when its lines are there.
CREATE OR REPLACE FUNCTION refuse_unbalanced_entry() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  holds boolean;
BEGIN
  SELECT count(*) = NEW.line_count AND sum(debit) = NEW.total AND sum(credit) = NEW.total
    AND bool_and(entry_date = NEW.entry_date)
  INTO holds
  FROM journal_line WHERE business_id = NEW.business_id AND entry_id = NEW.id;
  IF holds IS NOT TRUE THEN
    RAISE EXCEPTION 'journal entry % breaks constraint "journal_entry_balanced"', NEW.id
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_balanced';
  END IF;
  RETURN NULL;
END
$$;

DROP TRIGGER journal_entry_with_lines ON journal_entry;
DROP FUNCTION refuse_entry_without_lines();
CREATE CONSTRAINT TRIGGER journal_entry_balanced AFTER INSERT ON journal_entry
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION refuse_unbalanced_entry();

DROP TRIGGER journal_entry_after_lock_date ON journal_entry;
CREATE OR REPLACE FUNCTION refuse_locked_period() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.entry_date <= (SELECT lock_date FROM business WHERE id = NEW.business_id) THEN
    RAISE EXCEPTION 'an entry of % breaks constraint "journal_entry_after_lock_date"',
      NEW.entry_date
      USING ERRCODE = 'check_violation', CONSTRAINT = 'journal_entry_after_lock_date';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER journal_entry_after_lock_date AFTER INSERT ON journal_entry
  FOR EACH ROW EXECUTE FUNCTION refuse_locked_period();
