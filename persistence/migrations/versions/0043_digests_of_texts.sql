-- Null in rows from before: nobody knows what their texts were.
ALTER TABLE journal_entry ADD COLUMN lines_digest TEXT;
SELECT audit_columns('journal_entry', ARRAY['lines_digest'], 'NULL');
ALTER TABLE reply ADD COLUMN digest BYTEA;
ALTER TABLE partner_reply ADD COLUMN digest BYTEA;
