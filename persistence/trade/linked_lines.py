"""The lines of bank statements as they are shown at the money that they are linked with."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from uuid import UUID

from sqlalchemy import and_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.values import dataclass
from persistence.engine.sql import Query, Row, compiled
from persistence.store import among, in_business
from persistence.tables import bank_account, bank_link, bank_transaction


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkedLine:
    """A line of a bank statement as it is shown at the money that it is linked with."""

    link_id: UUID
    target_id: UUID
    target_type: str
    amount: int
    linked_at: datetime
    memo: str | None
    transaction_id: UUID
    booked_on: date
    transaction_amount: int
    direction: str
    currency: str
    bank_account_name: str


Lines = tuple[LinkedLine, ...]
Linked = Mapping[UUID, Lines]
"""The lines that payments and payouts are linked with, by the id of these."""
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
    """The statement that reads the live links of targets, oldest first, with their lines."""
    row, line = bank_link.c, bank_transaction.c
    chosen = select(
        row.id.label("link_id"),
        *(row[name] for name in ("target_id", "target_type", "amount", "linked_at", "memo")),
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
    """The statement that reads the lines of targets, for `linked_of`."""
    return Query(LINES, {"ids": list(targets)})


def linked_of(rows: Iterable[Row]) -> Linked:
    """Make lines of the rows of `lines_where`, by the id of what they are linked with."""
    found: dict[UUID, list[LinkedLine]] = defaultdict(list)
    for row in rows:
        found[row["target_id"]].append(LinkedLine(**row))
    return {target: tuple(lines) for target, lines in found.items()}
