"""Execution of migrations: SQL files next to manually numbered revisions, without downgrades.

A migration may hold no lock for long, and servers of the previous release must work while it runs:
expand first, contract in a later release. Each names in `serves_from` the revision of the oldest
server that works on its schema (docs/decisions/0042).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from alembic import op

from persistence.database.distribution import complete, is_distributed
from persistence.database.rights import SEE_EVERY_BUSINESS, SEES_EVERY_BUSINESS

# For sending statements one by one: Citus forwards the whole received text to the other nodes.
_COMMENT = re.compile(r"--[^\n]*")
_STATEMENT = re.compile(r"(?:--[^\n]*|'[^']*'|(?P<tag>\$\w*\$).*?(?P=tag)|[^;])+", re.DOTALL)


def run_texts(revision_file: str, *names: str) -> None:
    """Run SQL files next to a revision, with a lock time-out of 3 seconds."""
    _refuse_blindness()
    op.execute("SET LOCAL lock_timeout = '3s'")
    # On a cluster, one connection per node runs all steps, so that each sees the previous ones.
    op.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    for name in names:
        for statement in _statements(revision_file, name):
            op.get_bind().exec_driver_sql(statement)


def run_beside_writers(revision_file: str, name: str) -> None:
    """Run an SQL file outside a transaction, as concurrent builds of indexes require.

    This commits all previous steps, so each of its statements must be repeatable.
    """
    with op.get_context().autocommit_block():
        for statement in _statements(revision_file, name):
            op.get_bind().exec_driver_sql(statement)
    op.execute(SEE_EVERY_BUSINESS)


def run_for_each_business(revision_file: str, name: str) -> None:
    """Run an SQL file for each business, in a transaction per business to keep locks short.

    This commits all previous steps, so the file must be repeatable. Its statements use
    `:business_id`.
    """
    statements = list(_statements(revision_file, name))
    with op.get_context().autocommit_block():
        driver = _driver()
        with driver.transaction():
            driver.execute(SEE_EVERY_BUSINESS)
            businesses = driver.execute("SELECT id FROM business ORDER BY id").fetchall()
        for (business_id,) in businesses:
            with driver.transaction():
                driver.execute(SEE_EVERY_BUSINESS)
                for statement in statements:
                    named = statement.replace(":business_id", f"'{business_id}'")
                    op.get_bind().exec_driver_sql(named)
    op.execute(SEE_EVERY_BUSINESS)


def _statements(revision_file: str, name: str) -> Iterator[str]:
    """Yield the statements of an SQL file, with percent signs doubled for the driver."""
    text = Path(revision_file).with_name(name).read_text().replace("%", "%%")
    for found in _STATEMENT.finditer(text):
        if _COMMENT.sub("", found[0]).strip():
            yield found[0]


def _refuse_blindness() -> None:
    """Raise RuntimeError if row security hides all rows, as an UPDATE would then change none."""
    if not op.get_bind().exec_driver_sql(SEES_EVERY_BUSINESS).scalar():
        raise RuntimeError(f"A migration sees no rows before it says {SEE_EVERY_BUSINESS}.")


def spread_new_tables() -> None:
    """Distribute new tables on a cluster, which must happen before foreign keys between them."""
    driver = _driver()
    if is_distributed(driver):
        complete(driver)


def _driver() -> psycopg.Connection[Any]:
    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection), "migrations run on psycopg"
    return driver
