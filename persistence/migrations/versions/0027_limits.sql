ALTER TABLE revoked_token ADD CONSTRAINT revoked_token_partner_id_fkey
  FOREIGN KEY (partner_id) REFERENCES partner (id);
GRANT SELECT, INSERT, DELETE ON revoked_token TO accounting_server;
GRANT SELECT, INSERT, UPDATE, DELETE ON request_count TO accounting_server;

-- Whoever has revoked a token calls this in the same transaction. It looks for itself whether the
-- token is revoked. The record has no digest: the row is gone when the token would have expired.
CREATE FUNCTION audit_revocation(partner uuid, token uuid) RETURNS void LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  IF EXISTS (
    SELECT FROM public.revoked_token r WHERE r.id = token AND r.partner_id = partner
  ) THEN
    PERFORM public.keep_partner_audit_record(
      'token', partner, token, 'update', NULL, NULL, NULL
    );
  END IF;
END
$$;
REVOKE EXECUTE ON FUNCTION audit_revocation FROM PUBLIC;
GRANT EXECUTE ON FUNCTION audit_revocation TO accounting_server;
