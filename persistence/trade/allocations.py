"""Stored allocations of payments and credits to documents, ended ones too.

Payments and credits are called holders here. They differ only in the column with the holder's id,
and in the split of a credit's own parts.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import cached_property
from uuid import UUID

from sqlalchemy import Table, Uuid, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.allocation import Allocation
from accounting.trade.documents import Document
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row, compiled, given
from persistence.ledger.split_rows import split_of, split_rows
from persistence.store import MINE, among, in_business
from persistence.trade.document_sql import DocumentSql
from persistence.trade.documents import document_of


class AllocationSql:
    """The SQL of the allocations of payments, or of credits."""

    def __init__(self, allocation: Table, holder_id: str, documents: DocumentSql) -> None:
        self.table = allocation
        self.holder_id = holder_id
        self.documents = documents
        self.splits = tuple(name for name in ("split", "own_split") if name in allocation.c)

    @cached_property
    def of_holders(self) -> str:
        """The statement that reads all allocations of holders, ended ones too."""
        row = self.table.c
        plain = ("id", "version", "document_id", "document_date", "amount", "start_on", "end_on")
        names = (*plain, "description", *self.splits)
        chosen = select(row[self.holder_id].label("holder_id"), *(row[name] for name in names))
        mine = in_business(self.table), among(row[self.holder_id])
        return compiled(chosen.where(*mine).order_by(row.id))

    @cached_property
    def settled(self) -> str:
        """The statement that reads the documents of all allocations, without their lines.

        Documents of ended allocations are included: in a write transaction, an allocation may end
        between the statement that reads the allocations and this one.
        """
        row, document = self.table.c, self.documents.document
        ever = select(row.document_id).where(in_business(self.table), among(row[self.holder_id]))
        chosen = select(*self.documents.listing.columns).select_from(self.documents.source)
        return compiled(chosen.where(in_business(document), document.c.id.in_(ever)))

    def touching(self, holder: Table, name: str) -> ColumnElement[bool]:
        """Return the condition that a holder has a live allocation to a document.

        The parameter `name` gives the document.
        """
        row = self.table.c
        live = select(row.id).where(
            row.business_id == MINE,
            row[self.holder_id] == holder.c.id,
            row.end_on.is_(None),
            row.document_id == given(name, Uuid),
        )
        return live.exists()


class AllocationRows:
    """The allocations of payments, or of credits, of one business: reads and stages them."""

    def __init__(self, scope: Scope, sql: AllocationSql) -> None:
        self.scope = scope
        self.sql = sql

    def loading(self, holders: Sequence[UUID]) -> Query:
        """Return the statement that reads the allocations of holders."""
        return Query(self.sql.of_holders, {"ids": list(holders)})

    def around(self, holders: Sequence[UUID]) -> tuple[Query, Query]:
        """Return the statements that read the allocations of holders and their documents."""
        settled = Query(self.sql.settled, {"ids": list(holders)})
        return (self.loading(holders), settled)

    def read(self, rows: Iterable[Row]) -> dict[UUID, tuple[Allocation, ...]]:
        """Make allocations from the rows of `loading`, by holder, and note their versions."""
        found: dict[UUID, list[Allocation]] = defaultdict(list)
        for row in rows:
            share = Allocation(
                id=row["id"],
                document_id=row["document_id"],
                amount=row["amount"],
                document_date=row["document_date"],
                start=row["start_on"],
                end=row["end_on"],
                split=split_of(row["split"]),
                own_split=split_of(row.get("own_split", [])),
                description=row["description"],
            )
            self.scope.note_version(share.id, row["version"])
            found[row["holder_id"]].append(share)
        return {holder: tuple(shares) for holder, shares in found.items()}

    def save(self, holder: UUID, allocations: Iterable[Allocation]) -> None:
        """Stage the allocations of a holder that is already staged."""
        for share in allocations:
            row = {
                "id": share.id,
                self.sql.holder_id: holder,
                "document_id": share.document_id,
                "document_date": share.document_date,
                "amount": share.amount,
                "start_on": share.start,
                "end_on": share.end,
                "description": share.description,
                **{name: split_rows(getattr(share, name)) for name in self.sql.splits},
            }
            self.scope.stage(self.sql.table, share.id, row)


def documents_by_id(rows: Iterable[Row]) -> dict[UUID, Document]:
    """Make documents from the rows of the second statement of `around`."""
    return {row["id"]: document_of(row) for row in rows}
