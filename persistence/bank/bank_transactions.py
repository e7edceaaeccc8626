"""Stored bank lines, the lines of bank statements."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Uuid,
    and_,
    any_,
    cast,
    delete,
    exists,
    false,
    func,
    literal_column,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.bank_transactions import BankTransaction, CategoryPart
from accounting.bank.line_identities import StoredLine
from accounting.bank.reconciliations import Reconciliation
from accounting.books.ledger import PostedEntry
from persistence.engine.ids import known_id
from persistence.engine.listings import (
    Listing,
    any_part,
    between,
    created_filters,
    either_way,
    equal,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.files.stored_files import StoredFile
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Record, Store, among, in_business
from persistence.tables import Moment, account, bank_account, bank_reconciliation, bank_transaction
from persistence.tax.gross_amounts import held_of, held_row
from persistence.trade.worth_columns import take_worth, worth_columns, worth_row

PART_IDS = frozenset({"account_id", "customer_id", "vendor_id"})


@dataclass(frozen=True, slots=True)
class NamedAccount:
    """A summary of a ledger account."""

    id: UUID
    code: str
    name: str


@dataclass(frozen=True, slots=True)
class BankTransactionRecord(Record):
    """A bank line with the name of its bank account and the accounts of its categories."""

    transaction: BankTransaction
    bank_account_name: str
    accounts: Mapping[UUID, NamedAccount]
    document: StoredFile | None = None

    @property
    def stored(self) -> BankTransaction:
        return self.transaction

    @property
    def posted(self) -> tuple[PostedEntry, ...]:
        return self.transaction.posted


DERIVED = ("account_id", "posted", "reconciled_through", "worth", "exchanged")
STORED = tuple(item.name for item in fields(BankTransaction) if item.name not in DERIVED)
# A single part with only account, amount and memo is stored in these columns, as before parts.
SINGLE = ("category_account_id", "category_memo")

_SOURCE = bank_transaction.join(
    bank_account,
    and_(
        in_business(bank_account),
        bank_account.c.id == bank_transaction.c.bank_account_id,
    ),
)
_part: Any = func.jsonb_array_elements(bank_transaction.c.parts).table_valued("value", name="part")
_account_of_part = cast(cast(_part.c.value, JSONB).op("->>")(word("account_id")), Uuid)
_of_parts = func.array(
    select(_account_of_part).select_from(_part).correlate(bank_transaction).scalar_subquery(),
    type_=ARRAY(Uuid()),
)
_ACCOUNTS = (
    select(func.json_agg(func.json_build_array(account.c.id, account.c.code, account.c.name)))
    .where(
        in_business(account),
        account.c.id == any_(func.array_append(_of_parts, bank_transaction.c.category_account_id)),
    )
    .correlate(bank_transaction)
    .scalar_subquery()
)
_RECONCILED_THROUGH = (
    select(func.max(bank_reconciliation.c.statement_date))
    .where(
        in_business(bank_reconciliation),
        bank_reconciliation.c.account_id == bank_account.c.account_id,
        bank_reconciliation.c.status == word("closed"),
    )
    .scalar_subquery()
)
_COLUMNS = (
    *(bank_transaction.c[name] for name in (*STORED, *SINGLE, "exchanged")),
    *worth_columns(bank_transaction),
    bank_account.c.account_id,
    bank_account.c.display_name.label("bank_account_name"),
    _ACCOUNTS.label("accounts"),
    _RECONCILED_THROUGH.label("reconciled_through"),
)
BY_ID = compiled(
    select(*_COLUMNS)
    .select_from(_SOURCE)
    .where(in_business(bank_transaction), among(bank_transaction.c.id))
)
FACTS = ("booked_on", "amount", "direction")  # What makes a line with a known id a repeat.
ALREADY_THERE = compiled(
    select(*(bank_transaction.c[name] for name in ("external_id", "id", *FACTS))).where(
        in_business(bank_transaction),
        bank_transaction.c.bank_account_id == given("bank_account_id", Uuid),
        among(bank_transaction.c.external_id, "external_ids"),
    )
)


DELETION = compiled(
    delete(bank_transaction).where(in_business(bank_transaction), among(bank_transaction.c.id))
)
_ONE: ColumnElement[int] = literal_column("1")
_closed = bank_reconciliation.c
INCLUSION = compiled(
    update(bank_transaction)
    .values(
        after_closing=false(),
        version=bank_transaction.c.version + _ONE,
        updated_at=given("now", Moment),
    )
    .where(
        in_business(bank_transaction),
        bank_transaction.c.bank_account_id == given("bank_account_id", Uuid),
        bank_transaction.c.after_closing,
        ~exists().where(
            in_business(bank_reconciliation),
            _closed.bank_account_id == bank_transaction.c.bank_account_id,
            _closed.id != given("reopened", Uuid),
            _closed.status == word("closed"),
            _closed.statement_date >= bank_transaction.c.booked_on,
        ),
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
    """The bank lines of one business."""

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

    def there(
        self, bank_account_id: UUID, external_ids: Collection[str]
    ) -> Fetch[dict[str, StoredLine]]:
        """Load the existing lines of a bank account that have one of these external ids."""
        names = {"bank_account_id": bank_account_id, "external_ids": list(external_ids)}
        return self.fetch(
            (Query(ALREADY_THERE, names),),
            lambda answers: {row["external_id"]: _stored_line(row) for row in answers[0]},
        )

    def delete(self, value: BankTransaction) -> None:
        """Stage the deletion of a line that was never linked."""
        parameters = {"business_id": self.scope.business_id, "ids": [value.id]}
        self.scope.staging.lead_with(Query(DELETION, parameters))
        self.scope.note_deleted(bank_transaction, value)

    def include_late(self, reopened: Reconciliation) -> None:
        """Stage that a reopened statement includes the lines imported after its closing."""
        parameters = {
            "business_id": self.scope.business_id,
            "bank_account_id": reopened.bank_account_id,
            "reopened": reopened.id,
            "now": self.scope.now,
        }
        for each in self.scope.unseen(Query(INCLUSION, parameters), "updated", "after_closing"):
            self.scope.staging.lead_with(each)

    def page(self, wanted: PageRequest) -> Fetch[Page[BankTransactionRecord]]:
        """List one page of lines, without their posted entries."""
        return self.listed(LISTING, wanted, lambda row: _bank_transaction(row, ()))

    def save(self, value: BankTransaction) -> None:
        """Stage a bank line."""
        row = {name: getattr(value, name) for name in STORED}
        single = _single(value.parts)
        row["parts"] = None if single else [_part_row(part) for part in value.parts] or None
        row["category_account_id"] = single.account_id if single else None
        row["category_memo"] = single.memo if single else None
        row |= _of_foreign(value, self.scope.loaded(value.id))
        self.scope.stage(bank_transaction, value, row)


def _bank_transaction(row: Row, posted: tuple[PostedEntry, ...]) -> BankTransactionRecord:
    bank_account_name, accounts = row.pop("bank_account_name"), row.pop("accounts") or ()
    named = [NamedAccount(known_id(id_), code, name) for id_, code, name in accounts]
    row["parts"] = _parts(row)
    row["worth"] = take_worth(row)
    row["exchanged"] = tuple((UUID(money), base) for money, base in row["exchanged"] or ())
    line = BankTransaction(**row, posted=posted)
    return BankTransactionRecord(line, bank_account_name, {each.id: each for each in named})


def _of_foreign(line: BankTransaction, before: BankTransaction | None) -> Row:
    """Return the columns of a foreign line, or of one that shows foreign money, now or before."""
    row = worth_row(line.worth, None if before is None else before.worth)
    if line.exchanged or (before is not None and before.exchanged):
        row["exchanged"] = [[money, base] for money, base in line.exchanged] or None
    return row


def _stored_line(row: Row) -> StoredLine:
    return StoredLine(row["id"], (row["booked_on"], row["amount"], row["direction"]))


def _single(parts: Sequence[CategoryPart]) -> CategoryPart | None:
    """Return the only part if it has just an account, an amount and a memo, else None."""
    if len(parts) != 1:
        return None
    [part] = parts
    said = CategoryPart(account_id=part.account_id, amount=part.amount, memo=part.memo)
    return part if part == said else None


def _parts(row: Row) -> tuple[CategoryPart, ...]:
    single, memo = (row.pop(name) for name in SINGLE)
    if row["parts"] is not None:
        return tuple(map(_stored_part, row["parts"]))
    if single is None:
        return ()
    return (CategoryPart(account_id=single, amount=row["categorized"], memo=memo),)


def _stored_part(part: Row) -> CategoryPart:
    ids = {name: value and known_id(value) for name, value in part.items() if name in PART_IDS}
    tags = tuple(part.get("tags", ()))
    return CategoryPart(**{**part, **ids, "tax": held_of(part.get("tax")), "tags": tags})


def _part_row(part: CategoryPart) -> Row:
    # Without tags the part is as servers of the previous release read it.
    return {
        **({"tags": list(part.tags)} if part.tags else {}),
        "account_id": part.account_id,
        "amount": part.amount,
        "memo": part.memo,
        "customer_id": part.customer_id,
        "vendor_id": part.vendor_id,
        "tax": held_row(part.tax),
    }
