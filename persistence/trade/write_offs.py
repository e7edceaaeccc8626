"""Stored write-offs. A write-off has no lock of its own: the lock of its document protects it."""

from collections.abc import Sequence
from dataclasses import fields
from functools import cached_property
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Table, Text, Uuid, and_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.books.ledger import PostedEntry
from accounting.trade.write_offs import WriteOff
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import line_shares_of, split_of, split_rows
from persistence.store import Store, among, in_business
from persistence.trade.party_columns import on_party, party_columns, take_party

DERIVED = ("document_number", "document_date", "party", "posted")
STORED = tuple(item.name for item in fields(WriteOff) if item.name not in DERIVED)


class WriteOffSql:
    """The SQL of one side's write-offs."""

    def __init__(self, write_off: Table, document: Table, party: Table) -> None:
        self.write_off = write_off
        self.document = document
        self.party = party

    @cached_property
    def by_id(self) -> str:
        return self._chosen(among(self.write_off.c.id))

    @cached_property
    def by_external_id(self) -> str:
        return self._chosen(self.write_off.c.external_id == given("external_id", Text))

    @cached_property
    def within(self) -> str:
        """The statement that reads one write-off of a document."""
        row = self.write_off.c
        of_document = row.document_id == given("document_id", Uuid)
        return self._chosen(and_(of_document, row.id == given("id", Uuid)))

    def _chosen(self, condition: ColumnElement[bool]) -> str:
        row, document = self.write_off, self.document
        written_off = and_(in_business(document), document.c.id == row.c.document_id)
        chosen = select(
            *(row.c[name] for name in STORED),
            document.c.number.label("document_number"),
            document.c.opened_on.label("document_date"),
            *party_columns(self.party),
        )
        source = row.join(document, written_off).join(self.party, on_party(document, self.party))
        return compiled(chosen.select_from(source).where(in_business(row), condition))


class WriteOffStore(Store[WriteOff]):
    """The write-offs of one side in one business."""

    noun: ClassVar = "write-off"
    rank: ClassVar = 3  # That of the document: a write-off is never locked by itself.
    sql: ClassVar[WriteOffSql]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(self.sql.by_id, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[WriteOff]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_write_off(row, posted=posted.get(row["id"], ())) for row in rows]

    def get_within(self, document_id: UUID, id: UUID) -> Fetch[WriteOff]:
        """Load one write-off of a document; raises NotFound."""
        names = {"document_id": document_id, "id": id}
        queries = (Query(self.sql.within, names), posted_for([id]))
        return self.fetch(queries, lambda answers: self.only(self.assemble(answers)))

    def locked_with_document(self, ids: Sequence[UUID]) -> Fetch[list[WriteOff]]:
        """Load write-offs of a document whose lock is held, to change them."""
        return self.fetch(self.loading(ids), lambda answers: self.seen(self.assemble(answers)))

    def with_external_id(self, external_id: str | None) -> Fetch[WriteOff | None]:
        """Load the write-off with an external id, or None, without its posted entries."""
        if external_id is None:
            return self.fetch((), lambda _: None)
        query = Query(self.sql.by_external_id, {"external_id": external_id})
        return self.fetch(
            (query,), lambda answers: next((_write_off(row, posted=()) for row in answers[0]), None)
        )

    def save(self, value: WriteOff) -> None:
        """Stage a write-off."""
        row = {name: getattr(value, name) for name in STORED}
        row["split"] = split_rows(value.split)
        row["relieved"] = split_rows(value.relieved)
        self.scope.stage(self.table, value, row)


def _write_off(row: Row, *, posted: tuple[PostedEntry, ...]) -> WriteOff:
    party = take_party(row)
    row["split"] = split_of(row["split"])
    row["relieved"] = split_of(row["relieved"])
    row["lines"] = line_shares_of(row["lines"])
    row["tags"] = tuple((key, value) for key, value in row["tags"])
    return WriteOff(**row, party=party, posted=posted)
