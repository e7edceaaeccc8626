-- The accounts that businesses start with from now on come to those that are there: under their own
-- code, or the next one of four digits that is free. Other operating income is there already, under
-- whatever code: it was made together with the business. Row by row, as Citus asks for.
DO $$
DECLARE
  owner record;
  wanted record;
  found uuid;
  moment timestamptz;
  free_code text;
BEGIN
  FOR owner IN SELECT b.id, b.created_at, b.coa_language FROM business b ORDER BY b.id LOOP
    moment := clock_timestamp();
    SELECT a.id INTO found FROM account a
    WHERE a.business_id = owner.id AND a.role IS NULL
      AND a.account_subtype = 'other_operating_income'
      AND (a.code = '4500' OR a.created_at = owner.created_at)
    ORDER BY a.created_at = owner.created_at DESC, a.code LIMIT 1;
    IF found IS NOT NULL THEN
      UPDATE account SET role = 'other_operating_income', version = version + 1, updated_at = moment
      WHERE business_id = owner.id AND id = found;
    END IF;
    FOR wanted IN
      SELECT * FROM (VALUES
        ('processor_reserve', 1160, 'asset', 'current_assets', jsonb_build_object(
          'en', 'Processor reserve', 'de', 'Einbehalt Zahlungsdienstleister',
          'nl', 'Reserve bij betaalproviders', 'fr', 'Réserve chez les prestataires de paiement',
          'es', 'Reserva en proveedores de pago')),
        ('chargebacks', 6150, 'expense', 'operating_expenses', jsonb_build_object(
          'en', 'Chargebacks', 'de', 'Rückbuchungen', 'nl', 'Terugboekingen',
          'fr', 'Rétrofacturations', 'es', 'Contracargos')),
        ('other_operating_income', 4500, 'revenue', 'other_operating_income', jsonb_build_object(
          'en', 'Other operating income', 'de', 'Sonstige betriebliche Erträge',
          'nl', 'Overige bedrijfsopbrengsten', 'fr', 'Autres produits d''exploitation',
          'es', 'Otros ingresos de explotación'))
      ) AS accounts (role, code, account_type, account_subtype, names)
    LOOP
      CONTINUE WHEN EXISTS (
        SELECT FROM account a WHERE a.business_id = owner.id AND a.role = wanted.role
      );
      SELECT code.number::text INTO STRICT free_code
      FROM generate_series(wanted.code, 9999) AS code (number)
      WHERE NOT EXISTS (
        SELECT FROM account a WHERE a.business_id = owner.id AND a.code = code.number::text
      )
      ORDER BY code.number LIMIT 1;
      INSERT INTO account (
        business_id, id, version, created_at, updated_at, code, name, role, account_type,
        account_subtype
      ) VALUES (
        owner.id, audit_id(moment), 1, moment, moment, free_code,
        coalesce(wanted.names ->> owner.coa_language, wanted.names ->> 'en'), wanted.role,
        wanted.account_type, wanted.account_subtype
      );
    END LOOP;
  END LOOP;
END
$$;
