"""An account of the chart beside another row, which names it."""

from typing import Any

from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from accounting.books.accounts import Account
from persistence.engine.sql import Row
from persistence.ledger.account_sql import NAMES

LEDGER = "ledger__"  # Before the columns of the account of the chart, beside those of another row.


def account_columns(of: FromClause) -> tuple[ColumnElement[Any], ...]:
    """The columns of an account of the chart, to stand beside those of another row."""
    return tuple(of.c[name].label(LEDGER + name) for name in NAMES)


def account_beside(row: Row) -> Account | None:
    """Take the columns of an account out of a row; None where an outer join found none."""
    columns = {name: row.pop(LEDGER + name) for name in NAMES}
    return None if columns["id"] is None else Account(**columns)
