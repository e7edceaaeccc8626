"""Stored bank accounts, each with its ledger account."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Text, and_, func, not_, select

from accounting.bank.bank_accounts import BankAccount, ChartInUse
from accounting.books.accounts import Account
from accounting.trade.payments import MoneyBank, MoneyBanks
from persistence.engine.listings import (
    Filter,
    Listing,
    any_part,
    created_filters,
    either_way,
    equal,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.accounts import NAMES, account_beside, account_columns
from persistence.store import Record, Store, among, in_business, no_such_reference
from persistence.tables import account, bank_account


@dataclass(frozen=True, slots=True)
class BankAccountRecord(Record):
    """A bank account with its ledger account."""

    bank_account: BankAccount
    ledger: Account

    @property
    def stored(self) -> BankAccount:
        return self.bank_account


STORED = tuple(item.name for item in fields(BankAccount))

_SOURCE = bank_account.join(
    account,
    and_(
        in_business(account),
        account.c.id == bank_account.c.account_id,
    ),
)
_COLUMNS = (*(bank_account.c[name] for name in STORED), *account_columns(account))
_CHOSEN = select(*_COLUMNS).select_from(_SOURCE)
BY_ID = compiled(_CHOSEN.where(in_business(bank_account), among(bank_account.c.id)))
BY_EXTERNAL_ID = compiled(
    _CHOSEN.where(
        in_business(bank_account), bank_account.c.external_id == given("external_id", Text)
    )
)
# Creations of bank accounts run one after another. Until the commit, a free code therefore stays
# free, and the first bank account stays the first.
LOCK_GROUND = compiled(
    select(account.c.id)
    .where(in_business(account), account.c.role == word("bank"))
    .with_for_update(key_share=True)
)
CHART = compiled(
    select(*(account.c[name] for name in NAMES))
    .where(in_business(account))
    .order_by(account.c.code, account.c.id)
)
TAKEN = compiled(
    select(bank_account.c.id, bank_account.c.account_id).where(in_business(bank_account))
)
# The active bank accounts in foreign currencies: the last of each currency is the oldest.
OWN_ACCOUNTS = compiled(
    select(bank_account.c.currency, bank_account.c.account_id)
    .select_from(_SOURCE)
    .where(
        in_business(bank_account), account.c.currency.is_not(None), account.c.archived_at.is_(None)
    )
    .order_by(bank_account.c.created_at.desc(), bank_account.c.id.desc())
)


def _active() -> dict[str, Filter]:
    """Build the filter `is_active`: a bank account is active while its ledger account is."""
    archived = bank_account.c.account_id.in_(
        select(account.c.id).where(in_business(account), account.c.archived_at.is_not(None))
    )
    return either_way("is_active", not_(archived), archived)


LISTING = Listing(
    source=_SOURCE,
    key=bank_account.c.id,
    scope=in_business(bank_account),
    columns=_COLUMNS,
    filters={
        **created_filters(bank_account),
        **equal(bank_account.c.currency, bank_account.c.external_id),
        **_active(),
        "search": any_part(
            "search",
            *(
                bank_account.c[name]
                for name in ("display_name", "institution_name", "iban", "mask", "external_id")
            ),
        ),
    },
    sorts={
        "created_at": bank_account.c.created_at,
        "display_name": func.lower(bank_account.c.display_name, type_=Text),
    },
    default_sort="created_at",
)


class BankAccountStore(Store[BankAccountRecord]):
    """The bank accounts of one business."""

    table: ClassVar = bank_account
    noun: ClassVar = "bank_account"
    rank: ClassVar = 12

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[BankAccountRecord]:
        return [self._record(row) for row in answers[0]]

    def chart_in_use(self, *, hold: bool = False) -> Fetch[ChartInUse]:
        """Load the chart and the existing bank accounts; with `hold`, no new one can be created."""

        def answer(answers: Answers) -> ChartInUse:
            chart, taken = answers[-2:]
            accounts = [Account(**row) for row in chart]
            self.scope.note_loaded(accounts)
            return ChartInUse(accounts, {row["account_id"]: row["id"] for row in taken})

        held = (Query(LOCK_GROUND, {}),) if hold else ()
        return self.fetch((*held, Query(CHART, {}), Query(TAKEN, {})), answer)

    def stood_for(self) -> Fetch[frozenset[UUID]]:
        """Load the ids of the ledger accounts that belong to bank accounts."""
        return self.fetch(
            (Query(TAKEN, {}),), lambda rows: frozenset(row["account_id"] for row in rows[0])
        )

    def with_external_id(self, external_id: str | None) -> Fetch[BankAccountRecord | None]:
        """Load the bank account with an external id, or None."""
        return self.by_external_id(external_id, [BY_EXTERNAL_ID], self.assemble)

    def of_money(self, ids: Sequence[UUID]) -> Fetch[MoneyBanks]:
        """Load bank accounts that money names; raises RuleViolation `reference_not_found`."""

        def answer(answers: Answers) -> MoneyBanks:
            found = {each.id: each for each in self.assemble(answers)}
            for id_ in ids:
                if id_ not in found:
                    raise no_such_reference(self.noun, id_)
            return {id_: _of_money(each) for id_, each in found.items()}

        return self.fetch(self.loading(ids), answer)

    def own_accounts(self) -> Fetch[dict[str, UUID]]:
        """Load the ledger account of the oldest active bank account of each foreign currency."""
        return self.fetch(
            (Query(OWN_ACCOUNTS, {}),),
            lambda answers: {row["currency"]: row["account_id"] for row in answers[0]},
        )

    def page(self, wanted: PageRequest) -> Fetch[Page[BankAccountRecord]]:
        """List one page of bank accounts."""
        return self.listed(LISTING, wanted, self._record)

    def save(self, value: BankAccount) -> None:
        """Stage a bank account."""
        self.scope.stage(bank_account, value, {name: getattr(value, name) for name in STORED})

    def _record(self, row: Row) -> BankAccountRecord:
        ledger = account_beside(row)
        assert ledger is not None, "a bank account stands for an account"
        self.scope.note_loaded([ledger])
        return BankAccountRecord(BankAccount(**row), ledger)


def _of_money(record: BankAccountRecord) -> MoneyBank:
    is_active = record.ledger.archived_at is None
    return MoneyBank(record.id, record.ledger.id, is_active, record.ledger.currency)
