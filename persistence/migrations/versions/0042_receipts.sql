ALTER TABLE stored_document
  DROP CONSTRAINT stored_document_linked_type_known_check,
  ADD CONSTRAINT stored_document_linked_type_known_check CHECK (linked_type IN ('customer', 'invoice', 'invoice_refund', 'customer_credit', 'vendor', 'bill', 'vendor_credit', 'vendor_refund', 'invoice_payment', 'bill_payment', 'bank_transaction', 'journal_entry'));
