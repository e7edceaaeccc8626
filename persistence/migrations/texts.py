"""Migrations that are SQL texts beside their revision."""

from pathlib import Path

from alembic import op


def run_texts(revision_file: str, *names: str) -> None:
    """Run texts that lie beside a revision."""
    for name in names:
        # The driver is asked directly: the texts hold percent signs and colons of their own.
        text = Path(revision_file).with_name(name).read_text().replace("%", "%%")
        op.get_bind().exec_driver_sql(text)
