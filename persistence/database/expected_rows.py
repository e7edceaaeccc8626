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
# Of these each business gets as many as any other. None is the largest then: half of the table
# would be expected, and the table be read from end to end.
ALIKE = frozenset({"account", "tax_code"})

_TELLS = """
SELECT c.relname, %s = ANY(coalesce(a.attoptions, '{}'))
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relname = ANY(%s)
  AND a.attname = 'business_id'
ORDER BY c.relname
"""


def complete(connection: psycopg.Connection) -> None:
    """Tell it of each table of businesses; of those in `ALIKE` take back what was told."""
    names = [table.name for table in metadata.sorted_tables if table.info.get("tenant")]
    for name, told in connection.execute(_TELLS, (_TOLD, names)).fetchall():
        wanted = name not in ALIKE
        if told != wanted:
            change = f"SET ({_TOLD})" if wanted else "RESET (n_distinct)"
            connection.execute(
                SQL(f"ALTER TABLE {{}} ALTER COLUMN business_id {change}").format(Identifier(name))
            )
