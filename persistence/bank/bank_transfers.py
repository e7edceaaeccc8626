"""Stored transfers between own bank accounts. The locks of its lines protect a transfer."""

from collections.abc import Collection, Sequence
from dataclasses import fields
from typing import ClassVar
from uuid import UUID

from sqlalchemy import select

from accounting.bank.transfers import Transfer
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.sql import Query, compiled
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store, among, in_business
from persistence.tables import bank_transfer

STORED = tuple(item.name for item in fields(Transfer) if item.name != "posted")
BY_ID = compiled(
    select(*(bank_transfer.c[name] for name in STORED)).where(
        in_business(bank_transfer), among(bank_transfer.c.id)
    )
)


class TransferStore(Store[Transfer]):
    """The transfers of one business."""

    table: ClassVar = bank_transfer
    noun: ClassVar = "transfer"
    rank: ClassVar = 14

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}), posted_for(ids))

    def assemble(self, answers: Answers) -> list[Transfer]:
        rows, entries = answers
        posted = posted_by_source(entries)
        return [Transfer(**row, posted=posted.get(row["id"], ())) for row in rows]

    def of_links(self, ids: Collection[UUID]) -> Fetch[dict[UUID, Transfer]]:
        """Load the transfers of links, by id; the caller has locked their lines."""
        if not ids:
            return self.fetch((), lambda _: {})
        return self.fetch(
            self.loading(list(ids)),
            lambda answers: {each.id: each for each in self.seen(self.assemble(answers))},
        )

    def save(self, value: Transfer) -> None:
        """Stage a transfer."""
        row = {name: getattr(value, name) for name in STORED}
        self.scope.stage(bank_transfer, value.id, row)
