-- What is open is found without what is not.
CREATE INDEX invoice_open_idx ON invoice (business_id, party_id, id) INCLUDE (outstanding, due_at) WHERE outstanding > 0;
DROP INDEX invoice_business_id_party_id_outstanding_idx;
CREATE INDEX bill_open_idx ON bill (business_id, party_id, id) INCLUDE (outstanding, due_at) WHERE outstanding > 0;
DROP INDEX bill_business_id_party_id_outstanding_idx;
