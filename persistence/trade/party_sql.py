"""SQL of customers and vendors: one class for both.

Also the party's columns that are shown with its documents, payments, credits and refunds.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, Generic, TypeVar

from sqlalchemy import (
    BigInteger,
    Table,
    Text,
    Uuid,
    and_,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from accounting.trade.parties import Customer, Party, Vendor
from persistence.engine.filters import any_part, created_filters, equal
from persistence.engine.listings import SKIPPED, Filter, Listing
from persistence.engine.sql import Row, compiled, given, word
from persistence.store import MINE, among, in_business

T = TypeVar("T", bound=Customer | Vendor)

SHOWN = tuple(item.name for item in fields(Party))


@dataclass(frozen=True)
class PartySql(Generic[T]):
    """The SQL of one side's parties.

    `document` is the table of invoices or bills; `payment` and `credit` are the tables that settle
    them. `refund_owed` selects the unpaid refunds of the party given by the parameter `id`.
    """

    kind: type[T]
    party: Table
    document: Table
    payment: Table
    credit: Table
    refund_owed: Select[int]
    own_filters: Mapping[str, Filter] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the stored columns."""
        return tuple(item.name for item in fields(self.kind))

    @cached_property
    def columns(self) -> tuple[ColumnElement[Any], ...]:
        return (*(self.party.c[name] for name in self.names), self._outstanding())

    def _outstanding(self) -> ColumnElement[int]:
        document = self.document.c
        owed = select(func.coalesce(func.sum(document.outstanding), literal_column("0"))).where(
            document.business_id == MINE,
            document.party_id == self.party.c.id,
            document.outstanding > literal_column("0"),
        )
        return cast(owed.scalar_subquery(), BigInteger).label("outstanding_balance")

    @cached_property
    def open_amounts(self) -> str:
        """The statement that adds up one party's open amounts, named as in `OpenAmounts`."""
        document, payment, credit = self.document.c, self.payment.c, self.credit.c
        sums = {
            "outstanding_balance": summed(
                self.document, document.outstanding, document.outstanding > literal_column("0")
            ),
            "unapplied_payments": summed(
                self.payment,
                case(
                    (payment.status == word("completed"), payment.total - payment.allocated),
                    else_=payment.refunded,  # Refunded, but the payment is no longer completed.
                ),
            ),
            "unapplied_credits": summed(
                self.credit,
                credit.total_amount - credit.applied - credit.refunded,
                credit.state == word("open"),
            ),
            "unpaid_refunds": self.refund_owed,
        }
        return compiled(
            select(
                *(
                    cast(
                        func.coalesce(each.scalar_subquery(), literal_column("0")), BigInteger
                    ).label(name)
                    for name, each in sums.items()
                )
            )
        )

    @cached_property
    def by_id(self) -> str:
        return self._chosen(among(self.party.c.id))

    @cached_property
    def by_external_id(self) -> str:
        return self._chosen(self.party.c.external_id == given("external_id", Text))

    def _chosen(self, condition: ColumnElement[bool]) -> str:
        return compiled(select(*self.columns).where(in_business(self.party), condition))

    @cached_property
    def hold_by_id(self) -> str:
        return self._hold(self.party.c.id == given("id", Uuid))

    @cached_property
    def hold_by_external_id(self) -> str:
        return self._hold(self.party.c.external_id == given("external_id", Text))

    @cached_property
    def hold_by_ids(self) -> str:
        return self._hold(among(self.party.c.id))

    @cached_property
    def hold_by_external_ids(self) -> str:
        return self._hold(among(self.party.c.external_id, "external_ids"))

    def _hold(self, named: ColumnElement[bool]) -> str:
        """Return the statement that share-locks and reads parties, so that nobody archives them.

        The outstanding balance is not read, because adding it up is slow for a party with many
        documents.
        """
        chosen = select(*party_columns(self.party)).where(in_business(self.party), named)
        return compiled(chosen.with_for_update(read=True, key_share=True))

    @cached_property
    def close(self) -> str:
        """The statement that locks parties exclusively: it waits for all share locks.

        It precedes a change of status.
        """
        row = self.party.c
        chosen = select(row.id).where(in_business(self.party), among(row.id)).order_by(row.id)
        return compiled(chosen.with_for_update())

    @cached_property
    def listing(self) -> Listing:
        row = self.party.c
        return Listing(
            source=self.party,
            key=row.id,
            scope=in_business(self.party),
            columns=self.columns,
            filters={**self._filters(), **self.own_filters},
            sorts={
                "created_at": row.created_at,
                "updated_at": row.updated_at,
                "name": row.listed_name,
            },
            default_sort="-created_at",
        )

    def _filters(self) -> dict[str, Filter]:
        row = self.party.c
        name = given("name", Text)
        return {
            **created_filters(self.party),
            **equal(row.external_id),
            "external_id_contains": any_part("external_id_contains", row.external_id),
            "name": Filter(or_(row.company_name == name, row.individual_name == name), varies=True),
            "name_contains": any_part("name_contains", row.company_name, row.individual_name),
            "include_archived": Filter(
                row.archived_at.is_(None), lambda included: SKIPPED if included else False
            ),
        }


def summed(
    table: Table, amount: ColumnElement[int], *conditions: ColumnElement[bool]
) -> Select[int]:
    """Build the sum of an amount over the rows of the party given by the parameter `id`."""
    of_party = table.c.party_id == given("id", Uuid)
    return select(func.sum(amount)).where(in_business(table), of_party, *conditions)


def party_name(party: Table) -> ColumnElement[str]:
    """Return the name of a party: the company's name, else the person's."""
    return func.coalesce(party.c.company_name, party.c.individual_name)


def party_columns(party: Table) -> list[ColumnElement[Any]]:
    """Build the columns of a row's party, named `party_...`."""
    standing = party.c.standing if "standing" in party.c else word("ACTIVE")
    status = case((party.c.archived_at.is_not(None), word("ARCHIVED")), else_=standing)
    values = {"name": party_name(party), "status": status}
    return [(values[n] if n in values else party.c[n]).label(f"party_{n}") for n in SHOWN]


def on_party(table: Table, party: Table) -> ColumnElement[bool]:
    """Return the join condition of a row with its party."""
    return and_(in_business(party), party.c.id == table.c.party_id)


def of_party(party_id: ColumnElement[Any], party: Table, named: ColumnElement[bool]) -> Any:
    """Return the condition, on the column `party_id`, that the party fulfils `named`."""
    return party_id.in_(select(party.c.id).where(in_business(party), named))


def of_party_known_as(name: str, party_id: ColumnElement[Any], party: Table) -> Filter:
    """Build the filter `name`, which compares the external id of the party."""
    known = party.c.external_id == given(name, Text)
    one = select(party.c.id).where(in_business(party), known).scalar_subquery()
    return Filter(party_id == one)


def any_part_or_party(
    party_id: ColumnElement[Any], party: Table, *columns: ColumnElement[Any]
) -> Filter:
    """Build a substring search over several columns and the names of the party."""
    own, names = (any_part("search", *each) for each in (columns, _names(party)))
    return Filter(or_(own.condition, of_party(party_id, party, names.condition)), own.value)


def _names(party: Table) -> tuple[ColumnElement[str], ...]:
    return (party.c.company_name, party.c.individual_name)


def take_party(row: Row) -> Party:
    """Remove the columns of `party_columns` from a row and make a party from them."""
    return Party(**{name: row.pop(f"party_{name}") for name in SHOWN})
