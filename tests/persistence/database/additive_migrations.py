"""Harm of a migration to servers of the earlier release, by comparing catalogs before and after.

The texts of migrations are not read: changes made by functions or by Python count, too. The tests
of the earlier release on the schema cover changed bodies of functions and checks (`make
upgrade-check`).
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

_OF_OURS = "relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')"
_QUESTIONS = {
    # The type of a column, and whether an insert that does not name it fails.
    "columns": f"""
        SELECT c.relname || '.' || a.attname, format_type(a.atttypid, a.atttypmod),
               a.attnotnull AND NOT a.atthasdef AND a.attidentity = ''
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE {_OF_OURS} AND a.attnum > 0 AND NOT a.attisdropped""",
    # The file of a table changes when its rows are rewritten.
    "tables": f"SELECT relname, pg_relation_filenode(oid) FROM pg_class WHERE {_OF_OURS}",
    "functions": """
        SELECT proname || '(' || pg_get_function_identity_arguments(oid) || ')',
               format_type(prorettype, NULL)
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace""",
    # The columns of constraints and unique indexes.
    "rules": f"""
        SELECT c.relname || '.' || r.conname, ARRAY(
          SELECT c.relname || '.' || attname FROM pg_attribute
          WHERE attrelid = c.oid AND attnum = ANY (r.conkey)
        ), r.contype IN ('p', 'u', 'x')
        FROM pg_constraint r JOIN pg_class c ON c.oid = r.conrelid
        WHERE {_OF_OURS} AND r.contype <> 'n'""",
    "indexes": """
        SELECT c.relname || '.' || i.relname, ARRAY(
          SELECT c.relname || '.' || attname FROM pg_attribute
          WHERE attrelid = c.oid AND attnum = ANY (x.indkey)
        ), x.indisunique
        FROM pg_index x
        JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
        WHERE c.relnamespace = 'public'::regnamespace""",
    "rights": f"""
        SELECT relname || ': ' || word FROM pg_class,
          unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE']) AS word
        WHERE {_OF_OURS} AND has_table_privilege('accounting_server', oid, word)
        UNION ALL
        SELECT proname || '(' || pg_get_function_identity_arguments(oid) || '): EXECUTE'
        FROM pg_proc WHERE pronamespace = 'public'::regnamespace
          AND has_function_privilege('accounting_server', oid, 'EXECUTE')""",
}


@dataclass(frozen=True)
class Catalog:
    """The objects that servers use, each by its name."""

    columns: Mapping[str, tuple[str, bool]]
    tables: Mapping[str, tuple[int]]
    functions: Mapping[str, tuple[str]]
    rules: Mapping[str, tuple[list[str], bool]]
    indexes: Mapping[str, tuple[list[str], bool]]
    rights: Mapping[str, tuple[()]]


def catalog(connection: psycopg.Connection[Any]) -> Catalog:
    return Catalog(
        **{
            kind: {name: tuple(facts) for name, *facts in connection.execute(question)}
            for kind, question in _QUESTIONS.items()
        }
    )


def harm(before: Catalog, after: Catalog) -> set[str]:
    """Return the changes that servers of the earlier release would fail on or wait for."""
    return {*_gone(before, after), *_refused(before, after), *_waited_for(before, after)}


def _gone(before: Catalog, after: Catalog) -> Iterator[str]:
    for kind in ("columns", "tables", "functions", "rights"):
        for name in getattr(before, kind).keys() - getattr(after, kind).keys():
            yield f"{name} is gone"
    for name, (_, unique) in {**before.rules, **before.indexes}.items():
        if unique and name not in {**after.rules, **after.indexes}:
            yield f"{name} is gone, by which an insert may know its row"
    for name in before.columns.keys() & after.columns.keys():
        if before.columns[name][0] != after.columns[name][0]:
            yield f"{name} is {after.columns[name][0]} now"
    for name in before.functions.keys() & after.functions.keys():
        if before.functions[name] != after.functions[name]:
            yield f"{name} returns {after.functions[name][0]} now"


def _refused(before: Catalog, after: Catalog) -> Iterator[str]:
    for name, (_, needed) in after.columns.items():
        was_needed = before.columns.get(name, ("", False))[1]
        if needed and not was_needed and _table_of(name) in before.tables:
            yield f"{name} must be given"
    for name, (about, _) in after.rules.items():
        if name not in before.rules and about and set(about) <= before.columns.keys():
            yield f"{name} refuses what was allowed"


def _waited_for(before: Catalog, after: Catalog) -> Iterator[str]:
    for name, file in after.tables.items():
        if before.tables.get(name, file) != file:
            yield f"{name} is written anew"
    for name, (_, unique) in after.indexes.items():
        if name not in before.indexes and _table_of(name) in before.tables:
            yield f"{name} is built while nobody writes{', and refuses what repeats' * unique}"


def _table_of(name: str) -> str:
    return name.partition(".")[0]
