"""Tax codes, tax marks of posted lines, and accounts for withheld tax."""

from alembic import op

from persistence.migrations.first_tax_codes import give_first_tax_codes
from persistence.migrations.texts import run_texts, spread_new_tables

revision = "0018"
down_revision = "0017"


def upgrade() -> None:
    run_texts(__file__, "0018_tax_codes.sql")
    spread_new_tables()
    run_texts(__file__, "0018_coded_lines.sql")
    give_first_tax_codes(op.get_bind())
