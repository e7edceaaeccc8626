"""The chart of accounts as it is stored, with balances computed from the journal."""

from collections import OrderedDict
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    BigInteger,
    Date,
    Text,
    and_,
    any_,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.accounts import Account, AccountReference
from accounting.chart import Role
from accounting.ledger import balance
from persistence.statements import Query, Row, compiled, given
from persistence.store import Store, among, in_business
from persistence.tables import account, journal_entry, journal_line
from persistence.wire import Answers, Question

NAMES = tuple(item.name for item in fields(Account))
MOST_REMEMBERED = 10_000


@dataclass(frozen=True, slots=True)
class AccountState:
    """An account with its turnovers in minor units, all time and within the period asked for."""

    account: Account
    debits: int
    credits: int
    debit_count: int
    credit_count: int
    period_debits: int
    period_credits: int
    last_entry_date: date | None
    last_entry_reference: str | None

    @property
    def id(self) -> UUID:
        return self.account.id

    @property
    def version(self) -> int:
        return self.account.version

    @classmethod
    def untouched(cls, account: Account) -> "AccountState":
        """A new account: nothing was posted to it."""
        return cls(account, 0, 0, 0, 0, 0, 0, None, None)

    @property
    def balance(self) -> int:
        """All postings ever, positive on the account's normal side."""
        return self._balance(self.debits, self.credits)

    @property
    def movement(self) -> int:
        """The postings of the period, positive on the account's normal side."""
        return self._balance(self.period_debits, self.period_credits)

    def _balance(self, debits: int, credits_: int) -> int:
        kind, behavior = self.account.account_type, self.account.balance_behavior
        return balance(kind, debits, credits_, behavior)


def _sum(column: ColumnElement[int], label: str) -> ColumnElement[int]:
    return cast(func.sum(column), BigInteger).label(label)


def _turnovers(*, chosen: bool) -> Any:
    within = journal_line.c.entry_date.between(given("date_from", Date), given("date_to", Date))
    none: ColumnElement[int] = literal_column("0")
    statement = select(
        journal_line.c.account_id,
        _sum(journal_line.c.debit, "debits"),
        _sum(journal_line.c.credit, "credits"),
        func.count().filter(journal_line.c.debit > none).label("debit_count"),
        func.count().filter(journal_line.c.credit > none).label("credit_count"),
        cast(func.sum(journal_line.c.debit).filter(within), BigInteger).label("period_debits"),
        cast(func.sum(journal_line.c.credit).filter(within), BigInteger).label("period_credits"),
        func.max(journal_line.c.entry_date).label("last_entry_date"),
    ).where(in_business(journal_line))
    if chosen:
        statement = statement.where(among(journal_line.c.account_id))
    return statement.group_by(journal_line.c.account_id).subquery("turnover")


_LAST_REFERENCE = (
    select(journal_entry.c.reference)
    .select_from(
        journal_line.join(
            journal_entry,
            and_(
                journal_entry.c.business_id == journal_line.c.business_id,
                journal_entry.c.id == journal_line.c.entry_id,
            ),
        )
    )
    .where(
        journal_line.c.business_id == account.c.business_id,
        journal_line.c.account_id == account.c.id,
    )
    .order_by(journal_line.c.entry_date.desc(), journal_line.c.id.desc())
    .limit(literal_column("1"))
    .scalar_subquery()
)


def _states(*, chosen: bool) -> str:
    turnover = _turnovers(chosen=chosen)
    none: ColumnElement[int] = literal_column("0")
    amounts = (
        "debits",
        "credits",
        "debit_count",
        "credit_count",
        "period_debits",
        "period_credits",
    )
    statement = (
        select(
            *(account.c[name] for name in NAMES),
            *(func.coalesce(turnover.c[name], none).label(name) for name in amounts),
            turnover.c.last_entry_date,
            _LAST_REFERENCE.label("last_entry_reference"),
        )
        .select_from(account.outerjoin(turnover, turnover.c.account_id == account.c.id))
        .where(in_business(account))
        .order_by(account.c.code, account.c.id)
    )
    return compiled(statement.where(among(account.c.id)) if chosen else statement)


CHART = _states(chosen=False)
BY_ID = _states(chosen=True)
ROLES = compiled(
    select(account.c.id, account.c.role).where(in_business(account), account.c.role.is_not(None))
)
_NAMED = or_(
    cast(account.c.id, Text) == any_(given("references", ARRAY(Text()))),
    account.c.code == any_(given("references", ARRAY(Text()))),
    account.c.external_id == any_(given("references", ARRAY(Text()))),
)
# Held against archiving until the posting is committed; others may hold them too.
HOLD_NAMED = compiled(
    select(account.c.id)
    .where(in_business(account), _NAMED)
    .order_by(account.c.id)
    .with_for_update(read=True, key_share=True)
)
READ_NAMED = compiled(select(*(account.c[n] for n in NAMES)).where(in_business(account), _NAMED))
# No posting may be under way on an account while it is archived, so the lock is the strongest.
LOCK = compiled(
    select(account.c.id).where(in_business(account), among(account.c.id)).with_for_update()
)
EVER = {"date_from": date.min, "date_to": date.max}


class RoleMemory:
    """Which account has which role, by business: a role never moves, so it is remembered."""

    def __init__(self) -> None:
        self._roles: OrderedDict[UUID, dict[Role, UUID]] = OrderedDict()

    def get(self, business_id: UUID) -> dict[Role, UUID] | None:
        """Return what is remembered of a business."""
        return self._roles.get(business_id)

    def keep(self, business_id: UUID, roles: dict[Role, UUID]) -> None:
        """Remember the roles of a business; the oldest is forgotten when there are too many."""
        self._roles[business_id] = roles
        if len(self._roles) > MOST_REMEMBERED:
            self._roles.popitem(last=False)


class AccountStore(Store[AccountState]):
    """The chart of one business."""

    table: ClassVar = account
    noun: ClassVar = "account"
    rank: ClassVar = 0

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids), **EVER}),)

    def assemble(self, answers: Answers) -> list[AccountState]:
        return [_state(row) for row in answers[0]]

    def _locking(self, ids: Sequence[UUID]) -> Query:
        return Query(LOCK, {"ids": list(ids)})

    def chart(
        self, date_from: date | None = None, date_to: date | None = None
    ) -> Question[list[AccountState]]:
        """Read every account by code, with the movement within the period."""
        period = {"date_from": date_from or date.min, "date_to": date_to or date.max}
        return self.ask((Query(CHART, period),), lambda answers: self.seen(self.assemble(answers)))

    def roles(self) -> Question[dict[Role, UUID]]:
        """Read which account has which role."""

        def answer(answers: Answers) -> dict[Role, UUID]:
            return {Role(row["role"]): row["id"] for row in answers[0]}

        return self.ask((Query(ROLES, {}),), answer)

    def named(
        self, references: Collection[AccountReference], *, hold: bool = True
    ) -> Question[dict[AccountReference, Account]]:
        """Find the accounts a caller names; the unknown are left out.

        They are held against archiving until the end of the transaction, unless told otherwise.
        """
        if not references:
            return self.ask((), lambda _: {})
        texts = {"references": [str(each.value) for each in references]}
        held = (Query(HOLD_NAMED, texts),) if hold else ()

        def answer(answers: Answers) -> dict[AccountReference, Account]:
            found = [Account(**row) for row in answers[-1]]
            resolved = {each: _resolve(each, found) for each in references}
            return {each: one for each, one in resolved.items() if one is not None}

        return self.ask((*held, Query(READ_NAMED, texts)), answer)

    def save(self, value: Account) -> None:
        """Stage an account."""
        self.books.stage(account, value.id, {name: getattr(value, name) for name in NAMES})


def _state(row: Row) -> AccountState:
    kept = Account(**{name: row.pop(name) for name in NAMES})
    return AccountState(account=kept, **row)


def _resolve(reference: AccountReference, found: Sequence[Account]) -> Account | None:
    wanted = str(reference.value)
    tried = {"id": ("id",), "code": ("code",), "any": ("id", "code", "external_id")}
    for name in tried[reference.kind]:
        for one in found:
            if str(getattr(one, name)) == wanted:
                return one
    return None
