"""The statements of what is owed: one set for invoices and bills."""

from dataclasses import fields
from functools import cached_property
from typing import Any

from sqlalchemy import (
    ARRAY,
    Boolean,
    Date,
    Table,
    Text,
    Uuid,
    and_,
    any_,
    case,
    delete,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.documents import Document
from accounting.trade.sides import Side
from persistence.engine.filters import MOMENT, any_part, between, created_filters, equal
from persistence.engine.pages import Filter, Listing, first_if_absent
from persistence.engine.sql import compiled, given, word
from persistence.store import among, in_business
from persistence.trade.document_settlements import SettlementTables, day_of, settlement_columns
from persistence.trade.party_sql import listed_with_party, on_party, party_columns

STORED = tuple(item.name for item in fields(Document) if item.name not in ("party", "posted"))
UNLISTED = ("lines", "settled", "returned")


class DocumentSql:
    """The statements of one side's documents."""

    def __init__(self, side: Side, document: Table, party: Table, tables: SettlementTables) -> None:
        self.side = side
        self.document = document
        self.party = party
        self.source = document.join(party, on_party(document, party))
        self.columns = (*(document.c[name] for name in STORED), *party_columns(party))
        self.settlement_columns = settlement_columns(document, tables)

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def hold_party(self) -> str:
        """Hold the party of a locked document against archiving: a draft may be about to open."""
        chosen = select(self.party.c.id).select_from(self.source)
        held = chosen.where(in_business(self.document), among(self.document.c.id))
        return compiled(held.with_for_update(read=True, key_share=True, of=self.party))

    @cached_property
    def hold(self) -> str:
        """Hold a document against deletion: something is about to name it."""
        chosen = select(self.document.c.id).where(
            in_business(self.document), among(self.document.c.id)
        )
        return compiled(chosen.with_for_update(read=True, key_share=True))

    @cached_property
    def settlements(self) -> str:
        chosen = select(*self.settlement_columns).select_from(self.document)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def shown(self) -> str:
        chosen = select(*self.columns, *self.settlement_columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.document), among(self.document.c.id)))

    @cached_property
    def deletion(self) -> str:
        """Only a draft is ever deleted: nothing was posted for it."""
        draft = self.document.c.state == word("draft")
        return compiled(
            delete(self.document).where(
                in_business(self.document), among(self.document.c.id), draft
            )
        )

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=listed_with_party(self.document, self.party),
            key=self.document.c.id,
            scope=in_business(self.document),
            # A list shows neither lines nor what they settle; they are not read for it.
            columns=(*self._plain_columns(), *party_columns(self.party)),
            filters=self._filters(),
            sorts=self._sorts(),
            default_sort=f"-{self.side.names.opened_at}",
        )

    def _plain_columns(self) -> list[ColumnElement[Any]]:
        nothing: ColumnElement[Any] = literal_column("'[]'::jsonb")
        row = self.document.c
        return [nothing.label(name) if name in UNLISTED else row[name] for name in STORED]

    def _overdue(self) -> ColumnElement[bool]:
        row = self.document.c
        late = day_of(row.due_at) < given("today", Date)
        return and_(row.outstanding > literal_column("0"), late)

    def _status(self) -> ColumnElement[str]:
        """`accounting.trade.documents.status` in SQL; a test holds the two together."""
        row = self.document.c
        none: ColumnElement[int] = literal_column("0")
        settled = row.outstanding == none
        return case(
            (row.state == word("void"), word("voided")),
            (row.state == word("draft"), word("draft")),
            (and_(settled, row.paid > none, row.refunded >= row.paid), word("refunded")),
            (and_(settled, row.written_off > none), word("written_off")),
            (settled, word("paid")),
            (row.written_off > none, word("partially_written_off")),
            (self._overdue(), word("overdue")),
            (row.paid + row.credited > none, word("partially_paid")),
            else_=word(self.side.opened_status),
        )

    def _filters(self) -> dict[str, Filter]:
        side, row, party = self.side, self.document.c, self.party.c
        own, other = side.names.party_id, side.names.party_external_id
        first, last = f"{side.names.opened_at}_start", f"{side.names.opened_at}_end"
        statuses = any_(given("status", ARRAY(Text())))
        return {
            **created_filters(self.document),
            "status": Filter(self._status() == statuses, self._spelled_out),
            "is_overdue": Filter(
                func.coalesce(self._overdue(), literal_column("false"))
                == given("is_overdue", Boolean)
            ),
            own: Filter(row.party_id == any_(given(own, ARRAY(Uuid())))),
            other: Filter(party.external_id == given(other, Text)),
            **equal(row.external_id),
            # By the column that is indexed; a draft, which was never opened, stands before all.
            first: Filter(row.listed_at >= given(first, MOMENT)),
            last: Filter(and_(row.listed_at <= given(last, MOMENT), row.opened_at.is_not(None))),
            **between(row.due_at, "due_at_start", "due_at_end"),
            **between(row.total_amount, "min_amount", "max_amount"),
            "memo_contains": any_part("memo_contains", row.memo),
            "search": any_part(
                "search",
                row.number,
                row.party_number,
                row.external_id,
                row.memo,
                party.company_name,
                party.individual_name,
            ),
        }

    def _sorts(self) -> dict[str, ColumnElement[Any]]:
        row = self.document.c
        return {
            self.side.names.opened_at: row.listed_at,
            "due_at": first_if_absent(row.due_at),
            "created_at": row.created_at,
            "total_amount": row.total_amount,
            self.side.names.number: func.coalesce(row.number, word("")),
        }

    def _spelled_out(self, statuses: list[str]) -> list[str]:
        issued = (self.side.opened_status, "overdue", "partially_paid", "partially_written_off")
        return [one for each in statuses for one in (issued if each == "issued" else (each,))]
