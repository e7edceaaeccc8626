"""Planner statistics: PostgreSQL expects as many rows of each business as a large one has.

Statements by key, and the checks of foreign keys, are planned once for all businesses. Planned for
the average of many small businesses, they read all rows of a large one to find one row
(docs/decisions/0049).
"""

import psycopg
from psycopg.sql import SQL, Identifier

from persistence.tables import metadata

# As if there were two businesses; PostgreSQL never expects more rows than the largest one has. It
# applies from the next ANALYZE on, including that of autovacuum.
_TOLD = "n_distinct=2"
# Every business has about the same number of these rows. There is no largest one, so PostgreSQL
# would expect half of the table and scan all of it.
ALIKE = frozenset({"account", "tax_code"})

_TELLS = """
SELECT c.relname, %s = ANY(coalesce(a.attoptions, '{}'))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
  AND a.attname = 'business_id'
ORDER BY c.relname
"""


def complete(connection: psycopg.Connection) -> None:
    """Set the statistics of each tenant table, and reset those of the tables in `ALIKE`."""
    names = [table.name for table in metadata.sorted_tables if table.info.get("tenant")]
    for name, told in connection.execute(_TELLS, (_TOLD, names)).fetchall():
        wanted = name not in ALIKE
        if told != wanted:
            change = f"SET ({_TOLD})" if wanted else "RESET (n_distinct)"
            connection.execute(
                SQL(f"ALTER TABLE {{}} ALTER COLUMN business_id {change}").format(Identifier(name))
            )
