-- What lists find and sort rows by: each derived status but overdue, which comes with the day, as a
-- column of its own, and an index for each order and for each filter that picks rows by one value.
-- The new columns of a table come in one statement: it writes the table anew, once, under a lock.

ALTER TABLE customer
  ADD COLUMN listed_name TEXT GENERATED ALWAYS AS (lower(coalesce(company_name, individual_name))) STORED,
  ADD COLUMN listed_email TEXT GENERATED ALWAYS AS (lower(email)) STORED;
CREATE INDEX customer_business_id_company_name_idx ON customer (business_id, company_name);
CREATE INDEX customer_business_id_individual_name_idx ON customer (business_id, individual_name);
CREATE INDEX customer_business_id_listed_email_idx ON customer (business_id, listed_email);
CREATE INDEX customer_business_id_listed_name_id_idx ON customer (business_id, listed_name, id);
CREATE INDEX customer_business_id_updated_at_id_idx ON customer (business_id, updated_at, id);

ALTER TABLE stored_document
  ADD COLUMN listed_name TEXT GENERATED ALWAYS AS (lower(file_name)) STORED;
CREATE INDEX stored_document_business_id_file_size_id_idx ON stored_document (business_id, file_size, id);
CREATE INDEX stored_document_business_id_linked_type_created_at_id_idx ON stored_document (business_id, linked_type, created_at, id);
CREATE INDEX stored_document_business_id_listed_name_id_idx ON stored_document (business_id, listed_name, id);

ALTER TABLE vendor
  ADD COLUMN listed_name TEXT GENERATED ALWAYS AS (lower(coalesce(company_name, individual_name))) STORED;
CREATE INDEX vendor_business_id_company_name_idx ON vendor (business_id, company_name);
CREATE INDEX vendor_business_id_individual_name_idx ON vendor (business_id, individual_name);
CREATE INDEX vendor_business_id_listed_name_id_idx ON vendor (business_id, listed_name, id);
CREATE INDEX vendor_business_id_updated_at_id_idx ON vendor (business_id, updated_at, id);

ALTER TABLE bill
  ADD COLUMN listed_due_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(due_at, '-infinity')) STORED,
  ADD COLUMN listed_number TEXT GENERATED ALWAYS AS (coalesce(number, '')) STORED,
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state = 'void' THEN 'voided' WHEN state = 'draft' THEN 'draft' WHEN paid + credited + written_off = total_amount AND paid > 0 AND refunded >= paid THEN 'refunded' WHEN paid + credited + written_off = total_amount AND written_off > 0 THEN 'written_off' WHEN paid + credited + written_off = total_amount THEN 'paid' WHEN written_off > 0 THEN 'partially_written_off' WHEN paid + credited > 0 THEN 'partially_paid' ELSE 'received' END) STORED;
CREATE INDEX bill_business_id_listed_due_at_id_idx ON bill (business_id, listed_due_at, id);
CREATE INDEX bill_business_id_listed_number_id_idx ON bill (business_id, listed_number, id);
CREATE INDEX bill_business_id_listed_status_listed_at_id_idx ON bill (business_id, listed_status, listed_at, id) INCLUDE (due_at);
CREATE INDEX bill_business_id_party_id_listed_at_id_idx ON bill (business_id, party_id, listed_at, id);
CREATE INDEX bill_business_id_total_amount_id_idx ON bill (business_id, total_amount, id);
CREATE INDEX bill_business_id_updated_at_idx ON bill (business_id, updated_at);

ALTER TABLE invoice
  ADD COLUMN listed_due_at TIMESTAMP WITH TIME ZONE GENERATED ALWAYS AS (coalesce(due_at, '-infinity')) STORED,
  ADD COLUMN listed_number TEXT GENERATED ALWAYS AS (coalesce(number, '')) STORED,
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state = 'void' THEN 'voided' WHEN state = 'draft' THEN 'draft' WHEN paid + credited + written_off = total_amount AND paid > 0 AND refunded >= paid THEN 'refunded' WHEN paid + credited + written_off = total_amount AND written_off > 0 THEN 'written_off' WHEN paid + credited + written_off = total_amount THEN 'paid' WHEN written_off > 0 THEN 'partially_written_off' WHEN paid + credited > 0 THEN 'partially_paid' ELSE 'sent' END) STORED;
CREATE INDEX invoice_business_id_listed_due_at_id_idx ON invoice (business_id, listed_due_at, id);
CREATE INDEX invoice_business_id_listed_number_id_idx ON invoice (business_id, listed_number, id);
CREATE INDEX invoice_business_id_listed_status_listed_at_id_idx ON invoice (business_id, listed_status, listed_at, id) INCLUDE (due_at);
CREATE INDEX invoice_business_id_party_id_listed_at_id_idx ON invoice (business_id, party_id, listed_at, id);
CREATE INDEX invoice_business_id_total_amount_id_idx ON invoice (business_id, total_amount, id);
CREATE INDEX invoice_business_id_updated_at_idx ON invoice (business_id, updated_at);

ALTER TABLE invoice_refund
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN cancelled_at IS NOT NULL THEN 'cancelled' WHEN paid = amount THEN 'paid' WHEN paid > 0 THEN 'processing' ELSE 'pending' END) STORED;
DROP INDEX invoice_refund_business_id_party_id_idx;
CREATE INDEX invoice_refund_business_id_amount_id_idx ON invoice_refund (business_id, amount, id);
CREATE INDEX invoice_refund_business_id_listed_status_created_at_id_idx ON invoice_refund (business_id, listed_status, created_at, id);
CREATE INDEX invoice_refund_business_id_party_id_created_at_id_idx ON invoice_refund (business_id, party_id, created_at, id);
CREATE INDEX invoice_refund_business_id_updated_at_idx ON invoice_refund (business_id, updated_at);

ALTER TABLE payout
  ADD COLUMN listed_reconciliation TEXT GENERATED ALWAYS AS (CASE WHEN linked = 0 THEN 'unreconciled' WHEN linked = abs(paid_out) THEN 'fully_reconciled' ELSE 'partially_reconciled' END) STORED;
CREATE INDEX payout_business_id_listed_reconciliation_listed_at_id_idx ON payout (business_id, listed_reconciliation, listed_at, id);
CREATE INDEX payout_business_id_paid_out_id_idx ON payout (business_id, paid_out, id);
CREATE INDEX payout_business_id_status_listed_at_id_idx ON payout (business_id, status, listed_at, id);
CREATE INDEX payout_business_id_updated_at_idx ON payout (business_id, updated_at);

DROP INDEX vendor_refund_business_id_party_id_idx;
CREATE INDEX vendor_refund_business_id_agreed_on_id_idx ON vendor_refund (business_id, agreed_on, id);
CREATE INDEX vendor_refund_business_id_amount_id_idx ON vendor_refund (business_id, amount, id);
CREATE INDEX vendor_refund_business_id_party_id_created_at_id_idx ON vendor_refund (business_id, party_id, created_at, id);
CREATE INDEX vendor_refund_business_id_updated_at_idx ON vendor_refund (business_id, updated_at);

CREATE INDEX bank_transaction_business_id_amount_id_idx ON bank_transaction (business_id, amount, id);
CREATE INDEX bank_transaction_business_id_updated_at_idx ON bank_transaction (business_id, updated_at);
CREATE INDEX bank_transaction_unreconciled_idx ON bank_transaction (business_id, booked_on, id) WHERE remaining > 0;

DROP INDEX bill_payment_business_id_party_id_idx;
CREATE INDEX bill_payment_business_id_party_id_payment_date_id_idx ON bill_payment (business_id, party_id, payment_date, id);
CREATE INDEX bill_payment_business_id_status_payment_date_id_idx ON bill_payment (business_id, status, payment_date, id);
CREATE INDEX bill_payment_business_id_total_id_idx ON bill_payment (business_id, total, id);
CREATE INDEX bill_payment_business_id_updated_at_idx ON bill_payment (business_id, updated_at);
CREATE INDEX bill_payment_unallocated_idx ON bill_payment (business_id, payment_date, id) WHERE allocated < total;

ALTER TABLE customer_credit
  ADD COLUMN listed_number TEXT GENERATED ALWAYS AS (coalesce(number, '')) STORED,
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state <> 'open' THEN state WHEN applied = total_amount THEN 'applied' WHEN applied > 0 THEN 'partially_applied' ELSE 'sent' END) STORED;
DROP INDEX customer_credit_business_id_party_id_idx;
CREATE INDEX customer_credit_business_id_listed_number_id_idx ON customer_credit (business_id, listed_number, id);
CREATE INDEX customer_credit_business_id_listed_status_listed_at_id_idx ON customer_credit (business_id, listed_status, listed_at, id);
CREATE INDEX customer_credit_business_id_party_id_listed_at_id_idx ON customer_credit (business_id, party_id, listed_at, id);
CREATE INDEX customer_credit_business_id_total_amount_id_idx ON customer_credit (business_id, total_amount, id);
CREATE INDEX customer_credit_business_id_updated_at_idx ON customer_credit (business_id, updated_at);

DROP INDEX invoice_payment_business_id_party_id_idx;
CREATE INDEX invoice_payment_business_id_party_id_payment_date_id_idx ON invoice_payment (business_id, party_id, payment_date, id);
CREATE INDEX invoice_payment_business_id_status_payment_date_id_idx ON invoice_payment (business_id, status, payment_date, id);
CREATE INDEX invoice_payment_business_id_total_id_idx ON invoice_payment (business_id, total, id);
CREATE INDEX invoice_payment_business_id_updated_at_idx ON invoice_payment (business_id, updated_at);
CREATE INDEX invoice_payment_unallocated_idx ON invoice_payment (business_id, payment_date, id) WHERE allocated < total;

ALTER TABLE vendor_credit
  ADD COLUMN listed_number TEXT GENERATED ALWAYS AS (coalesce(number, '')) STORED,
  ADD COLUMN listed_status TEXT GENERATED ALWAYS AS (CASE WHEN state <> 'open' THEN state WHEN applied = total_amount THEN 'applied' WHEN applied > 0 THEN 'partially_applied' ELSE 'received' END) STORED;
DROP INDEX vendor_credit_business_id_party_id_idx;
CREATE INDEX vendor_credit_business_id_listed_number_id_idx ON vendor_credit (business_id, listed_number, id);
CREATE INDEX vendor_credit_business_id_listed_status_listed_at_id_idx ON vendor_credit (business_id, listed_status, listed_at, id);
CREATE INDEX vendor_credit_business_id_party_id_listed_at_id_idx ON vendor_credit (business_id, party_id, listed_at, id);
CREATE INDEX vendor_credit_business_id_total_amount_id_idx ON vendor_credit (business_id, total_amount, id);
CREATE INDEX vendor_credit_business_id_updated_at_idx ON vendor_credit (business_id, updated_at);

ALTER TABLE vendor_refund_payment
  ADD COLUMN listed_payment_date DATE GENERATED ALWAYS AS (coalesce(payment_date, '-infinity')) STORED;
CREATE INDEX vendor_refund_payment_business_id_amount_id_idx ON vendor_refund_payment (business_id, amount, id);
CREATE INDEX vendor_refund_payment_business_id_listed_payment_date_id_idx ON vendor_refund_payment (business_id, listed_payment_date, id);
CREATE INDEX vendor_refund_payment_business_id_status_created_at_id_idx ON vendor_refund_payment (business_id, status, created_at, id);
CREATE INDEX vendor_refund_payment_business_id_updated_at_idx ON vendor_refund_payment (business_id, updated_at);
