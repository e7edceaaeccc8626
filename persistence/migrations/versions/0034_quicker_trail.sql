-- What a record of the audit trail costs: PostgreSQL sets all of an expression up before it knows
-- which part counts, and each PERFORM starts a query. So a row is digested step by step.

-- The statements that digest a row into a variable, as `row_digest` does in one expression.
CREATE FUNCTION row_digest_steps(lists jsonb, alias text, variable text) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  list jsonb;
  listed text;
  steps text := '';
BEGIN
  FOR list IN SELECT * FROM jsonb_array_elements(lists) LOOP
    listed := (
      SELECT string_agg(format('%s.%I', alias, name), ', ' ORDER BY place)
      FROM jsonb_array_elements_text(list -> 'columns') WITH ORDINALITY AS names (name, place)
    );
    steps := steps || CASE steps WHEN ''
      THEN format('%1$s := sha256(record_send(ROW(%2$s)));', variable, listed)
      ELSE format(
        'IF ROW(%2$s) IS DISTINCT FROM ROW(%3$s) THEN'
        ' %1$s := sha256(%1$s || record_send(ROW(%2$s))); END IF;',
        variable, listed, list ->> 'given'
      ) END;
  END LOOP;
  RETURN steps;
END
$$;
REVOKE EXECUTE ON FUNCTION row_digest_steps FROM PUBLIC;

-- The function of a table's triggers. It has its owner's rights and its own search path, and digests
-- text in one encoding, whatever that of the caller is. That a record is kept is asked for by an
-- assignment, which starts no query.
CREATE OR REPLACE FUNCTION write_audit_function(audited audited_table) RETURNS void
LANGUAGE plpgsql AS $writer$
BEGIN
  EXECUTE format(
    $text$
      CREATE OR REPLACE FUNCTION %1$I() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp SET client_encoding = 'UTF8' AS $$
      DECLARE
        owner uuid := coalesce(NEW.%4$I, OLD.%4$I);
        id uuid := coalesce(NEW.id, OLD.id);
        before_digest bytea;
        after_digest bytea;
        is_kept boolean;
      BEGIN
        IF TG_OP <> 'INSERT' THEN
          %5$s
        END IF;
        IF TG_OP <> 'DELETE' THEN
          %6$s
        END IF;
        is_kept := public.%2$I(
          %3$L, owner, id, lower(TG_OP), before_digest, after_digest, %7$s
        ) IS NOT NULL;
        RETURN NULL;
      END
      $$
    $text$,
    audited.name || '_audit', 'keep_' || audited.trail, audited.object_type, audited.owner_column,
    row_digest_steps(audited.column_lists, 'OLD', 'before_digest'),
    row_digest_steps(audited.column_lists, 'NEW', 'after_digest'),
    CASE audited.name
      WHEN 'business' THEN 'public.audited_changes(to_jsonb(OLD), to_jsonb(NEW))'
      ELSE 'NULL'
    END
  );
  -- Nobody else makes a trigger of it, on a table of their own.
  EXECUTE format('REVOKE EXECUTE ON FUNCTION %I FROM PUBLIC', audited.name || '_audit');
END
$writer$;

SELECT write_audit_function(a) FROM audited_table a;
