-- The accounts of unrealised exchange, with which businesses start from now on: under their own code,
-- or the next one of four digits that is free.
DO $$
DECLARE
  wanted record;
  moment timestamptz := clock_timestamp();
  free_code text;
BEGIN
  FOR wanted IN
    SELECT accounts.*, b.coa_language FROM business b, (VALUES
      ('unrealised_exchange_gains', 4660, 'revenue', 'finance_income', jsonb_build_object(
        'en', 'Unrealised exchange gains', 'de', 'Unrealisierte Kursgewinne',
        'nl', 'Ongerealiseerde koerswinsten', 'fr', 'Gains de change latents',
        'es', 'Diferencias positivas de cambio no realizadas')),
      ('unrealised_exchange_losses', 7060, 'expense', 'finance_costs', jsonb_build_object(
        'en', 'Unrealised exchange losses', 'de', 'Unrealisierte Kursverluste',
        'nl', 'Ongerealiseerde koersverliezen', 'fr', 'Pertes de change latentes',
        'es', 'Diferencias negativas de cambio no realizadas'))
    ) AS accounts (role, code, account_type, account_subtype, names)
    WHERE b.id = :business_id AND NOT EXISTS (
      SELECT FROM account a WHERE a.business_id = :business_id AND a.role = accounts.role
    )
  LOOP
    SELECT code.number::text INTO STRICT free_code
    FROM generate_series(wanted.code, 9999) AS code (number)
    WHERE NOT EXISTS (
      SELECT FROM account a WHERE a.business_id = :business_id AND a.code = code.number::text
    )
    ORDER BY code.number LIMIT 1;
    INSERT INTO account (
      business_id, id, version, created_at, updated_at, code, name, role, account_type,
      account_subtype
    ) VALUES (
      :business_id, audit_id(moment), 1, moment, moment, free_code,
      coalesce(wanted.names ->> wanted.coa_language, wanted.names ->> 'en'), wanted.role,
      wanted.account_type, wanted.account_subtype
    );
  END LOOP;
END
$$;
