"""What a database needs and its dump does not have: roles, and settings of the database.

Roles belong to a whole server, so that no dump of one database makes them; what is granted to them
is in it, and fails where they are not there.
"""

from dataclasses import dataclass

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier, Literal

from persistence.engine.faults import UnusableDatabase

# Who is named by anything in this database, but for its owner and PostgreSQL's own roles.
_NAMED = """
SELECT r.rolname, r.rolbypassrls,
  ARRAY(
    SELECT unnest(s.setconfig) FROM pg_db_role_setting s
    WHERE s.setrole = r.oid AND s.setdatabase = 0
  ) AS settings,
  ARRAY(
    SELECT m.rolname::text FROM pg_auth_members a JOIN pg_roles m ON m.oid = a.member
    WHERE a.roleid = r.oid AND m.rolcanlogin AND m.oid <> owned.by ORDER BY 1
  ) AS logins,
  EXISTS (SELECT FROM pg_auth_members a WHERE a.roleid = r.oid AND a.member = owned.by) AS owners
FROM pg_roles r,
  (SELECT relowner AS by FROM pg_class WHERE oid = 'public.alembic_version'::regclass) AS owned
WHERE r.oid IN (
  SELECT refobjid FROM pg_shdepend
  WHERE refclassid = 'pg_authid'::regclass
    AND dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
) AND r.oid <> owned.by AND r.rolname !~ '^pg_' AND NOT r.rolsuper
ORDER BY r.rolname
"""
_SETTINGS = """
SELECT unnest(s.setconfig) FROM pg_db_role_setting s
JOIN pg_database d ON d.oid = s.setdatabase
WHERE d.datname = current_database() AND s.setrole = 0 ORDER BY 1
"""
# What a role may be made by who made it, without becoming it: so says PostgreSQL 16 and newer.
_ACTS = (
    "CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END"
)
# Whoever is not bound by row security, among those that this login may act as.
_UNBOUND = f"""
SELECT rolname FROM pg_roles
WHERE (rolbypassrls OR rolsuper) AND pg_has_role(session_user, oid, {_ACTS})
  AND has_table_privilege(oid, 'public.alembic_version', 'SELECT')
  AND has_table_privilege(oid, 'public.journal_line', 'SELECT')
ORDER BY rolsuper, rolname LIMIT 1
"""
_BOUND = """
SELECT relname FROM pg_class
WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND row_security_active(oid)
ORDER BY 1 LIMIT 1
"""


@dataclass(frozen=True, slots=True)
class Role:
    """A role that things of a database name. `logins` act as it, and so may the owner."""

    name: str
    unbound: bool
    settings: tuple[str, ...]
    logins: tuple[str, ...]
    owners: bool


def named_roles(connection: psycopg.Connection) -> list[Role]:
    """Name the roles without which a dump cannot be restored."""
    return [
        Role(name, unbound, tuple(settings), tuple(logins), owners)
        for name, unbound, settings, logins, owners in connection.execute(_NAMED)
    ]


def database_settings(connection: psycopg.Connection) -> list[str]:
    """Read the settings of the database, as `name=value`."""
    return [setting for (setting,) in connection.execute(_SETTINGS)]


def unbound_role(connection: psycopg.Connection) -> str | None:
    """Find the role in which all rows are seen; None where this login sees them already.

    Raises UnusableDatabase where row security binds it and it may act as nobody else.
    """
    bound = connection.execute(_BOUND).fetchone()
    if bound is None:
        return None
    found = connection.execute(_UNBOUND).fetchone()
    if found is None:
        raise UnusableDatabase(
            f"Row security keeps rows of {bound[0]} from this login: a backup needs one that may"
            " act as a role with BYPASSRLS which may read all tables."
        )
    name: str = found[0]
    return name


def script(roles: list[Role]) -> str:
    """Write the roles as SQL that may be run again and again, without a password."""
    told = [
        "-- The roles that the schema needs, without passwords. `accounting restore` runs this; an",
        "-- administrator may run it before, with psql, where its login may make no roles.",
    ]
    for role in roles:
        told.append(_made(role))
        for login in role.logins:
            told.append(f"-- The login {login} acted as {role.name}. Make it with a password:")
            statement = SQL("CREATE ROLE {} LOGIN PASSWORD '...' IN ROLE {};").format(
                Identifier(login), Identifier(role.name)
            )
            told.append(f"-- {statement.as_string()}")
    return "\n".join([*told, ""])


def make_roles(connection: psycopg.Connection, text: str) -> None:
    """Run such a script; raises UnusableDatabase where this login may not."""
    try:
        connection.execute(text.encode())
    except errors.InsufficientPrivilege as error:
        raise UnusableDatabase(
            "The roles that the schema needs are not all here, and this login may make none:"
            " let an administrator run roles.sql of the backup with psql, then restore."
        ) from error


def set_all(connection: psycopg.Connection, settings: list[str]) -> None:
    """Give the database the settings that it had elsewhere."""
    for setting in settings:
        name, _, value = setting.partition("=")
        connection.execute(
            SQL("ALTER DATABASE {} SET {} = {}").format(
                Identifier(connection.info.dbname), Identifier(*name.split(".")), Literal(value)
            )
        )


def _made(role: Role) -> str:
    """Make a role where it is not there, and let whoever restores act as it."""
    name = Identifier(role.name)
    bypass = SQL("BYPASSRLS" if role.unbound else "NOBYPASSRLS")
    statements = [SQL("CREATE ROLE {} NOLOGIN NOSUPERUSER {}").format(name, bypass)]
    for setting in role.settings:
        key, _, value = setting.partition("=")
        statements.append(
            SQL("ALTER ROLE {} SET {} = {}").format(name, Identifier(key), Literal(value))
        )
    making = SQL("; ").join(statements)
    parts = [
        SQL(
            "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {}) THEN {};"
            " END IF; END $$;"
        ).format(Literal(role.name), making)
    ]
    if role.owners:
        parts.append(_granted(role))
    return "\n".join(part.as_string() for part in parts)


def _granted(role: Role) -> Composed:
    return SQL(
        "DO $$ BEGIN IF NOT pg_has_role(current_user, {}, {}) THEN"
        " EXECUTE format('GRANT {} TO %I', current_user); END IF; END $$;"
    ).format(Literal(role.name), SQL(_ACTS), Identifier(role.name))
