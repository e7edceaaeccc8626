-- Refunds from before are posted as they were: about the one thing that they give back of, or about
-- themselves.
ALTER TABLE vendor_refund ADD COLUMN by_target BOOLEAN DEFAULT false NOT NULL;
ALTER TABLE vendor_refund_payment ADD COLUMN shares JSONB DEFAULT '[]' NOT NULL;
SELECT audit_columns('vendor_refund', ARRAY['by_target'], 'false');
SELECT audit_columns('vendor_refund_payment', ARRAY['shares'], '''[]''::jsonb');
