-- Payments that came back are few. Built beside writers.
DROP INDEX CONCURRENTLY IF EXISTS invoice_payment_returned_idx;
CREATE INDEX CONCURRENTLY invoice_payment_returned_idx ON invoice_payment (business_id, updated_at)
  WHERE jsonb_array_length(completions) > (status = 'completed')::integer;
DROP INDEX CONCURRENTLY IF EXISTS bill_payment_returned_idx;
CREATE INDEX CONCURRENTLY bill_payment_returned_idx ON bill_payment (business_id, updated_at)
  WHERE jsonb_array_length(completions) > (status = 'completed')::integer;
DROP INDEX CONCURRENTLY IF EXISTS invoice_refund_payment_returned_idx;
CREATE INDEX CONCURRENTLY invoice_refund_payment_returned_idx ON invoice_refund_payment (business_id, updated_at)
  WHERE jsonb_array_length(completions) > (status = 'completed')::integer;
DROP INDEX CONCURRENTLY IF EXISTS vendor_refund_payment_returned_idx;
CREATE INDEX CONCURRENTLY vendor_refund_payment_returned_idx ON vendor_refund_payment (business_id, updated_at)
  WHERE jsonb_array_length(completions) > (status = 'completed')::integer;
