-- What credits of lines, refunds and relief have taken, by line; nothing of what is known by part alone.
ALTER TABLE invoice
  ADD COLUMN amounts_include_tax BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN reduced JSONB NOT NULL DEFAULT '[]';
ALTER TABLE bill
  ADD COLUMN amounts_include_tax BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN reduced JSONB NOT NULL DEFAULT '[]';
ALTER TABLE invoice_refund_allocation
  ADD COLUMN lines JSONB NOT NULL DEFAULT '[]',
  ADD COLUMN self_assessed JSONB NOT NULL DEFAULT '[]';
ALTER TABLE vendor_refund_allocation
  ADD COLUMN lines JSONB NOT NULL DEFAULT '[]',
  ADD COLUMN self_assessed JSONB NOT NULL DEFAULT '[]';
ALTER TABLE write_off
  ADD COLUMN tax_relief BOOLEAN NOT NULL DEFAULT false,
  ADD COLUMN relieved JSONB NOT NULL DEFAULT '[]',
  ADD COLUMN lines JSONB NOT NULL DEFAULT '[]';
SELECT audit_columns(name, ARRAY['amounts_include_tax', 'reduced'], 'false, ''[]''::jsonb')
FROM unnest(ARRAY['invoice', 'bill']) AS name;
SELECT audit_columns('write_off', ARRAY['tax_relief', 'relieved', 'lines'], 'false, ''[]''::jsonb, ''[]''::jsonb');
