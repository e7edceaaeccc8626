-- An invoice from before is dated by the moment when it was sent, whatever its issue date says, and
-- keeps that day. A bill always was dated by its own date.
ALTER TABLE invoice ADD COLUMN delivery_date DATE, ADD COLUMN dated_by_issue BOOLEAN DEFAULT false NOT NULL;
ALTER TABLE bill ADD COLUMN delivery_date DATE, ADD COLUMN dated_by_issue BOOLEAN DEFAULT true NOT NULL;
SELECT audit_columns('invoice', ARRAY['delivery_date', 'dated_by_issue'], 'NULL, false');
SELECT audit_columns('bill', ARRAY['delivery_date', 'dated_by_issue'], 'NULL, true');
