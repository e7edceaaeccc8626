"""Write-offs as they are stored. A write-off has no lock of its own: its document's holds it."""

from collections.abc import Sequence
from dataclasses import fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import Text, Uuid, and_, select

from accounting.books.ledger import Posted
from accounting.trade.write_offs import WriteOff
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.sql import Query, Row, compiled, given
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.ledger.split_rows import split_of, split_rows
from persistence.store import Store, among, in_business
from persistence.tables import customer, invoice, write_off
from persistence.trade.party_sql import on_party, party_columns, take_party
from persistence.trade.taxed_lines import line_shares_of

DERIVED = ("document_number", "document_date", "party", "posted")
STORED = tuple(item.name for item in fields(WriteOff) if item.name not in DERIVED)

_WRITTEN_OFF = and_(in_business(invoice), invoice.c.id == write_off.c.document_id)
_CHOSEN = select(
    *(write_off.c[name] for name in STORED),
    invoice.c.number.label("document_number"),
    invoice.c.opened_on.label("document_date"),
    *party_columns(customer),
).select_from(write_off.join(invoice, _WRITTEN_OFF).join(customer, on_party(invoice, customer)))

BY_ID = compiled(_CHOSEN.where(in_business(write_off), among(write_off.c.id)))
BY_EXTERNAL_ID = compiled(
    _CHOSEN.where(in_business(write_off), write_off.c.external_id == given("external_id", Text))
)
WITHIN = compiled(
    _CHOSEN.where(
        in_business(write_off),
        write_off.c.document_id == given("document_id", Uuid),
        write_off.c.id == given("id", Uuid),
    )
)


class WriteOffStore(Store[WriteOff]):
    """What was given up of the invoices of one business."""

    table: ClassVar = write_off
    noun: ClassVar = "write-off"
    rank: ClassVar = 3  # Its document's: nobody locks a write-off by itself.

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[WriteOff]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [_write_off(row, posted=posted.get(row["id"], ())) for row in rows]

    def get_within(self, document_id: UUID, id: UUID) -> Fetch[WriteOff]:
        """Find one write-off of a document; raises NotFound."""
        names = {"document_id": document_id, "id": id}
        queries = (Query(WITHIN, names), posted_for([id]))
        return self.fetch(queries, lambda answers: self.only(self.assemble(answers)))

    def with_external_id(self, external_id: str | None) -> Fetch[WriteOff | None]:
        """Find the write-off a partner knows by its own identifier, without what it posted."""
        if external_id is None:
            return self.fetch((), lambda _: None)
        query = Query(BY_EXTERNAL_ID, {"external_id": external_id})
        return self.fetch(
            (query,), lambda answers: next((_write_off(row, posted=()) for row in answers[0]), None)
        )

    def save(self, value: WriteOff) -> None:
        """Stage a write-off."""
        row = {name: getattr(value, name) for name in STORED}
        row["split"] = split_rows(value.split)
        row["relieved"] = split_rows(value.relieved)
        self.scope.stage(write_off, value.id, row)


def _write_off(row: Row, *, posted: tuple[Posted, ...]) -> WriteOff:
    party = take_party(row)
    row["split"] = split_of(row["split"])
    row["relieved"] = split_of(row["relieved"])
    row["lines"] = line_shares_of(row["lines"])
    row["tags"] = tuple((key, value) for key, value in row["tags"])
    return WriteOff(**row, party=party, posted=posted)
