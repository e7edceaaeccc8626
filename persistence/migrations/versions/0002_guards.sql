-- Nothing of these is ever deleted: what was taken back stays, with the day on which it ended.
GRANT SELECT, INSERT, UPDATE ON
  write_off, customer_credit, customer_credit_allocation,
  invoice_refund, invoice_refund_allocation, invoice_refund_payment
TO accounting_server;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY[
    'write_off', 'customer_credit', 'customer_credit_allocation',
    'invoice_refund', 'invoice_refund_allocation', 'invoice_refund_payment'
  ] LOOP
    EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', tenant_table);
    EXECUTE format(
      'CREATE POLICY one_business ON %I USING (business_id = '
      '(SELECT nullif(current_setting(''app.business_id'', true), '''')::uuid))',
      tenant_table
    );
  END LOOP;
END
$$;
