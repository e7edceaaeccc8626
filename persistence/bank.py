"""Bank accounts and the lines of their statements as they are stored."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Date, Text, Uuid, and_, func, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.accounts import Account
from accounting.bank_accounts import Ground
from accounting.banking import BankAccount, BankTransaction
from accounting.ledger import Posted
from persistence.filters import any_part, created_filters
from persistence.journal import posted_by_source
from persistence.pages import Filter, Listing, Page, PageRequest
from persistence.statements import Query, Row, compiled, given, word
from persistence.store import Store, among, in_business
from persistence.tables import account, bank_account, bank_transaction
from persistence.wire import Answers, Question

LEDGER = "ledger__"  # Before the columns of the account of the chart, beside those of another row.


@dataclass(frozen=True, slots=True)
class BankAccountRecord:
    """A bank account with the account of the chart that it stands for."""

    bank_account: BankAccount
    ledger: Account

    @property
    def id(self) -> UUID:
        return self.bank_account.id

    @property
    def version(self) -> int:
        return self.bank_account.version


@dataclass(frozen=True, slots=True)
class BankTransactionRecord:
    """A line of a statement, its bank account's name, and the account it was categorized to."""

    transaction: BankTransaction
    bank_account_name: str
    category: Account | None

    @property
    def id(self) -> UUID:
        return self.transaction.id

    @property
    def posted(self) -> tuple[Posted, ...]:
        return self.transaction.posted

    @property
    def version(self) -> int:
        return self.transaction.version


ACCOUNT = tuple(item.name for item in fields(Account))
KEPT = tuple(item.name for item in fields(BankAccount))
LINE = tuple(
    item.name for item in fields(BankTransaction) if item.name not in ("account_id", "posted")
)
_LEDGER_COLUMNS = tuple(account.c[name].label(LEDGER + name) for name in ACCOUNT)

# ── Bank accounts ──────────────────────────────────────────────────────────────────────────────

_BANK_ACCOUNTS = bank_account.join(
    account,
    and_(
        account.c.business_id == bank_account.c.business_id,
        account.c.id == bank_account.c.account_id,
    ),
)
_BANK_ACCOUNT_COLUMNS = (*(bank_account.c[name] for name in KEPT), *_LEDGER_COLUMNS)
_CHOSEN = select(*_BANK_ACCOUNT_COLUMNS).select_from(_BANK_ACCOUNTS)
BANK_ACCOUNTS_BY_ID = compiled(_CHOSEN.where(in_business(bank_account), among(bank_account.c.id)))
BANK_ACCOUNT_BY_EXTERNAL_ID = compiled(
    _CHOSEN.where(
        in_business(bank_account), bank_account.c.external_id == given("external_id", Text)
    )
)
# Bank accounts are made one after another: which is the first, and which code is free, holds still.
LOCK_GROUND = compiled(
    select(account.c.id)
    .where(in_business(account), account.c.role == word("bank"))
    .with_for_update(key_share=True)
)
CHART = compiled(
    select(*(account.c[name] for name in ACCOUNT))
    .where(in_business(account))
    .order_by(account.c.code, account.c.id)
)
TAKEN = compiled(select(bank_account.c.account_id).where(in_business(bank_account)))

BANK_ACCOUNT_LISTING = Listing(
    source=_BANK_ACCOUNTS,
    key=bank_account.c.id,
    scope=in_business(bank_account),
    columns=_BANK_ACCOUNT_COLUMNS,
    filters={
        **created_filters(bank_account),
        "currency": Filter(bank_account.c.currency == given("currency", Text)),
        "external_id": Filter(bank_account.c.external_id == given("external_id", Text)),
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

# ── Bank transactions ──────────────────────────────────────────────────────────────────────────

_category = account.alias("category")
_BANK_TRANSACTIONS = bank_transaction.join(
    bank_account,
    and_(
        bank_account.c.business_id == bank_transaction.c.business_id,
        bank_account.c.id == bank_transaction.c.bank_account_id,
    ),
).outerjoin(
    _category,
    and_(
        _category.c.business_id == bank_transaction.c.business_id,
        _category.c.id == bank_transaction.c.category_account_id,
    ),
)
_BANK_TRANSACTION_COLUMNS = (
    *(bank_transaction.c[name] for name in LINE),
    bank_account.c.account_id,
    bank_account.c.display_name.label("bank_account_name"),
    *(_category.c[name].label(LEDGER + name) for name in ACCOUNT),
)
BANK_TRANSACTIONS_BY_ID = compiled(
    select(*_BANK_TRANSACTION_COLUMNS)
    .select_from(_BANK_TRANSACTIONS)
    .where(in_business(bank_transaction), among(bank_transaction.c.id))
)
ALREADY_THERE = compiled(
    select(bank_transaction.c.external_id, bank_transaction.c.id).where(
        in_business(bank_transaction),
        bank_transaction.c.bank_account_id == given("bank_account_id", Uuid),
        among(bank_transaction.c.external_id, "external_ids"),
    )
)


def _is(name: str) -> Filter:
    column: ColumnElement[Any] = bank_transaction.c[name]
    return Filter(column == given(name, column.type))


_NOTHING: ColumnElement[int] = literal_column("0")
BANK_TRANSACTION_LISTING = Listing(
    source=_BANK_TRANSACTIONS,
    key=bank_transaction.c.id,
    scope=in_business(bank_transaction),
    columns=_BANK_TRANSACTION_COLUMNS,
    filters={
        **created_filters(bank_transaction),
        **{name: _is(name) for name in ("bank_account_id", "direction", "currency", "external_id")},
        "is_reconciled": Filter(
            (bank_transaction.c.remaining == _NOTHING) == given("is_reconciled", Boolean)
        ),
        "date_start": Filter(bank_transaction.c.booked_on >= given("date_start", Date)),
        "date_end": Filter(bank_transaction.c.booked_on <= given("date_end", Date)),
        "min_amount": Filter(bank_transaction.c.amount >= given("min_amount", BigInteger)),
        "max_amount": Filter(bank_transaction.c.amount <= given("max_amount", BigInteger)),
        "search": any_part(
            "search",
            *(
                bank_transaction.c[name]
                for name in ("description", "counterparty_name", "reference", "external_id")
            ),
        ),
    },
    sorts={
        "date": bank_transaction.c.booked_on,
        "amount": bank_transaction.c.amount,
        "created_at": bank_transaction.c.created_at,
    },
    default_sort="-date",
)


class BankAccountStore(Store[BankAccountRecord]):
    """The bank accounts of one business."""

    table: ClassVar = bank_account
    noun: ClassVar = "bank_account"
    rank: ClassVar = 7

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BANK_ACCOUNTS_BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[BankAccountRecord]:
        return [self._record(row) for row in answers[0]]

    def ground(self) -> Question[Ground]:
        """Read the chart that a new bank account finds; nobody makes another one meanwhile."""

        def answer(answers: Answers) -> Ground:
            _, chart, taken = answers
            accounts = [Account(**row) for row in chart]
            for each in accounts:
                self.books.saw_version(each.id, each.version)
            return Ground(accounts, frozenset(row["account_id"] for row in taken))

        return self.ask((Query(LOCK_GROUND, {}), Query(CHART, {}), Query(TAKEN, {})), answer)

    def with_external_id(self, external_id: str | None) -> Question[BankAccountRecord | None]:
        """Find the bank account a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        query = Query(BANK_ACCOUNT_BY_EXTERNAL_ID, {"external_id": external_id})
        return self.ask(
            (query,), lambda answers: next(iter(self.seen(self.assemble(answers))), None)
        )

    def page(self, wanted: PageRequest) -> Question[Page[BankAccountRecord]]:
        """List one page."""
        return self.listed(BANK_ACCOUNT_LISTING, wanted, self._record)

    def save(self, value: BankAccount) -> None:
        """Stage a bank account."""
        self.books.stage(bank_account, value.id, {name: getattr(value, name) for name in KEPT})

    def _record(self, row: Row) -> BankAccountRecord:
        ledger = _account_beside(row)
        assert ledger is not None, "a bank account stands for an account"
        self.books.saw_version(ledger.id, ledger.version)
        return BankAccountRecord(BankAccount(**row), ledger)


class BankTransactionStore(Store[BankTransactionRecord]):
    """The lines of the statements of one business."""

    table: ClassVar = bank_transaction
    noun: ClassVar = "bank_transaction"
    rank: ClassVar = 8

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        chosen = Query(BANK_TRANSACTIONS_BY_ID, {"ids": list(ids)})
        return (chosen, self.books.journal.posted_for(ids))

    def assemble(self, answers: Answers) -> list[BankTransactionRecord]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_bank_transaction(row, posted.get(row["id"], ())) for row in rows]

    def there(
        self, bank_account_id: UUID, external_ids: Collection[str]
    ) -> Question[dict[str, UUID]]:
        """Find which lines of a bank account are there already, by what they are known by."""
        names = {"bank_account_id": bank_account_id, "external_ids": list(external_ids)}
        return self.ask(
            (Query(ALREADY_THERE, names),),
            lambda answers: {row["external_id"]: row["id"] for row in answers[0]},
        )

    def page(self, wanted: PageRequest) -> Question[Page[BankTransactionRecord]]:
        """List one page, without what was posted."""
        return self.listed(BANK_TRANSACTION_LISTING, wanted, lambda row: _bank_transaction(row, ()))

    def save(self, value: BankTransaction) -> None:
        """Stage a line."""
        self.books.stage(bank_transaction, value.id, {name: getattr(value, name) for name in LINE})


def _bank_transaction(row: Row, posted: Any) -> BankTransactionRecord:
    category = _account_beside(row)
    name = row.pop("bank_account_name")
    return BankTransactionRecord(BankTransaction(**row, posted=posted), name, category)


def _account_beside(row: Row) -> Account | None:
    """Take the columns of an account out of a row; None where an outer join found none."""
    columns = {name: row.pop(LEDGER + name) for name in ACCOUNT}
    return None if columns["id"] is None else Account(**columns)
