"""The lines of bank statements as they are stored."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Uuid, and_, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.bank_transactions import BankTransaction
from accounting.books.accounts import Account
from accounting.books.ledger import Posted
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.filters import any_part, between, created_filters, equal
from persistence.engine.listings import Listing, either_way
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Query, Row, compiled, given
from persistence.ledger.accounts_beside import account_beside, account_columns
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store, among, in_business
from persistence.tables import account, bank_account, bank_transaction


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


DERIVED = ("account_id", "posted")
STORED = tuple(item.name for item in fields(BankTransaction) if item.name not in DERIVED)

_category = account.alias("category")
_SOURCE = bank_transaction.join(
    bank_account,
    and_(
        in_business(bank_account),
        bank_account.c.id == bank_transaction.c.bank_account_id,
    ),
).outerjoin(
    _category,
    and_(
        in_business(_category),
        _category.c.id == bank_transaction.c.category_account_id,
    ),
)
_COLUMNS = (
    *(bank_transaction.c[name] for name in STORED),
    bank_account.c.account_id,
    bank_account.c.display_name.label("bank_account_name"),
    *account_columns(_category),
)
BY_ID = compiled(
    select(*_COLUMNS)
    .select_from(_SOURCE)
    .where(in_business(bank_transaction), among(bank_transaction.c.id))
)
ALREADY_THERE = compiled(
    select(bank_transaction.c.external_id, bank_transaction.c.id).where(
        in_business(bank_transaction),
        bank_transaction.c.bank_account_id == given("bank_account_id", Uuid),
        among(bank_transaction.c.external_id, "external_ids"),
    )
)


_NOTHING: ColumnElement[int] = literal_column("0")
LISTING = Listing(
    source=_SOURCE,
    key=bank_transaction.c.id,
    scope=in_business(bank_transaction),
    columns=_COLUMNS,
    filters={
        **created_filters(bank_transaction),
        **equal(bank_transaction.c.bank_account_id, bank_transaction.c.direction),
        **equal(bank_transaction.c.currency, bank_transaction.c.external_id),
        **either_way(
            "is_reconciled",
            bank_transaction.c.remaining == _NOTHING,
            bank_transaction.c.remaining > _NOTHING,
        ),
        **between(bank_transaction.c.booked_on, "date_from", "date_to"),
        **between(bank_transaction.c.amount, "min_amount", "max_amount"),
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


class BankTransactionStore(Store[BankTransactionRecord]):
    """The lines of the statements of one business."""

    table: ClassVar = bank_transaction
    noun: ClassVar = "bank_transaction"
    rank: ClassVar = 13

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        chosen = Query(BY_ID, {"ids": list(ids)})
        return (chosen, posted_for(ids))

    def assemble(self, answers: Answers) -> list[BankTransactionRecord]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_bank_transaction(row, posted.get(row["id"], ())) for row in rows]

    def there(self, bank_account_id: UUID, external_ids: Collection[str]) -> Fetch[dict[str, UUID]]:
        """Find which lines of a bank account are there already, by what they are known by."""
        names = {"bank_account_id": bank_account_id, "external_ids": list(external_ids)}
        return self.fetch(
            (Query(ALREADY_THERE, names),),
            lambda answers: {row["external_id"]: row["id"] for row in answers[0]},
        )

    def page(self, wanted: PageRequest) -> Fetch[Page[BankTransactionRecord]]:
        """List one page, without what was posted."""
        return self.listed(LISTING, wanted, lambda row: _bank_transaction(row, ()))

    def save(self, value: BankTransaction) -> None:
        """Stage a line."""
        row = {name: getattr(value, name) for name in STORED}
        self.scope.stage(bank_transaction, value.id, row)


def _bank_transaction(row: Row, posted: tuple[Posted, ...]) -> BankTransactionRecord:
    category = account_beside(row)
    name = row.pop("bank_account_name")
    return BankTransactionRecord(BankTransaction(**row, posted=posted), name, category)
