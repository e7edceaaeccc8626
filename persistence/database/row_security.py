"""Row security that binds the owner of the schema as well, and the owner's deliberate way around.

Forced, it binds whoever is no superuser and has no BYPASSRLS: what forgets to name a business sees
nothing, be it a migration, a command or a function with its owner's rights. Whoever means all of
them says so in its transaction, by `app.every_business`. Only the owner is heard: the policy is its
own, so that the server's role gains nothing by saying the same.
"""

from collections.abc import Iterator

import psycopg
from psycopg.sql import SQL, Composed, Identifier

from persistence.tables import audit_record, metadata, partner_audit_record

SETTING = "app.every_business"
POLICY = "every_business"
SEE_EVERY_BUSINESS = f"SET LOCAL {SETTING} = 'on'"
SEES_EVERY_BUSINESS = f"SELECT coalesce(current_setting('{SETTING}', true), '') = 'on'"
# Of the trail, which functions with their owner's rights write, of whatever row was changed.
_TRAIL_POLICY = "kept_by_owner"

# The policy of the owner, and for whom it is: a database that was restored has another owner.
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
    """Force row security on each table that has it, in short transactions; done is left alone."""
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
    """Make a policy of the owner, or make it the owner's where it is somebody else's."""
    words = {"name": Identifier(name), "table": Identifier(table), "owner": Identifier(owner)}
    if fits is None:
        made = SQL("CREATE POLICY {name} ON {table} {commands} TO {owner} {condition}")
        yield made.format(**words, commands=commands, condition=condition)
    elif not fits:
        yield SQL("ALTER POLICY {name} ON {table} TO {owner}").format(**words)
