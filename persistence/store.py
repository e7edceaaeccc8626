"""The base class of the stores of one business: find, lock and list the rows of one kind.

A store adds the id of the business to every statement, so it cannot read the rows of another.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Sequence
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from sqlalchemy import ARRAY, Table, Text, Uuid, any_, select
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import FromClause

from accounting.errors import NotFound, RuleViolation
from persistence.engine.listings import Listing
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.scope import Scope, VersionedValue

T = TypeVar("T")


V = TypeVar("V", bound=VersionedValue)
R = TypeVar("R", bound=VersionedValue)


Choice = Callable[[ColumnElement[Any]], ColumnElement[bool]]
"""A condition on the id column of the values to read."""


MINE = given("business_id", Uuid)
"""The bind parameter of the current business.

Each table of a statement is compared with it directly, so that a cluster can route the statement to
one node. On a single node this costs nothing.
"""


def in_business(table: FromClause) -> ColumnElement[bool]:
    """Return the condition that selects only rows of the current business."""
    return table.c.business_id == MINE


def among(column: ColumnElement[Any], name: str = "ids") -> ColumnElement[bool]:
    """Return the condition that a column has one of the values of a list parameter."""
    return column == any_(given(name, ARRAY(column.type)))


@cache
def lock_statement(table: Table) -> str:
    """Return the statement that locks rows in the order of their ids, as all transactions do.

    It does not read the rows: the snapshot of a statement that waits for a lock is older than the
    lock, so the next statement reads them.
    """
    chosen = select(table.c.id).where(in_business(table), among(table.c.id))
    return compiled(chosen.order_by(table.c.id).with_for_update(key_share=True))


@cache
def known_statement(table: Table) -> str:
    """Return the statement that finds a row by its external id and locks it against deletion."""
    named = table.c.external_id == given("external_id", Text)
    chosen = select(table.c.id).where(in_business(table), named)
    return compiled(chosen.with_for_update(read=True, key_share=True))


@cache
def naming_statement(table: Table) -> str:
    """Return the statement that finds the ids of rows by their external ids."""
    named = among(table.c.external_id, "external_ids")
    return compiled(select(table.c.id, table.c.external_id).where(in_business(table), named))


class Record(ABC):
    """A stored value with related values beside it; it has the id and the version of that value."""

    __slots__ = ()

    @property
    @abstractmethod
    def stored(self) -> VersionedValue:
        """The value that is stored as a row of the table, as `save` takes it."""

    @property
    def id(self) -> UUID:
        return self.stored.id

    @property
    def version(self) -> int:
        return self.stored.version


class Store(ABC, Generic[V]):
    """The rows of one kind in one business."""

    table: ClassVar[Table]
    noun: ClassVar[str]
    rank: ClassVar[int]  # The position of its locks in the global lock order.

    def __init__(self, scope: Scope) -> None:
        self.scope = scope

    @abstractmethod
    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        """Return the statements that read whole values by their ids."""

    @abstractmethod
    def assemble(self, answers: Answers) -> list[V]:
        """Build values from the rows of those statements."""

    def get(self, id: UUID) -> Fetch[V]:
        """Find a value by its id; raises NotFound."""
        return self.fetch(self.loading([id]), lambda answers: self.only(self.assemble(answers)))

    def lock(self, id: UUID) -> Fetch[V]:
        """Lock a row, then read it; raises NotFound, and Stale if If-Match has an older version."""
        locked = self.lock_named(id)

        def answer(answers: Answers) -> V:
            value = locked.answer(answers)
            self.scope.check_precondition(value)
            return value

        return self.fetch(locked.queries, answer)

    def lock_named(self, id: UUID) -> Fetch[V]:
        """Lock a row and read it without a check of If-Match; raises NotFound.

        For a row that precedes another one in the path.
        """
        self.scope.note_locks(self.rank, [id])
        waiting = self.waiting(id)
        return self.fetch(
            (*waiting, *self.loading([id])),
            lambda answers: self.only(self.assemble(answers[len(waiting) :])),
        )

    def waiting(self, id: UUID) -> tuple[Query, ...]:
        """Return the statements that lock one row before it is read."""
        return (self._locking([id]),)

    def lock_all(self, ids: Collection[UUID]) -> Fetch[dict[UUID, V]]:
        """Lock rows in the order of their ids, then read them in that order, by id.

        Raises RuleViolation `reference_not_found` if a row does not exist in this business.
        """
        wanted = sorted(ids)
        self.scope.note_locks(self.rank, wanted)
        if not wanted:
            return self.fetch((), lambda _: {})

        waiting, reading = self.locking_all(wanted)

        def answer(answers: Answers) -> dict[UUID, V]:
            values = self.seen(self.assemble(answers[len(waiting) :]))
            found = {value.id: value for value in values}
            missing = [id_ for id_ in wanted if id_ not in found]
            if missing:
                raise no_such_reference(self.noun, missing[0])
            return {id_: found[id_] for id_ in wanted}  # The rows arrive in no order.

        return self.fetch((*waiting, *reading), answer)

    def locking_all(self, ids: Sequence[UUID]) -> tuple[Sequence[Query], Sequence[Query]]:
        """Return the statements that lock several rows, and those that read them afterwards."""
        return (self._locking(ids),), self.loading(ids)

    def known_as(self, external_id: str | None) -> Fetch[UUID | None]:
        """Find the id of the row with an external id, and lock it against deletion.

        Call it after all other locks. The row itself is not read, since there rarely is one.
        """
        if external_id is None:
            return self.fetch((), lambda _: None)
        query = Query(known_statement(self.table), {"external_id": external_id})
        return self.fetch((query,), lambda answers: answers[0][0]["id"] if answers[0] else None)

    def ids_of(self, external_ids: Collection[str]) -> Fetch[dict[str, UUID]]:
        """Find the ids of rows by their external ids, without a lock; unknown ones are left out."""
        query = Query(naming_statement(self.table), {"external_ids": sorted(external_ids)})
        return self.fetch(
            (query,), lambda answers: {row["external_id"]: row["id"] for row in answers[0]}
        )

    def by_external_id(
        self, external_id: str | None, texts: Sequence[str], read: Callable[[Answers], list[R]]
    ) -> Fetch[R | None]:
        """Find the value with an external id; None if there is none, or no id is given."""
        if external_id is None:
            return self.fetch((), lambda _: None)

        def answer(answers: Answers) -> R | None:
            found = read(answers)
            return self.only(found) if found else None

        return self.fetch([Query(text, {"external_id": external_id}) for text in texts], answer)

    def listed(
        self, listing: Listing, wanted: PageRequest, read: Callable[[Row], T], **parameters: Any
    ) -> Fetch[Page[T]]:
        """List one page; `parameters` are extra bind parameters of every statement of the list."""
        scope = {"business_id": self.scope.business_id, **parameters}
        return listing.fetch(self.scope.session, wanted, scope, read)

    async def listed_whole(
        self,
        listing: Listing,
        wanted: PageRequest,
        around: Callable[[list[UUID]], Sequence[Query]],
        read: Callable[[list[Row], Answers], list[T]],
    ) -> Page[T]:
        """List one page from one snapshot: its rows, then their related rows by the ids."""
        self.scope.pin_snapshot()
        page = await self.listed(listing, wanted, lambda row: row)
        queries = around([row["id"] for row in page.rows]) if page.rows else ()
        records = await self.fetch(queries, lambda answers: read(page.rows, answers))
        return Page(records, page.total, page.wanted, page.next_cursor)

    def by_ids(self, ids: Sequence[UUID]) -> Fetch[list[V]]:
        """Read whole values by their ids, in no particular order; missing ones are left out."""
        return self.fetch(self.loading(ids), self.assemble)

    def fetch(self, queries: Sequence[Query], answer: Callable[[Answers], T]) -> Fetch[T]:
        """Combine queries into one fetch, with the id of this business as a parameter."""
        mine = {"business_id": self.scope.business_id}
        own = tuple(Query(each.text, {**each.parameters, **mine}, each.once) for each in queries)
        return Fetch(self.scope.session, own, answer)

    def seen(self, values: list[V]) -> list[V]:
        """Record the versions of loaded values, by which `save` recognises changed rows."""
        for value in values:
            self._note(value)
        return values

    def only(self, found: list[R]) -> R:
        """Return the only value of a list and record its version; raises NotFound if empty."""
        if not found:
            raise not_found(self.noun)
        [value] = found
        self._note(value)
        return value

    def _note(self, value: VersionedValue) -> None:
        self.scope.note_loaded([value.stored if isinstance(value, Record) else value])
        if hasattr(value, "transaction_tags"):
            self.scope.note_tags(value.id, value.transaction_tags)

    def _locking(self, ids: Sequence[UUID]) -> Query:
        return Query(lock_statement(self.table), {"ids": list(ids)})


_NOT_FOUND = {
    "customer": "customer_not_found",
    "vendor": "vendor_not_found",
    "account": "account_not_found",
    "tax_code": "tax_code_not_found",
    "tax_return": "tax_return_not_found",
    "invoice": "invoice_not_found",
    "payment": "payment_not_found",
    "journal_entry": "journal_entry_not_found",
    "write-off": "write_off_not_found",
    "customer_credit": "customer_credit_not_found",
    "invoice_refund": "invoice_refund_not_found",
    "invoice_refund_payment": "invoice_refund_payment_not_found",
    "bill": "bill_not_found",
    "bill_payment": "bill_payment_not_found",
    "vendor_credit": "vendor_credit_not_found",
    "vendor_refund": "vendor_refund_not_found",
    "vendor_refund_payment": "vendor_refund_payment_not_found",
    "payout": "payout_not_found",
    "document": "document_not_found",
    "opening_balance": "opening_balance_not_found",
    "revaluation": "revaluation_not_found",
    "bank_account": "bank_account_not_found",
    "bank_transaction": "bank_transaction_not_found",
    "bank_rule": "bank_rule_not_found",
    "bank_reconciliation": "bank_reconciliation_not_found",
}


def not_found(noun: str) -> NotFound:
    """Return the same error for rows of another business, deleted rows, and unknown ids."""
    return NotFound(_NOT_FOUND[noun], f"There is no such {noun.replace('_', ' ')}.")


def no_such_reference(noun: str, reference: UUID | str) -> RuleViolation:
    """Return the error for a request that refers to a row that does not exist in this business."""
    named = f"{'an' if noun[0] in 'aeiou' else 'a'} {noun.replace('_', ' ')}"
    return RuleViolation(
        "reference_not_found",
        f"The request names {named} that does not exist in this business.",
        resource=noun,
        reference=str(reference),
    )
