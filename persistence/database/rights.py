"""Privileges in the database: roles, their settings, grants and row security.

Migrations create most of them once. A dump that is restored elsewhere lacks the roles and their
grants, so `accounting migrate` creates at its end whatever is missing, and a server does not start
without it. Steps that are done already are skipped.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, LiteralString

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier, Literal

from persistence.engine.connections import LIMITS, SERVER_ROLE, keep_for
from persistence.tables import audit_record, metadata, partner_audit_record

# Row security for the owner of the schema, and its explicit access to all businesses.


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


# Privileges of the server on a table, unless the next table has others. Posted history may only be
# added to.
_USUAL: Final = ("SELECT", "INSERT", "UPDATE")
_OTHERWISE: Final[dict[str, tuple[LiteralString, ...]]] = {
    **dict.fromkeys(("invoice", "bill", "journal_draft"), (*_USUAL, "DELETE")),
    **dict.fromkeys(("bank_reconciliation", "tax_return"), (*_USUAL, "DELETE")),
    "bank_transaction": (*_USUAL, "DELETE"),
    **dict.fromkeys(("partner_reply", "reply"), (*_USUAL, "DELETE")),
    **dict.fromkeys(("journal_entry", "journal_line", "cash_line"), ("SELECT", "INSERT")),
    **dict.fromkeys(("event", "stored_document"), ("SELECT", "INSERT")),
    "unplaced_event": ("SELECT", "INSERT", "DELETE"),
    "tagged_line": ("SELECT", "INSERT", "DELETE"),
    "upkeep": ("SELECT", "UPDATE"),
    "event_placement": ("SELECT",),  # `place_events` writes it.
    **dict.fromkeys(
        ("webhook_endpoint", "webhook_health", "webhook_secret", "webhook_delivery"),
        (*_USUAL, "DELETE"),
    ),
    "proof_run": ("SELECT", "INSERT"),
    "revoked_token": ("SELECT", "INSERT", "DELETE"),
    "request_count": (*_USUAL, "DELETE"),
    **dict.fromkeys(("audit_record", "audit_seal", "partner_audit_record"), ("SELECT",)),
    "alembic_version": ("SELECT",),  # Read at start, to compare the schema.
    "audited_table": (),
}
_WANTED: Final = {
    name: _OTHERWISE.get(name, _USUAL) for name in (*metadata.tables, "alembic_version")
}

# Functions that run with the rights of their owner, or create such functions, belong to the owner
# alone. The server may call these.
_SERVER_CALLS: Final = (
    *("audit_business", "audit_partner", "audit_revocation"),
    *("seal_audit_trail", "place_events"),
)
_OWNERS_OWN: Final = (
    *("audit_columns", "audit_table", "keep_audit_record", "keep_partner_audit_record"),
    "event_table",
    *("row_digest", "row_digest_steps", "write_audit_function", "write_row_function"),
)

_POLICY: Final = "one_business"
_OWN_ROWS: Final = SQL("business_id = nullif(current_setting('app.business_id', true), '')::uuid")

_SERVER: Final = Identifier(SERVER_ROLE)
_TRIES: Final = 5
# Roles are shared by all databases of a server; another migration may create them at the same time.
_RACED: Final = (
    *(errors.DuplicateObject, errors.UndefinedObject),
    *(errors.UniqueViolation, errors.InternalError_),
)


@dataclass(frozen=True, slots=True)
class Step:
    """A change of the database, in words and in SQL."""

    words: str
    statement: Composed


def make_roles(connection: psycopg.Connection) -> None:
    """Create the server's role and its settings, and allow this login to act as it."""
    _do(connection, _roles)


def grant(connection: psycopg.Connection, tell: Callable[[str], None]) -> None:
    """Grant the server exactly the privileges it needs, and configure its logins.

    `tell` receives each setting of a login, or why logins could not be changed.
    """
    connection.execute("SET lock_timeout = '3s'")
    _do(connection, steps_left)
    _do(connection, surplus)
    try:
        _do(connection, _logins, tell)
    except errors.InsufficientPrivilege as error:
        tell(
            f"Settings of logins are left to somebody who may change them ({error}):"
            " `accounting migrate --print-roles` prints how. Without a pooler nothing needs them."
        )


def steps_left(connection: psycopg.Connection) -> Iterator[Step]:
    """Yield the missing privileges and policies of a database that has its tables."""
    usage = "SELECT has_schema_privilege(%s, 'public', 'USAGE')"
    if _rows(connection, usage, SERVER_ROLE) == [(False,)]:
        yield _granting("USAGE", SQL("SCHEMA public"))
    for table, have in _granted(connection).items():
        missing = [each for each in _WANTED[table] if each not in have]
        if missing:
            yield _granting(", ".join(missing), Identifier(table))
    yield from _row_security(connection)
    yield from _functions(connection)


_ROLE_SCRIPT = """\
-- For an administrator, where the login of `accounting migrate` may not make roles. It may be run
-- again and again. What is granted on tables stays with `accounting migrate`, run by their owner.

DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {role}) THEN
    CREATE ROLE {role_name} NOLOGIN NOSUPERUSER NOBYPASSRLS;
  END IF;
END
$$;
{limits}

-- The login that owns the schema.
{owner}
"""
_LOGIN_SCRIPT = """
-- The login of the server. Without a password it comes in only where pg_hba.conf asks for none.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {login}) THEN
    CREATE ROLE {login_name} LOGIN;
  END IF;
END
$$;
{granted}
{settings}
"""


def script(login: str, owner: str) -> str:
    """Return the SQL with which an administrator creates the roles and their settings.

    `login` is the login of the server and `owner` owns the schema; they may be the same.
    """
    grants = SQL("GRANT {} TO {};")
    text = SQL(_ROLE_SCRIPT).format(
        role=Literal(SERVER_ROLE),
        role_name=_SERVER,
        limits=_lines(keep_for(SERVER_ROLE, [*LIMITS])),
        owner=grants.format(_SERVER, Identifier(owner)),
    )
    if login != owner:
        text += SQL(_LOGIN_SCRIPT).format(
            login=Literal(login),
            login_name=Identifier(login),
            granted=grants.format(_SERVER, Identifier(login)),
            settings=_lines(keep_for(login, ["role", *LIMITS])),
        )
    return text.as_string()


def _lines(statements: Sequence[Composed]) -> Composed:
    return SQL("\n").join(SQL("{};").format(each) for each in statements)


def _roles(connection: psycopg.Connection) -> Iterator[Step]:
    if not _rows(connection, "SELECT FROM pg_roles WHERE rolname = %s", SERVER_ROLE):
        yield Step(f"make the role {SERVER_ROLE}", SQL("CREATE ROLE {}").format(_SERVER))
    yield from _keeping(connection, SERVER_ROLE, [*LIMITS])
    # From PostgreSQL 16 on, the creator of a role may grant it without being able to act as it.
    may = "SET" if connection.info.server_version >= 160000 else "MEMBER"
    if _rows(connection, "SELECT pg_has_role(%s, %s)", SERVER_ROLE, may) == [(False,)]:
        yield Step(
            f"let this login act as {SERVER_ROLE}",
            SQL("GRANT {} TO {}").format(_SERVER, Identifier(_me(connection))),
        )


# Logins of servers. Logins that own a schema, here or in another database, are excluded: they run
# migrations, which take longer than the limits allow and need the owner's role.
_LOGINS = """
SELECT r.rolname FROM pg_roles r
WHERE r.rolcanlogin AND NOT r.rolsuper AND r.rolname NOT IN (%s, current_user)
  AND pg_has_role(r.oid, to_regrole(%s), 'MEMBER')
  AND NOT EXISTS (
    SELECT FROM (SELECT DISTINCT refobjid FROM pg_shdepend
                 WHERE refclassid = 'pg_authid'::regclass AND deptype = 'o') AS owner
    WHERE pg_has_role(r.oid, owner.refobjid, 'MEMBER'))
ORDER BY 1
"""


def _logins(connection: psycopg.Connection) -> Iterator[Step]:
    for (login,) in _rows(connection, _LOGINS, SERVER_ROLE, SERVER_ROLE):
        yield from _keeping(connection, login, ["role", *LIMITS])


_KEPT = """
SELECT split_part(unnest(s.setconfig), '=', 1) FROM pg_db_role_setting s
WHERE s.setrole = to_regrole(quote_ident(%s)) AND (
  s.setdatabase = 0
  OR s.setdatabase = (SELECT oid FROM pg_database WHERE datname = current_database()))
"""


def _keeping(connection: psycopg.Connection, login: str, names: list[str]) -> Iterator[Step]:
    """Yield the named settings that a role lacks; settings that it has stay as they are."""
    kept = {name for (name,) in _rows(connection, _KEPT, login)}
    missing = [name for name in names if name not in kept]
    for name, statement in zip(missing, keep_for(login, missing), strict=True):
        yield Step(f"set {name} of {login}", statement)


_GRANTED = """
SELECT c.relname, coalesce(array_agg(a.privilege_type) FILTER (WHERE r.rolname = %s), '{}')
FROM pg_class c
LEFT JOIN LATERAL aclexplode(c.relacl) a ON true
LEFT JOIN pg_roles r ON r.oid = a.grantee
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
GROUP BY 1 ORDER BY 1
"""


def _granted(connection: psycopg.Connection) -> dict[str, list[str]]:
    """Return the privileges of the server's role on each existing table."""
    return dict(_rows(connection, _GRANTED, SERVER_ROLE, [*_WANTED]))


def surplus(connection: psycopg.Connection) -> Iterator[Step]:
    """Yield the revocation of privileges that the server has and must not have."""
    for table, have in _granted(connection).items():
        too_much = [each for each in have if each not in _WANTED[table]]
        if too_much:
            yield Step(
                f"take {', '.join(too_much)} on {table} from {SERVER_ROLE}",
                SQL("REVOKE {} ON {} FROM {}").format(
                    SQL(", ".join(too_much)), Identifier(table), _SERVER
                ),
            )


# Row security is the second barrier after the stores: without a tenant it hides all rows.
_UNSECURED = """
SELECT c.relname, c.relrowsecurity, p.polname IS NOT NULL
FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid AND p.polname = %s
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
  AND NOT (c.relrowsecurity AND p.polname IS NOT NULL)
ORDER BY 1
"""


def _row_security(connection: psycopg.Connection) -> Iterator[Step]:
    tenants = [name for name, table in metadata.tables.items() if table.info.get("tenant")]
    for table, secured, has_policy in _rows(connection, _UNSECURED, _POLICY, tenants):
        if not secured:
            enabling = SQL("ALTER TABLE {} ENABLE ROW LEVEL SECURITY").format(Identifier(table))
            yield Step(f"enable row security of {table}", enabling)
        if not has_policy:
            policy = SQL("CREATE POLICY {} ON {} USING ({})")
            yield Step(
                f"show of {table} only rows of one business",
                policy.format(Identifier(_POLICY), Identifier(table), _OWN_ROWS),
            )


_FUNCTIONS = """
SELECT p.oid::regprocedure::text, p.proname,
  EXISTS (SELECT FROM aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
          WHERE a.grantee = 0),
  EXISTS (SELECT FROM aclexplode(p.proacl) a JOIN pg_roles r ON r.oid = a.grantee
          WHERE r.rolname = %s)
FROM pg_proc p
WHERE p.pronamespace = 'public'::regnamespace AND (p.prosecdef OR p.proname = ANY(%s))
  AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')
ORDER BY 1
"""


def _functions(connection: psycopg.Connection) -> Iterator[Step]:
    found = _rows(connection, _FUNCTIONS, SERVER_ROLE, [*_OWNERS_OWN])
    for signature, name, is_everybodys, is_servers in found:
        if is_everybodys:
            revoking = SQL("REVOKE EXECUTE ON FUNCTION {} FROM PUBLIC").format(SQL(signature))
            yield Step(f"keep {signature} from everybody", revoking)
        if name in _SERVER_CALLS and not is_servers:
            yield _granting("EXECUTE", SQL("FUNCTION {}").format(SQL(signature)))


def _granting(privileges: LiteralString, what: Composed | SQL | Identifier) -> Step:
    statement = SQL("GRANT {} ON {} TO {}").format(SQL(privileges), what, _SERVER)
    return Step(f"grant {privileges} on {what.as_string()}", statement)


def _do(
    connection: psycopg.Connection,
    steps: Callable[[psycopg.Connection], Iterator[Step]],
    tell: Callable[[str], None] = lambda _: None,
) -> None:
    """Run the steps; on a conflict with a concurrent run, compute the remaining steps again."""
    for tries_left in reversed(range(_TRIES)):
        try:
            for step in steps(connection):
                connection.execute(step.statement)
                tell(step.words)
            return
        except _RACED:
            if not tries_left:
                raise


def _me(connection: psycopg.Connection) -> str:
    [(name,)] = _rows(connection, "SELECT current_user")
    return str(name)


def _rows(
    connection: psycopg.Connection, text: LiteralString, *parameters: object
) -> list[tuple[Any, ...]]:
    return connection.execute(text, parameters).fetchall()
