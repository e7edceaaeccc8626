"""Which schema a server is made for, and which ones of later releases it serves as well.

Migrations add first and take away a release later, so that servers of the release before go on
serving while those of the next take their places. Each migration says in `serves_from` the revision
of the oldest server that it leaves alive; the newest of these words stands in the database, as the
comment on Alembic's table, since an older server cannot know the migrations that came after it.
"""

from pathlib import Path
from typing import Final

# By their names: a worker does without Alembic, which takes 30 MB.
_VERSIONS = Path(__file__).parents[1] / "migrations" / "versions"
HEAD: Final = max(path.name[:4] for path in _VERSIONS.glob("[0-9]*.py"))

SCHEMA: Final = """
SELECT version_num AS revision,
       substring(obj_description('alembic_version'::regclass, 'pg_class') FROM '[0-9]{4}')
         AS serves_from
FROM alembic_version"""


def remark(serves_from: str) -> str:
    """Return the statement that says in the database which servers its schema serves."""
    words = f"Serves servers of revision {serves_from} and newer."
    return f"COMMENT ON TABLE alembic_version IS '{words}'"


def why_not_served(revision: str, serves_from: str | None) -> str | None:
    """Tell an operator why this server cannot serve a schema; None where it can.

    A server of 0026 serves 0028 where that serves servers from 0026 on, and no 0025.
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
