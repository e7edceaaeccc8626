"""Distribution of the tables over the nodes of a Citus cluster (docs/decisions/0021).

Every tenant table is sharded by `business_id`, so that all rows of a business are on one node.
Tables above businesses are copied to each node. Steps that are done already are skipped, so an
interrupted run can be repeated, and every migration ends with the remaining steps.
"""

from collections.abc import Callable, Iterator
from typing import LiteralString

import psycopg
from psycopg.sql import SQL, Identifier, Literal

from persistence.database.poolers import refuse_transaction_pooler
from persistence.database.rights import Step
from persistence.engine.connections import SERVER_ROLE, connect
from persistence.engine.database_errors import UnusableDatabase
from persistence.tables import metadata

_FIRST = "account"  # All other tenant tables are colocated with this one.

# Functions that Citus runs on the node of the business, each as one remote call.
DELEGATED = (
    "audit_business(uuid)",
    "advance_months(uuid, text[], bigint)",
    "tag_documents(uuid, uuid[])",
)

# Settings of the database, so that each connection has them: `SET LOCAL` of the tenant reaches the
# nodes of the transaction, and distributed tables may have triggers.
SETTINGS: dict[LiteralString, str] = {
    "citus.propagate_set_commands": "local",
    "citus.enable_unsafe_triggers": "on",
}


def is_distributed(connection: psycopg.Connection) -> bool:
    """Return whether the tables of this database are distributed, if only some so far."""
    return bool(_rows(connection, "SELECT FROM pg_extension WHERE extname = 'citus'")) and bool(
        _rows(connection, "SELECT FROM pg_dist_partition WHERE logicalrelid = 'business'::regclass")
    )


def settings_left(connection: psycopg.Connection) -> list[str]:
    """List the settings that a session of a distributed database lacks.

    Empty if the database is not distributed.
    """
    if not is_distributed(connection):
        return []
    return [
        name
        for name, value in SETTINGS.items()
        if _rows(connection, "SELECT current_setting(%s, true)", name) != [(value,)]
    ]


def distribute(url: str, begin: Callable[[str], None], *, dry_run: bool) -> int:
    """Run the remaining steps and return how many there were; `begin` receives each step first.

    With `dry_run`, nothing is changed. Raises UnusableDatabase if there is no cluster, if a pooler
    is in between, or if a server uses the database.
    """
    with connect(url) as connection:
        refuse_transaction_pooler(url)
        _refuse_without_cluster(connection)
        if not dry_run:
            _refuse_in_use(connection)
        count = 0
        for step in steps(connection):
            count += 1
            begin(step.words)
            if not dry_run:
                _do(connection, step)
    return count


def complete(connection: psycopg.Connection) -> None:
    """Run the remaining steps in a distributed database, after a migration."""
    for step in steps(connection):
        _do(connection, step)


def steps(connection: psycopg.Connection) -> Iterator[Step]:
    """Yield the remaining steps, in order."""
    yield from _settings(connection)
    may_log_in = "SELECT FROM pg_roles WHERE rolname = %s AND rolcanlogin"
    if not _rows(connection, may_log_in, SERVER_ROLE):
        yield Step(
            f"let the coordinator reach the others as {SERVER_ROLE}",
            SQL("ALTER ROLE {} LOGIN").format(Identifier(SERVER_ROLE)),
        )
    yield from _copied_triggers(connection)
    yield from _tables(connection)
    yield from _triggers(connection)
    yield from _functions(connection)


def _settings(connection: psycopg.Connection) -> Iterator[Step]:
    for name, value in SETTINGS.items():
        if not _rows(
            connection,
            "SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase"
            " WHERE d.datname = current_database() AND s.setrole = 0 AND %s = ANY(s.setconfig)",
            f"{name}={value}",
        ):
            yield Step(
                f"set {name} to {value}",
                SQL("ALTER DATABASE {} SET {} = {}").format(
                    Identifier(connection.info.dbname), SQL(name), Literal(value)
                ),
            )


_THERE = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
_SPREAD = "SELECT logicalrelid::text FROM pg_dist_partition"


def _tables(connection: psycopg.Connection) -> Iterator[Step]:
    done = {name for (name,) in _rows(connection, _SPREAD)}
    first = metadata.tables[_FIRST]
    there = {name for (name,) in _rows(connection, _THERE)}
    left = [table for table in metadata.sorted_tables if table.name in there - done]
    for table in left:
        if not table.info.get("tenant") and not table.info.get("local"):
            yield Step(
                f"copy {table.name} to each machine",
                SQL("SELECT create_reference_table({})").format(Literal(table.name)),
            )
    own = [table for table in left if table.info.get("tenant")]
    for table in sorted(own, key=lambda table: table is not first):
        beside = "default" if table is first else _FIRST
        yield Step(
            f"spread {table.name} by business",
            SQL("SELECT create_distributed_table({}, 'business_id', colocate_with := {})").format(
                Literal(table.name), Literal(beside)
            ),
        )


# A trigger of a table that is copied to each node would run once on each. The server calls the
# audit functions itself instead.
_COPIED = """
SELECT t.tgrelid::regclass::text, t.tgname FROM pg_trigger t
WHERE t.tgrelid::regclass::text = ANY(%s) AND NOT t.tgisinternal ORDER BY 1, 2
"""


def _copied_triggers(connection: psycopg.Connection) -> Iterator[Step]:
    copied = [
        table.name
        for table in metadata.sorted_tables
        if not table.info.get("tenant") and not table.info.get("local")
    ]
    for table, name in _rows(connection, _COPIED, copied):
        yield Step(
            f"drop the trigger {name}, which would run once on each machine",
            SQL("DROP TRIGGER {} ON {}").format(Identifier(name), Identifier(table)),
        )


# Functions that run on the node of a row and lack a setting.
_WITHOUT = """
SELECT p.oid::regprocedure::text FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
WHERE p.pronamespace = 'public'::regnamespace AND l.lanname = 'plpgsql'
  AND (p.prorettype = 'trigger'::regtype OR p.proname LIKE '%%_rows' OR p.oid IN (
    SELECT to_regprocedure(signature) FROM unnest(%s::text[]) AS signature
  ))
  AND %s <> ALL(coalesce(p.proconfig, '{}'))
ORDER BY 1
"""
# These functions, and those they call, query distributed tables on the node where they run.
_READING = "citus.allow_nested_distributed_execution"


def _triggers(connection: psycopg.Connection) -> Iterator[Step]:
    for (signature,) in _rows(connection, _WITHOUT, [], f"{_READING}=on"):
        yield Step(
            f"let {signature} read on the machine of its row",
            SQL("ALTER FUNCTION {} SET {} = on").format(SQL(signature), SQL(_READING)),
        )
    # With a cached plan, Citus (14.0) still plans the local part again on each call and never frees
    # the earlier plan: 56 kB for each statement until the connection ends. A custom plan takes no
    # longer and leaks nothing.
    for (signature,) in _rows(
        connection, _WITHOUT, list(DELEGATED), "plan_cache_mode=force_custom_plan"
    ):
        yield Step(
            f"let {signature} keep no plan on the machine of its row",
            SQL("ALTER FUNCTION {} SET plan_cache_mode = force_custom_plan").format(SQL(signature)),
        )


_UNDELEGATED = """
SELECT signature FROM unnest(%s::text[]) AS signature
WHERE to_regprocedure(signature) IS NOT NULL AND to_regprocedure(signature) NOT IN (
  SELECT objid FROM pg_dist_object
  WHERE classid = 'pg_proc'::regclass AND force_delegation
)
"""


def _functions(connection: psycopg.Connection) -> Iterator[Step]:
    for (signature,) in _rows(connection, _UNDELEGATED, list(DELEGATED)):
        yield Step(
            f"run {signature} on the machine of its business",
            SQL(
                "SELECT create_distributed_function({}, 'business', colocate_with := {},"
                " force_delegation := true)"
            ).format(Literal(signature), Literal(_FIRST)),
        )


def _do(connection: psycopg.Connection, step: Step) -> None:
    connection.execute("SET citus.enable_unsafe_triggers = on")
    connection.execute("SET citus.enable_local_reference_table_foreign_keys = off")
    connection.execute(step.statement)


def _refuse_without_cluster(connection: psycopg.Connection) -> None:
    if not _rows(connection, "SELECT FROM pg_extension WHERE extname = 'citus'"):
        raise UnusableDatabase(
            "This PostgreSQL has no Citus, so that there are no machines to spread the tables over:"
            " run CREATE EXTENSION citus in the database, on each machine of the cluster, first."
        )
    if not _rows(connection, "SELECT FROM pg_dist_node WHERE shouldhaveshards AND isactive"):
        raise UnusableDatabase(
            "No machine of the cluster takes shards: add them with citus_add_node first."
        )


def _refuse_in_use(connection: psycopg.Connection) -> None:
    if _rows(
        connection,
        "SELECT FROM pg_stat_activity WHERE datname = current_database()"
        " AND application_name = 'accounting'",
    ):
        raise UnusableDatabase("A server is at work on this database: stop all of them first.")


def _rows(
    connection: psycopg.Connection, text: LiteralString, *parameters: object
) -> list[tuple[str, ...]]:
    return connection.execute(text, parameters).fetchall()
