"""The bank accounts that money names, as stored: the id, and the ledger account beside it."""

from typing import Any
from uuid import UUID

from sqlalchemy import Table, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.payments import MoneyBank
from persistence.engine.sql import Row
from persistence.store import in_business
from persistence.tables import bank_account

_NAMED, _LEDGER = "bank_account_id", "bank_ledger_id"


def bank_columns(money: Table) -> tuple[ColumnElement[Any], ...]:
    """Return the columns of the bank account that a row of money names, for `take_bank`."""
    named = select(bank_account.c.account_id).where(
        in_business(bank_account), bank_account.c.id == money.c[_NAMED]
    )
    return money.c[_NAMED], named.scalar_subquery().label(_LEDGER)


def take_bank(row: Row) -> MoneyBank | None:
    """Remove the columns of the bank account from a row, and make it; None without one."""
    id_: UUID | None = row.pop(_NAMED)
    account_id = row.pop(_LEDGER)
    return None if id_ is None else MoneyBank(id_, account_id)
