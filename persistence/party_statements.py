"""The statements of customers and vendors: one set for both."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, TypeVar

from sqlalchemy import BigInteger, Table, Text, Uuid, cast, func, literal_column, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.parties import Customer, Vendor
from persistence.filters import any_part, created_filters
from persistence.pages import SKIPPED, Filter, Listing
from persistence.statements import compiled, given
from persistence.store import among, in_business

T = TypeVar("T", bound=Customer | Vendor)


@dataclass(frozen=True)
class PartyStatements(Generic[T]):
    """The statements of one side's parties; `document` is the table of what is owed."""

    kind: type[T]
    party: Table
    document: Table
    own_filters: Mapping[str, Filter] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """What is stored of one."""
        return tuple(item.name for item in fields(self.kind))

    @cached_property
    def columns(self) -> tuple[ColumnElement[Any], ...]:
        return (*(self.party.c[name] for name in self.names), self._outstanding())

    def _outstanding(self) -> ColumnElement[int]:
        document = self.document.c
        owed = select(func.coalesce(func.sum(document.outstanding), literal_column("0"))).where(
            document.business_id == self.party.c.business_id,
            document.party_id == self.party.c.id,
            document.outstanding > literal_column("0"),
        )
        return cast(owed.scalar_subquery(), BigInteger).label("outstanding_balance")

    @cached_property
    def by_id(self) -> str:
        return self._chosen(among(self.party.c.id))

    @cached_property
    def by_external_id(self) -> str:
        return self._chosen(self.party.c.external_id == given("external_id", Text))

    def _chosen(self, condition: ColumnElement[bool]) -> str:
        return compiled(select(*self.columns).where(in_business(self.party), condition))

    @cached_property
    def hold(self) -> str:
        """Hold one against archiving until what names it is committed."""
        row = self.party.c
        named = or_(row.id == given("id", Uuid), row.external_id == given("external_id", Text))
        chosen = select(row.id).where(in_business(self.party), named).order_by(row.id)
        return compiled(chosen.with_for_update(read=True, key_share=True))

    @cached_property
    def close(self) -> str:
        """Wait for all who hold one: its status is about to change."""
        row = self.party.c
        chosen = select(row.id).where(in_business(self.party), among(row.id)).order_by(row.id)
        return compiled(chosen.with_for_update())

    @cached_property
    def listing(self) -> Listing:
        row = self.party.c
        name = func.coalesce(row.company_name, row.individual_name)
        return Listing(
            source=self.party,
            key=row.id,
            scope=in_business(self.party),
            columns=self.columns,
            filters={**self._filters(), **self.own_filters},
            sorts={
                "created_at": row.created_at,
                "updated_at": row.updated_at,
                "name": func.lower(name, type_=Text),
            },
            default_sort="-created_at",
        )

    def _filters(self) -> dict[str, Filter]:
        row = self.party.c
        name = given("name", Text)
        return {
            **created_filters(self.party),
            "external_id": Filter(row.external_id == given("external_id", Text)),
            "external_id_contains": any_part("external_id_contains", row.external_id),
            "name": Filter(or_(row.company_name == name, row.individual_name == name)),
            "name_contains": any_part("name_contains", row.company_name, row.individual_name),
            "include_archived": Filter(
                row.archived_at.is_(None), lambda included: SKIPPED if included else False
            ),
        }
