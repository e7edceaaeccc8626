"""Cash lines, and monthly sums on both bases."""

from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0024"
down_revision = "0023"


def upgrade() -> None:
    run_texts(__file__, "0024_tables.sql")
    spread_new_tables()
    run_texts(__file__, "0024_two_bases.sql", "0024_books_of_before.sql")
