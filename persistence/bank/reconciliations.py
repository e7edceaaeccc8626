"""Stored reconciliations: bank statements that are compared with the ledger."""

from collections.abc import Sequence
from dataclasses import fields
from datetime import date
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Date, Uuid, and_, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.reconciliations import Reconciliation, Standing
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.filters import between, created_filters, equal
from persistence.engine.listings import Listing
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Query, compiled, given, word
from persistence.store import MINE, Store, among, in_business
from persistence.tables import bank_reconciliation

STORED = tuple(item.name for item in fields(Reconciliation))
_row = bank_reconciliation.c
_COLUMNS = tuple(_row[name] for name in STORED)
_OF_ACCOUNT = and_(
    in_business(bank_reconciliation), _row.bank_account_id == given("bank_account_id", Uuid)
)
_CLOSED = _row.status == word("closed")
_ONE: ColumnElement[int] = literal_column("1")
_CHOSEN = select(*_COLUMNS)
BY_ID = compiled(_CHOSEN.where(in_business(bank_reconciliation), among(_row.id)))
WITHIN = compiled(_CHOSEN.where(_OF_ACCOUNT, _row.id == given("id", Uuid)))
OPEN = compiled(_CHOSEN.where(_OF_ACCOUNT, _row.status == word("open")))
NEWEST_CLOSED = compiled(
    _CHOSEN.where(_OF_ACCOUNT, _CLOSED).order_by(_row.statement_date.desc()).limit(_ONE)
)
CLOSED_BEFORE = compiled(
    _CHOSEN.where(_OF_ACCOUNT, _CLOSED, _row.statement_date < given("day", Date))
    .order_by(_row.statement_date.desc())
    .limit(_ONE)
)
DROP = compiled(
    bank_reconciliation.delete().where(
        _row.business_id == MINE, _row.id == given("dropped", Uuid), _row.status == word("open")
    )
)

LISTING = Listing(
    source=bank_reconciliation,
    key=_row.id,
    scope=_OF_ACCOUNT,
    columns=_COLUMNS,
    filters={
        **created_filters(bank_reconciliation),
        **equal(_row.status),
        **between(_row.statement_date, "statement_date_from", "statement_date_to"),
    },
    sorts={"statement_date": _row.statement_date, "created_at": _row.created_at},
    default_sort="-statement_date",
)


class ReconciliationStore(Store[Reconciliation]):
    """The statements of the bank accounts of one business.

    They have no locks: a transaction that closes or reopens one runs alone.
    """

    table: ClassVar = bank_reconciliation
    noun: ClassVar = "bank_reconciliation"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[Reconciliation]:
        return [Reconciliation(**row) for row in answers[0]]

    def within(self, bank_account_id: UUID, id: UUID) -> Fetch[Reconciliation]:
        """Load one statement of a bank account; raises NotFound."""
        query = Query(WITHIN, {"bank_account_id": bank_account_id, "id": id})
        return self.fetch((query,), lambda answers: self.only(self.assemble(answers)))

    def standing(self, bank_account_id: UUID) -> Fetch[Standing]:
        """Load the open statement of a bank account and its newest closed one."""
        of_account = {"bank_account_id": bank_account_id}

        def answer(answers: Answers) -> Standing:
            open_, closed = (self.seen(self.assemble([rows])) for rows in answers)
            return Standing(next(iter(open_), None), next(iter(closed), None))

        return self.fetch((Query(OPEN, of_account), Query(NEWEST_CLOSED, of_account)), answer)

    def before(self, bank_account_id: UUID, day: date) -> Fetch[Reconciliation | None]:
        """Load the latest closed statement of a bank account dated before a day, or None."""
        query = Query(CLOSED_BEFORE, {"bank_account_id": bank_account_id, "day": day})
        return self.fetch((query,), lambda answers: next(iter(self.assemble(answers)), None))

    def closed_through(self, bank_account_id: UUID) -> Fetch[date | None]:
        """Return the date of the newest closed statement of a bank account, or None."""
        query = Query(NEWEST_CLOSED, {"bank_account_id": bank_account_id})
        return self.fetch(
            (query,), lambda answers: next((row["statement_date"] for row in answers[0]), None)
        )

    def page(self, bank_account_id: UUID, wanted: PageRequest) -> Fetch[Page[Reconciliation]]:
        """List one page of the statements of a bank account."""
        return self.listed(
            LISTING, wanted, lambda row: Reconciliation(**row), bank_account_id=bank_account_id
        )

    def save(self, value: Reconciliation) -> None:
        """Stage a statement."""
        row = {name: getattr(value, name) for name in STORED}
        self.scope.stage(bank_reconciliation, value.id, row)

    def drop(self, statement: Reconciliation) -> None:
        """Stage the deletion of an open statement."""
        parameters = {"business_id": self.scope.business_id, "dropped": statement.id}
        self.scope.staging.lead_with(Query(DROP, parameters))
