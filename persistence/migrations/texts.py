"""Migrations: SQL texts beside a revision that is numbered by hand and has no way back.

None may hold a lock for long, and the release before it must still work while it runs: expand
first, contract in a later release. Each says in `serves_from` the revision of the oldest server
that works on what it leaves behind (docs/decisions/0042).
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from alembic import op

from persistence.database.distribution import complete, is_distributed
from persistence.database.row_security import SEE_EVERY_BUSINESS, SEES_EVERY_BUSINESS

# One by one: what Citus sends on to the other machines is all of the text that it was sent.
_COMMENT = re.compile(r"--[^\n]*")
_STATEMENT = re.compile(r"(?:--[^\n]*|'[^']*'|(?P<tag>\$\w*\$).*?(?P=tag)|[^;])+", re.DOTALL)


def run_texts(revision_file: str, *names: str) -> None:
    """Run texts that lie beside a revision, waiting only a moment for each lock."""
    _refuse_blindness()
    op.execute("SET LOCAL lock_timeout = '3s'")
    # On many machines one connection does all of it, so that each step sees those before.
    op.execute("SET LOCAL citus.multi_shard_modify_mode = 'sequential'")
    for name in names:
        for statement in _statements(revision_file, name):
            op.get_bind().exec_driver_sql(statement)


def run_beside_writers(revision_file: str, name: str) -> None:
    """Run a text without a transaction, as an index asks that is built while others write.

    All before it is committed then, and each of its statements may be run once more.
    """
    with op.get_context().autocommit_block():
        for statement in _statements(revision_file, name):
            op.get_bind().exec_driver_sql(statement)
    op.execute(SEE_EVERY_BUSINESS)


def run_for_each_business(revision_file: str, name: str) -> None:
    """Run a text for one business after the other, each in a transaction of its own.

    So nobody waits for more than one of them. All before it is committed then, and each may be run
    once more. Its statements say `:business_id`.
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
    """Yield what a text says, for the driver: it has percent signs and colons of its own."""
    text = Path(revision_file).with_name(name).read_text().replace("%", "%%")
    for found in _STATEMENT.finditer(text):
        if _COMMENT.sub("", found[0]).strip():
            yield found[0]


def _refuse_blindness() -> None:
    """Raise where row security would hide all rows: an UPDATE would touch none, and say nothing."""
    if not op.get_bind().exec_driver_sql(SEES_EVERY_BUSINESS).scalar():
        raise RuntimeError(f"A migration sees no rows before it says {SEE_EVERY_BUSINESS}.")


def spread_new_tables() -> None:
    """Spread what was made so far where tables are: only then they may refer to one another."""
    driver = _driver()
    if is_distributed(driver):
        complete(driver)


def _driver() -> psycopg.Connection[Any]:
    driver = op.get_bind().connection.driver_connection
    assert isinstance(driver, psycopg.Connection), "migrations run on psycopg"
    return driver
