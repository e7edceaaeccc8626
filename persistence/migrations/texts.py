"""Migrations: SQL texts beside a revision that is numbered by hand and has no way back.

None may hold a lock for long, and the release before it must still work while it runs: expand
first, contract in a later release. Each says in `serves_from` the revision of the oldest server
that works on what it leaves behind (docs/decisions/0042).
"""

import re
from pathlib import Path

import psycopg
from alembic import op

from persistence.engine.distribution import complete, is_distributed

# One by one: what Citus sends on to the other machines is all of the text that it was sent.
_COMMENT = re.compile(r"--[^\n]*")
_STATEMENT = re.compile(r"(?:--[^\n]*|'[^']*'|(?P<tag>\$\w*\$).*?(?P=tag)|[^;])+", re.DOTALL)


def run_texts(revision_file: str, *names: str) -> None:
    """Run texts that lie beside a revision, waiting only a moment for each lock."""
    op.execute("SET LOCAL lock_timeout = '3s'")
    # On many machines one connection does all of it, so that each step sees those before.
    op.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    for name in names:
        # The driver is asked directly: the texts hold percent signs and colons of their own.
        text = Path(revision_file).with_name(name).read_text().replace("%", "%%")
        for found in _STATEMENT.finditer(text):
            if _COMMENT.sub("", found[0]).strip():
                op.get_bind().exec_driver_sql(found[0])


def spread_new_tables() -> None:
    """Spread what was made so far where tables are: only then they may refer to one another."""
    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection), "migrations run on psycopg"
    if is_distributed(driver):
        complete(driver)
