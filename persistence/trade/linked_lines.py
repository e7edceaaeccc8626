"""Bank lines as shown on the payments and payouts with which they are linked."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from types import MappingProxyType
from uuid import UUID

from sqlalchemy import and_, select
from sqlalchemy.sql.elements import ColumnElement

from persistence.engine.sql import Query, Row, compiled
from persistence.store import among, in_business
from persistence.tables import bank_account, bank_link, bank_transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedLine:
    """A link of a payment or payout with a bank line, and the line itself."""

    link_id: UUID
    target_id: UUID
    target_type: str
    amount: int
    linked_at: datetime
    memo: str | None
    back: bool
    transaction_id: UUID
    booked_on: date
    transaction_amount: int
    direction: str
    currency: str
    bank_account_name: str


Lines = tuple[LinkedLine, ...]
Linked = Mapping[UUID, Lines]
"""The bank lines linked with payments and payouts, by the id of the payment or payout."""
NOTHING: Linked = MappingProxyType({})

ALIVE = bank_link.c.ended_at.is_(None)
_TRANSACTION_OF_LINK = and_(
    in_business(bank_transaction),
    bank_transaction.c.id == bank_link.c.transaction_id,
)
_BANK_ACCOUNT = and_(
    in_business(bank_account),
    bank_account.c.id == bank_transaction.c.bank_account_id,
)


def lines_where(targets: ColumnElement[bool]) -> str:
    """Return the statement that reads the live links of targets and their lines, oldest first."""
    row, line = bank_link.c, bank_transaction.c
    chosen = select(
        row.id.label("link_id"),
        *(
            row[name]
            for name in ("target_id", "target_type", "amount", "linked_at", "memo", "back")
        ),
        line.id.label("transaction_id"),
        line.booked_on,
        line.amount.label("transaction_amount"),
        line.direction,
        line.currency,
        bank_account.c.display_name.label("bank_account_name"),
    ).select_from(
        bank_link.join(bank_transaction, _TRANSACTION_OF_LINK).join(bank_account, _BANK_ACCOUNT)
    )
    return compiled(chosen.where(in_business(bank_link), targets, ALIVE).order_by(row.id))


LINES = lines_where(among(bank_link.c.target_id))


def reading_lines(targets: Sequence[UUID]) -> Query:
    """Return the statement that reads the bank lines of targets, for `linked_of`."""
    return Query(LINES, {"ids": list(targets)})


def linked_of(rows: Iterable[Row]) -> Linked:
    """Make lines from the rows of `lines_where`, by the id of the payment or payout."""
    found: dict[UUID, list[LinkedLine]] = defaultdict(list)
    for row in rows:
        found[row["target_id"]].append(LinkedLine(**row))
    return {target: tuple(lines) for target, lines in found.items()}
