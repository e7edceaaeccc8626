-- Businesses of before create the customers and vendors of unknown external ids.
ALTER TABLE business ADD COLUMN unknown_parties TEXT NOT NULL DEFAULT 'create';
ALTER TABLE business ADD CONSTRAINT business_unknown_parties_check
  CHECK (unknown_parties IN ('create', 'refuse'));
SELECT audit_columns('business', ARRAY['unknown_parties'], '''create''');
