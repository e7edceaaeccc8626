"""Roles and database settings, which a dump of the database does not contain.

Roles belong to the whole server, so the dump of one database does not create them. It does contain
their grants, which fail to restore if the roles do not exist.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Composed, Identifier, Literal

from persistence.database import rights
from persistence.engine.database_errors import UnusableDatabase

# Roles that objects of this database refer to, except for its owner, PostgreSQL's own roles and
# superusers.
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
# From PostgreSQL 16 on, the creator of a role may grant it without being able to act as it.
_ACTS = (
    "CASE WHEN current_setting('server_version_num')::int >= 160000 THEN 'SET' ELSE 'MEMBER' END"
)
# Tables whose row security binds this login, and whether the login has the owner's policy there,
# with which it can ask for all rows.
_BOUND = """
SELECT c.relname, EXISTS (
  SELECT FROM pg_policy p JOIN pg_roles r ON r.oid = ANY(p.polroles)
  WHERE p.polrelid = c.oid AND p.polname = %s AND p.polcmd = '*' AND r.rolname = current_user
)
FROM pg_class c
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
  AND row_security_active(c.oid)
ORDER BY 2, 1
"""
# A role without row security that this login may act as.
_UNBOUND = f"""
SELECT rolname FROM pg_roles
WHERE (rolbypassrls OR rolsuper) AND pg_has_role(session_user, oid, {_ACTS})
  AND has_table_privilege(oid, 'public.alembic_version', 'SELECT')
  AND has_table_privilege(oid, 'public.journal_line', 'SELECT')
ORDER BY rolsuper, rolname LIMIT 1
"""
# Policies for the owner of the backed-up tables.
_OF_OTHERS = """
SELECT c.relname, p.polname FROM pg_policy p
JOIN pg_class c ON c.oid = p.polrelid
JOIN pg_roles r ON p.polroles = ARRAY[r.oid]
WHERE c.relnamespace = 'public'::regnamespace AND r.rolname = %s AND c.relowner <> r.oid
"""


@dataclass(frozen=True, slots=True)
class Role:
    """A role that objects of the database refer to.

    `unbound` means BYPASSRLS; `logins` are its members, and `owners` whether the owner is one.
    """

    name: str
    unbound: bool
    settings: tuple[str, ...]
    logins: tuple[str, ...]
    owners: bool


def named_roles(connection: psycopg.Connection) -> list[Role]:
    """List the roles without which a dump cannot be restored."""
    return [
        Role(name, unbound, tuple(settings), tuple(logins), owners)
        for name, unbound, settings, logins, owners in connection.execute(_NAMED)
    ]


def database_settings(connection: psycopg.Connection) -> list[str]:
    """Read the settings of the database, as `name=value`."""
    return [setting for (setting,) in connection.execute(_SETTINGS)]


@dataclass(frozen=True, slots=True)
class Sight:
    """The means by which a login sees all rows: another role, the owner's policy, or neither."""

    role: str | None = None
    all_meant: bool = False

    @property
    def statements(self) -> list[Composed]:
        """The statements with which a transaction sees all rows."""
        taking = [SQL("SET LOCAL ROLE {}").format(Identifier(self.role))] if self.role else []
        meaning = [SQL(rights.SEE_EVERY_BUSINESS).format()] if self.all_meant else []
        return [*taking, *meaning]


def full_sight(connection: psycopg.Connection) -> Sight:
    """Return the means by which this login sees all rows.

    Raises UnusableDatabase if row security binds the login and it has no other role.
    """
    bound = connection.execute(_BOUND, (rights.POLICY,)).fetchall()
    if not bound:
        return Sight()
    table, is_ours = bound[0]
    if is_ours:  # True only if all tables have the policy: those without it come first.
        return Sight(all_meant=True)
    found = connection.execute(_UNBOUND).fetchone()
    if found is None:
        raise UnusableDatabase(
            f"Row security keeps rows of {table} from this login: a backup needs the owner of the"
            " schema after `accounting migrate`, or a login that may act as a role with BYPASSRLS"
            " which may read all tables."
        )
    return Sight(role=found[0])


def owner_of(connection: psycopg.Connection) -> str:
    """Return the name of the role that owns the tables."""
    [(name,)] = connection.execute(
        "SELECT pg_get_userbyid(relowner) FROM pg_class"
        " WHERE oid = 'public.alembic_version'::regclass"
    ).fetchall()
    owner: str = name
    return owner


def script(roles: list[Role], owner: str) -> str:
    """Return SQL that creates the roles, without passwords; it may be run repeatedly."""
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
    told.append("-- Who owned the tables: policies name it, until they are the new owner's.")
    told.append(_made(Role(owner, unbound=False, settings=(), logins=(), owners=False)))
    return "\n".join([*told, ""])


@contextmanager
def roles_made(connection: psycopg.Connection, text: str, owner: str) -> Iterator[None]:
    """Run the script of the roles, then the block that restores the dump.

    Afterwards, the policies of `owner`, who owned the backed-up tables, belong to this login.
    Raises UnusableDatabase if this login may not create a missing role.
    """
    known = "SELECT FROM pg_roles WHERE rolname = %s"
    is_known = connection.execute(known, (owner,)).fetchone() is not None
    try:
        connection.execute(text.encode())
    except errors.InsufficientPrivilege as error:
        raise UnusableDatabase(
            "The roles that the schema needs are not all here, and this login may make none:"
            " let an administrator run roles.sql of the backup with psql, then restore."
        ) from error
    try:
        yield
        for table, policy in connection.execute(_OF_OTHERS, (owner,)).fetchall():
            statement = SQL("ALTER POLICY {} ON {} TO CURRENT_USER")
            connection.execute(statement.format(Identifier(policy), Identifier(table)))
    finally:
        if not is_known:
            connection.execute(SQL("DROP ROLE {}").format(Identifier(owner)))


def set_all(connection: psycopg.Connection, settings: list[str]) -> None:
    """Apply settings, given as `name=value`, to the database."""
    for setting in settings:
        name, _, value = setting.partition("=")
        connection.execute(
            SQL("ALTER DATABASE {} SET {} = {}").format(
                Identifier(connection.info.dbname), Identifier(*name.split(".")), Literal(value)
            )
        )


def _made(role: Role) -> str:
    """Return SQL that creates a missing role and, if `owners`, grants it to the current login."""
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
