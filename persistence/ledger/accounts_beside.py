"""Columns of a ledger account, joined to another row that refers to it."""

from typing import Any

from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from accounting.books.accounts import Account
from persistence.engine.sql import Row
from persistence.ledger.account_sql import NAMES

LEDGER = "ledger__"  # The prefix of the account's columns.


def account_columns(of: FromClause) -> tuple[ColumnElement[Any], ...]:
    """Return the prefixed columns of a ledger account."""
    return tuple(of.c[name].label(LEDGER + name) for name in NAMES)


def account_beside(row: Row) -> Account | None:
    """Remove the account's columns from a row and make the account, or None if they are null."""
    columns = {name: row.pop(LEDGER + name) for name in NAMES}
    return None if columns["id"] is None else Account(**columns)
