"""Migrations: SQL texts beside a revision that is numbered by hand and has no way back.

None may hold a lock for long, and the release before it must still work while it runs: expand
first, contract in a later release.
"""

from pathlib import Path

from alembic import op


def run_texts(revision_file: str, *names: str) -> None:
    """Run texts that lie beside a revision, waiting only a moment for each lock."""
    op.execute("SET LOCAL lock_timeout = '3s'")
    for name in names:
        # The driver is asked directly: the texts hold percent signs and colons of their own.
        text = Path(revision_file).with_name(name).read_text().replace("%", "%%")
        op.get_bind().exec_driver_sql(text)
