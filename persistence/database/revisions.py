"""Schema revisions: the one this server is made for, and later ones on which it still works.

Migrations add first and remove one release later, so that servers of the previous release keep
working during a rolling upgrade. Each migration names in `serves_from` the revision of the oldest
server that works on its schema. The newest of these values is stored in the database, as the
comment on Alembic's table, because an older server does not know the migrations after it.
"""

from pathlib import Path
from typing import Final

# From the file names: this saves a worker the 30 MB of Alembic.
_VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"
HEAD: Final = max(path.name[:4] for path in _VERSIONS.glob("[0-9]*.py"))

SCHEMA: Final = """
SELECT version_num AS revision,
       substring(obj_description('alembic_version'::regclass, 'pg_class') FROM '[0-9]{4}')
         AS serves_from
FROM alembic_version"""


def remark(serves_from: str) -> str:
    """Return the statement that records in the database the oldest server it serves."""
    words = f"Serves servers of revision {serves_from} and newer."
    return f"COMMENT ON TABLE alembic_version IS '{words}'"


def why_not_served(revision: str, serves_from: str | None) -> str | None:
    """Return why this server cannot work on a schema, as a message to an operator, or None.

    A server of 0026 works on schema 0028 if that serves servers from 0026 on; never on 0025.
    """
    if revision == HEAD or (serves_from is not None and serves_from <= HEAD < revision):
        return None
    if revision < HEAD:
        return (
            f"The database stands at {revision} and this server needs {HEAD}:"
            " run `accounting migrate`, with the version of the server that is to serve."
        )
    return (
        f"The database stands at {revision}, which serves servers of {serves_from or revision} and"
        f" newer, and this one is of {HEAD}: run a newer version of the server."
    )
