"""Row security for the owner of the schema, and its explicit access to all businesses.

Forced row security binds every role but superusers and roles with BYPASSRLS. A migration, a command
or a function with the rights of its owner sees no rows unless it names a business. To see all
businesses, the owner sets `app.every_business` in its transaction. That policy is granted to the
owner only, so the setting has no effect for the server's role.
"""

from collections.abc import Iterator

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from persistence.tables import audit_record, metadata, partner_audit_record

SETTING = "app.every_business"
POLICY = "every_business"
SEE_EVERY_BUSINESS = f"SET LOCAL {SETTING} = 'on'"
SEES_EVERY_BUSINESS = f"SELECT coalesce(current_setting('{SETTING}', true), '') = 'on'"
# Policy of the audit trail, which functions with the owner's rights write for every changed row.
_TRAIL_POLICY = "kept_by_owner"

# The owner's policies, and whether they name the current owner: a restored database has another.
_FOUND = f"""
SELECT c.relname, pg_get_userbyid(c.relowner), c.relforcerowsecurity,
       (SELECT p.polroles = ARRAY[c.relowner] FROM pg_policy p
        WHERE p.polrelid = c.oid AND p.polname = '{POLICY}'),
       (SELECT p.polroles = ARRAY[c.relowner] FROM pg_policy p
        WHERE p.polrelid = c.oid AND p.polname = '{_TRAIL_POLICY}')
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity AND c.relname = ANY(%s)
ORDER BY c.relname
"""
_MEANT = SQL(f"USING (current_setting('{SETTING}', true) = 'on')")
_TRAILS = {audit_record.name, partner_audit_record.name}


def complete(connection: psycopg.Connection) -> None:
    """Add forced row security and the owner's policies where they are missing.

    Each statement commits on its own, so locks are short.
    """
    connection.execute("SET lock_timeout = '3s'")
    for step in _steps(connection):
        connection.execute(step)


def _steps(connection: psycopg.Connection) -> Iterator[Composed]:
    names = [table.name for table in metadata.sorted_tables]
    for name, owner, forced, seen, kept in connection.execute(_FOUND, (names,)).fetchall():
        yield from _policy(name, POLICY, owner, seen, SQL("FOR ALL"), _MEANT)
        if name in _TRAILS:
            check = SQL("WITH CHECK (true)")
            yield from _policy(name, _TRAIL_POLICY, owner, kept, SQL("FOR INSERT"), check)
        if not forced:
            yield SQL("ALTER TABLE {} FORCE ROW LEVEL SECURITY").format(Identifier(name))


def _policy(
    table: str, name: str, owner: str, fits: bool | None, commands: SQL, condition: SQL
) -> Iterator[Composed]:
    """Yield the statement that creates a policy, or assigns it to the current owner."""
    words = {"name": Identifier(name), "table": Identifier(table), "owner": Identifier(owner)}
    if fits is None:
        made = SQL("CREATE POLICY {name} ON {table} {commands} TO {owner} {condition}")
        yield made.format(**words, commands=commands, condition=condition)
    elif not fits:
        yield SQL("ALTER POLICY {name} ON {table} TO {owner}").format(**words)
