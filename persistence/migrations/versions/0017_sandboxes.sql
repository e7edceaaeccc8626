ALTER TABLE business ADD COLUMN sandbox TEXT;
ALTER TABLE business ADD COLUMN clock_seconds_ahead BIGINT;
ALTER TABLE business ADD CONSTRAINT business_sandbox_known_check
  CHECK (sandbox IN ('template', 'open', 'given_up'));
ALTER TABLE business ADD CONSTRAINT business_clock_moved_check
  CHECK (clock_seconds_ahead IS NULL OR clock_seconds_ahead > 0 AND sandbox IS NOT NULL);
CREATE INDEX business_sandbox_idx ON business (sandbox, created_at) WHERE sandbox IS NOT NULL;
SELECT audit_columns('business', ARRAY['sandbox', 'clock_seconds_ahead'], 'NULL, NULL');
