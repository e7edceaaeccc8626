"""Stored customers and vendors with their outstanding amounts: one store for both.

A subclass names its table and its SQL.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Generic, TypeVar
from uuid import UUID

from accounting.trade.parties import Customer, OpenAmounts, Party, Vendor, party_of
from accounting.trade.party_details import PartyNamed
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.identifiers import new_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Query, Row
from persistence.store import Store, no_such_reference
from persistence.trade.party_sql import PartySql, take_party

T = TypeVar("T", bound=Customer | Vendor)


@dataclass(frozen=True, slots=True)
class PartyAccount(Generic[T]):
    """A customer or vendor with the outstanding amount of its documents, in minor units."""

    trader: T
    outstanding_balance: int

    @property
    def id(self) -> UUID:
        return self.trader.id

    @property
    def version(self) -> int:
        return self.trader.version


class PartyStore(Store[PartyAccount[T]], Generic[T]):
    """The customers or the vendors of one business."""

    sql: PartySql[T]

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(self.sql.by_id, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[PartyAccount[T]]:
        return [self._account(row) for row in answers[0]]

    def lock_to_close(self, id: UUID) -> Fetch[PartyAccount[T]]:
        """Lock a party exclusively: no other transaction can refer to it until the commit.

        Otherwise as `lock`. This must be the first fetch of the transaction.
        """
        self.scope.run_alone()
        closing, locked = Query(self.sql.close, {"ids": [id]}), self.lock(id)
        return self.fetch((closing, *locked.queries), lambda answers: locked.answer(answers[1:]))

    def open_amounts(self, id: UUID) -> Fetch[OpenAmounts]:
        """Add up the open amounts of one party."""
        query = Query(self.sql.open_amounts, {"id": id})
        return self.fetch((query,), lambda answers: OpenAmounts(**answers[0][0]))

    def page(self, wanted: PageRequest) -> Fetch[Page[PartyAccount[T]]]:
        """List one page of parties; a filter by status overrides `include_archived`."""
        if "status" in wanted.filters:
            filters = {k: v for k, v in wanted.filters.items() if k != "include_archived"}
            wanted = replace(wanted, filters=filters)
        return self.listed(self.sql.listing, wanted, self._account)

    def with_external_id(self, external_id: str | None) -> Fetch[PartyAccount[T] | None]:
        """Load the party with an external id, or None."""
        return self.by_external_id(external_id, [self.sql.by_external_id], self.assemble)

    def party(self, named: PartyNamed) -> Fetch[Party]:
        """Load and share-lock the party named by an id, else by an external id.

        A party with an unknown external id is created; that id becomes its company name. Raises
        RuleBroken `reference_not_found` for an unknown id. If both are given, the caller checks
        that they agree.
        """
        id_, external_id = named.id, named.external_id
        by_id = Query(self.sql.hold_by_id, {"id": id_})
        by_name = Query(self.sql.hold_by_external_id, {"external_id": external_id})

        def answer(answers: Answers) -> Party:
            if answers[0]:
                return take_party(answers[0][0])
            if id_ is not None:
                raise no_such_reference(self.noun, id_)
            assert external_id is not None, "the contract asks for one of the two"
            return party_of(self._made_for(external_id))

        return self.fetch((by_id if id_ else by_name,), answer)

    def all_named(self, named: Collection[PartyNamed]) -> Fetch[dict[PartyNamed, Party]]:
        """Load, share-lock or create all named parties, as `party` does for one.

        Raises RuleBroken `reference_not_found` for an unknown id.
        """
        ids = {each.id for each in named if each.id is not None}
        external_ids = {each.external_id for each in named if each.id is None}
        queries = (
            Query(self.sql.hold_by_ids, {"ids": sorted(ids)}),
            Query(self.sql.hold_by_external_ids, {"external_ids": sorted(map(str, external_ids))}),
        )

        def answer(answers: Answers) -> dict[PartyNamed, Party]:
            by_id, by_name = ([take_party(row) for row in rows] for rows in answers)
            known: dict[UUID | str | None, Party] = {each.id: each for each in by_id}
            known |= {each.external_id: each for each in by_name}
            for external_id in sorted(each for each in external_ids - known.keys() if each):
                known[external_id] = party_of(self._made_for(external_id))
            for id_ in sorted(ids - known.keys()):
                raise no_such_reference(self.noun, id_)
            return {each: known[each.id or each.external_id] for each in named}

        return self.fetch(queries if named else (), lambda rows: answer(rows) if named else {})

    def _made_for(self, external_id: str) -> T:
        now = self.scope.now
        made = self.sql.kind(
            id=new_id(),
            version=0,
            created_at=now,
            updated_at=now,
            external_id=external_id,
            company_name=external_id,
        )
        self.save(made)
        return made

    def save(self, value: T) -> None:
        """Stage a customer or vendor."""
        names = self.sql.names
        self.scope.stage(self.table, value.id, {name: getattr(value, name) for name in names})

    def _account(self, row: Row) -> PartyAccount[T]:
        outstanding = row.pop("outstanding_balance")
        row["transaction_tags"] = tuple(row["transaction_tags"])
        return PartyAccount(self.sql.kind(**row), outstanding)
