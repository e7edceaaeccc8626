ALTER TABLE account ADD COLUMN cash_flow TEXT;
ALTER TABLE account ADD CONSTRAINT account_cash_flow_known_check
  CHECK (cash_flow IN ('cash', 'operating', 'investing', 'financing', 'non_cash'));
ALTER TABLE account ADD CONSTRAINT account_cash_flow_of_balance_sheet_check
  CHECK (cash_flow IS NULL OR account_type IN ('asset', 'liability', 'equity'));
SELECT audit_columns('account', ARRAY['cash_flow'], 'NULL');

-- Rules know the account of depreciation by its role from now on: the one that was made together with
-- the business, however it is called by now, else the one that has its code. Row by row, as Citus asks for.
DO $$
DECLARE
  owner record;
  found uuid;
BEGIN
  FOR owner IN SELECT b.id, b.created_at FROM business b ORDER BY b.id LOOP
    SELECT a.id INTO found FROM account a
    WHERE a.business_id = owner.id AND a.role IS NULL AND a.account_subtype = 'non_current_assets'
      AND (a.code = '1650' OR a.created_at = owner.created_at AND a.name IN (
        'Accumulated depreciation', 'Kumulierte Abschreibungen', 'Cumulatieve afschrijvingen',
        'Amortissements cumulés', 'Amortización acumulada'
      ))
    ORDER BY a.created_at = owner.created_at DESC, a.code = '1650' DESC, a.code LIMIT 1;
    IF found IS NOT NULL THEN
      UPDATE account
      SET role = 'accumulated_depreciation', version = version + 1, updated_at = clock_timestamp()
      WHERE business_id = owner.id AND id = found;
    END IF;
  END LOOP;
END
$$;
