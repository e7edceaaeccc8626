"""How many rows of a table PostgreSQL expects of a business: as many as a large one has.

Statements by key are planned once for all businesses, and so are checks of foreign keys. Planned
for the average of many small ones, they read all that a large one has to find a row of it
(docs/decisions/0049).
"""

import psycopg
from psycopg.sql import SQL, Identifier

from persistence.tables import metadata

# As if there were two businesses. PostgreSQL never expects more than what the largest one has, and
# heeds it from the next ANALYZE on, autovacuum's as well.
_TOLD = "n_distinct=2"

_UNTOLD = """
SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
  AND a.attname = 'business_id' AND %s <> ALL(coalesce(a.attoptions, '{}'))
ORDER BY c.relname
"""


def complete(connection: psycopg.Connection) -> None:
    """Tell it of each table of businesses; what was told is left alone."""
    names = [table.name for table in metadata.sorted_tables if table.info.get("tenant")]
    for (name,) in connection.execute(_UNTOLD, (names, _TOLD)).fetchall():
        connection.execute(
            SQL(f"ALTER TABLE {{}} ALTER COLUMN business_id SET ({_TOLD})").format(Identifier(name))
        )
