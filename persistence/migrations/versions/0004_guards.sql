GRANT SELECT, INSERT, UPDATE ON
  vendor, bill_payment, bill_allocation, vendor_credit, vendor_credit_allocation,
  vendor_refund, vendor_refund_allocation, vendor_refund_payment
TO accounting_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON bill TO accounting_server;

DO $$
DECLARE
  tenant_table text;
BEGIN
  FOREACH tenant_table IN ARRAY ARRAY[
    'vendor', 'bill', 'bill_payment', 'bill_allocation', 'vendor_credit', 'vendor_credit_allocation',
    'vendor_refund', 'vendor_refund_allocation', 'vendor_refund_payment'
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
