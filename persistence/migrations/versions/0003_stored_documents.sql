-- The records of files. The files lie in the storage under their keys; see persistence/files/blobs.py.

CREATE TABLE stored_document (
  business_id UUID NOT NULL,
  id UUID NOT NULL,
  created_at TIMESTAMP WITH TIME ZONE NOT NULL,
  file_name TEXT NOT NULL,
  file_size BIGINT NOT NULL,
  mime_type TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  document_type TEXT NOT NULL,
  upload_source TEXT,
  metadata JSONB NOT NULL,
  tags JSONB NOT NULL,
  linked_type TEXT,
  linked_id UUID,
  storage_key TEXT NOT NULL,
  CONSTRAINT stored_document_pkey PRIMARY KEY (business_id, id),
  CONSTRAINT stored_document_linked_type_known_check CHECK (linked_type IN ('customer', 'invoice', 'invoice_refund', 'customer_credit')),
  CONSTRAINT stored_document_linked_whole_check CHECK ((linked_type IS NULL) = (linked_id IS NULL)),
  CONSTRAINT stored_document_business_id_storage_key_key UNIQUE (business_id, storage_key),
  CONSTRAINT stored_document_business_id_fkey FOREIGN KEY(business_id) REFERENCES business (id)
);

CREATE INDEX stored_document_business_id_created_at_id_idx ON stored_document (business_id, created_at, id);

CREATE INDEX stored_document_business_id_linked_id_created_at_id_idx ON stored_document (business_id, linked_id, created_at, id);

-- A record never changes and is never taken away, and so is its file.
GRANT SELECT, INSERT ON stored_document TO accounting_server;

ALTER TABLE stored_document ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_business ON stored_document USING (business_id =
  (SELECT nullif(current_setting('app.business_id', true), '')::uuid));
