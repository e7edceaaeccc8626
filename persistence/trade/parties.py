"""Stored customers and vendors with their outstanding amounts: one store for both.

A subclass names its table and its SQL.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    Table,
    Text,
    Uuid,
    case,
    cast,
    func,
    literal_column,
    or_,
    select,
)
from sqlalchemy.sql.elements import ColumnElement
from sqlalchemy.sql.selectable import Select

from accounting.errors import AboutItem
from accounting.trade.parties import (
    CreatedParty,
    Customer,
    OpenAmounts,
    Party,
    PartyNamed,
    Vendor,
    party_of,
    unknown_party,
)
from persistence.engine.ids import new_id
from persistence.engine.listings import SKIPPED, Filter, Listing, any_part, created_filters, equal
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.store import MINE, Record, Store, among, in_business, no_such_reference
from persistence.tables import (
    bill,
    bill_payment,
    customer,
    customer_credit,
    invoice,
    invoice_payment,
    invoice_refund,
    vendor,
    vendor_credit,
    vendor_refund,
    vendor_refund_payment,
)
from persistence.trade.party_columns import party_columns, party_status, take_party

# SQL of customers and vendors: one class for both.


P = TypeVar("P", bound=Customer | Vendor)


@dataclass(frozen=True)
class PartySql(Generic[P]):
    """The SQL of one side's parties.

    `document` is the table of invoices or bills; `payment` and `credit` are the tables that settle
    them. `refund_owed` selects the unpaid refunds of the party given by the parameter `id`.
    `searched` are columns that only this side's parties have.
    """

    kind: type[P]
    party: Table
    document: Table
    payment: Table
    credit: Table
    refund_owed: Select[int]
    searched: tuple[ColumnElement[Any], ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the stored columns."""
        return tuple(item.name for item in fields(self.kind))

    @cached_property
    def columns(self) -> tuple[ColumnElement[Any], ...]:
        own = (self.party.c[name] for name in self.names)
        return (*own, self._outstanding(), self._in_foreign_currencies())

    def _outstanding(self) -> ColumnElement[int]:
        """Build the sum of what is owed, each amount in its own currency."""
        document = self.document.c
        owed = select(func.coalesce(func.sum(document.outstanding), literal_column("0"))).where(
            *self._owed
        )
        return cast(owed.scalar_subquery(), BigInteger).label("owed")

    def _in_foreign_currencies(self) -> ColumnElement[Any]:
        """Build the array of [currency, own, base] of each foreign document that is owed."""
        document = self.document.c
        base = document.base_total - document.base_settled
        each = func.json_build_array(document.currency, document.outstanding, base)
        foreign = select(func.json_agg(each)).where(*self._owed, document.base_total.is_not(None))
        return foreign.scalar_subquery().label("foreign_owed")

    @property
    def _owed(self) -> tuple[ColumnElement[bool], ...]:
        document = self.document.c
        return (
            document.business_id == MINE,
            document.party_id == self.party.c.id,
            document.outstanding > literal_column("0"),
        )

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
            filters=self._filters(),
            sorts={
                "created_at": row.created_at,
                "updated_at": row.updated_at,
                "name": row.listed_name,
            },
            default_sort="-created_at",
        )

    def _listed_email(self) -> ColumnElement[str]:
        """Return the e-mail address in lower case; only customers have it in an indexed column."""
        row = self.party.c
        return row.listed_email if "listed_email" in row else func.lower(row.email)

    def _filters(self) -> dict[str, Filter]:
        row = self.party.c
        name = given("name", Text)
        return {
            **created_filters(self.party),
            **equal(row.external_id),
            "external_id_contains": any_part("external_id_contains", row.external_id),
            "name": Filter(or_(row.company_name == name, row.individual_name == name), varies=True),
            "name_contains": any_part("name_contains", row.company_name, row.individual_name),
            "email": Filter(self._listed_email() == given("email", Text), str.lower),
            "status": Filter(party_status(self.party) == given("status", Text)),
            "search": any_part(
                "search",
                row.company_name,
                row.individual_name,
                row.external_id,
                row.email,
                *self.searched,
            ),
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


T = TypeVar("T", bound=Customer | Vendor)


@dataclass(frozen=True, slots=True)
class PartyAccount(Record, Generic[T]):
    """A customer or vendor with the outstanding amounts of its documents, in minor units.

    `owed` is the sum of all amounts, each in its own currency; `foreign_owed` has the own and the
    base amount of each foreign currency.
    """

    trader: T
    owed: int = 0
    foreign_owed: Mapping[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def outstanding_balance(self) -> int:
        """The outstanding amount in base."""
        return self.owed + sum(base - own for own, base in self.foreign_owed.values())

    def outstanding_by_currency(self, base_currency: str) -> dict[str, int]:
        """Return the outstanding amount in each currency that has one, by currency."""
        own = {currency: own for currency, (own, _) in self.foreign_owed.items()}
        in_base = self.owed - sum(own.values())
        return dict(sorted({**own, **({base_currency: in_base} if in_base else {})}.items()))

    @property
    def stored(self) -> T:
        return self.trader


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
        RuleViolation `reference_not_found` for an unknown id, and for an unknown external id if the
        business refuses these. If both are given, the caller checks
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
            return self._create(external_id)

        return self.fetch((by_id if id_ else by_name,), answer)

    def all_named(self, named: Mapping[PartyNamed, str]) -> Fetch[dict[PartyNamed, Party]]:
        """Load, share-lock or create all named parties, as `party` does for one.

        `named` has the path of the list item that names each of them. Raises RuleViolation
        `reference_not_found`, as `party` does.
        """
        ids = {each.id for each in named if each.id is not None}
        places = {each.external_id: place for each, place in named.items() if each.id is None}
        queries = (
            Query(self.sql.hold_by_ids, {"ids": sorted(ids)}),
            Query(self.sql.hold_by_external_ids, {"external_ids": sorted(map(str, places))}),
        )

        def answer(answers: Answers) -> dict[PartyNamed, Party]:
            by_id, by_name = ([take_party(row) for row in rows] for rows in answers)
            known: dict[UUID | str | None, Party] = {each.id: each for each in by_id}
            known |= {each.external_id: each for each in by_name}
            for external_id in sorted(each for each in places.keys() - known.keys() if each):
                known[external_id] = self._create(external_id, places[external_id])
            for id_ in sorted(ids - known.keys()):
                raise no_such_reference(self.noun, id_)
            return {each: known[each.id or each.external_id] for each in named}

        return self.fetch(queries if named else (), lambda rows: answer(rows) if named else {})

    def _create(self, external_id: str, place: str = "") -> Party:
        """Create the party with an unknown external id, which the answer reports."""
        field = f"{self.noun}_external_id"
        path = f"{place}.{field}" if place else field
        if self.scope.facts["unknown_parties"] == "refuse":
            with AboutItem(place):
                raise unknown_party(self.noun, external_id, path)
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
        self.scope.created_parties.append(CreatedParty(self.noun, external_id, path))
        return party_of(made)

    def save(self, value: T) -> None:
        """Stage a customer or vendor."""
        names = self.sql.names
        self.scope.stage(self.table, value, {name: getattr(value, name) for name in names})

    def _account(self, row: Row) -> PartyAccount[T]:
        owed, foreign = row.pop("owed"), row.pop("foreign_owed")
        row["transaction_tags"] = tuple(row["transaction_tags"])
        return PartyAccount(self.sql.kind(**row), owed, _by_currency(foreign or []))


def _by_currency(owed: Iterable[tuple[str, int, int]]) -> dict[str, tuple[int, int]]:
    sums: dict[str, tuple[int, int]] = {}
    for currency, own, base in owed:
        before = sums.get(currency, (0, 0))
        sums[currency] = before[0] + own, before[1] + base
    return sums


# Stored customers: the parties to which the business sells.


REFUND = invoice_refund.c
CUSTOMERS = PartySql(
    Customer,
    customer,
    invoice,
    invoice_payment,
    customer_credit,
    summed(invoice_refund, REFUND.amount - REFUND.paid, REFUND.cancelled_at.is_(None)),
    searched=(customer.c.reference_number, customer.c.notes),
)


class CustomerStore(PartyStore[Customer]):
    """The customers of one business."""

    table: ClassVar = customer
    noun: ClassVar = "customer"
    rank: ClassVar = 0
    sql = CUSTOMERS


# Stored vendors: the parties from which the business buys.


# A vendor announces its refund payments in advance. This is the sum of those not received yet.
STILL_TO_COME = select(func.sum(vendor_refund_payment.c.amount)).where(
    in_business(vendor_refund_payment),
    vendor_refund_payment.c.status.in_([word("pending"), word("processing"), word("failed")]),
    vendor_refund_payment.c.refund_id.in_(
        select(vendor_refund.c.id).where(
            in_business(vendor_refund), vendor_refund.c.party_id == given("id", Uuid)
        )
    ),
)
VENDORS = PartySql(
    Vendor,
    vendor,
    bill,
    bill_payment,
    vendor_credit,
    STILL_TO_COME,
    searched=(vendor.c.memo,),
)


class VendorStore(PartyStore[Vendor]):
    """The vendors of one business.

    They have the same lock rank as customers, because no transaction locks both.
    """

    table: ClassVar = vendor
    noun: ClassVar = "vendor"
    rank: ClassVar = 0
    sql = VENDORS
