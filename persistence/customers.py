"""Customers as they are stored, with what each of them owes."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Text, Uuid, cast, func, literal_column, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.parties import Customer, Party, party_of
from persistence.filters import any_part, created_filters
from persistence.identifiers import new_id
from persistence.pages import SKIPPED, Filter, Listing, Page, PageRequest
from persistence.statements import Query, Row, compiled, given
from persistence.store import Store, among, in_business, no_such_reference
from persistence.tables import customer, invoice
from persistence.wire import Answers, Question

NAMES = tuple(item.name for item in fields(Customer))


@dataclass(frozen=True, slots=True)
class CustomerAccount:
    """A customer and what is outstanding on its sent invoices, in minor units."""

    customer: Customer
    outstanding_balance: int

    @property
    def id(self) -> UUID:
        return self.customer.id

    @property
    def version(self) -> int:
        return self.customer.version


def _outstanding() -> ColumnElement[int]:
    owed = select(func.coalesce(func.sum(invoice.c.outstanding), literal_column("0"))).where(
        invoice.c.business_id == customer.c.business_id,
        invoice.c.party_id == customer.c.id,
        invoice.c.outstanding > literal_column("0"),
    )
    return cast(owed.scalar_subquery(), BigInteger).label("outstanding_balance")


COLUMNS = (*(customer.c[name] for name in NAMES), _outstanding())
BY_ID = compiled(select(*COLUMNS).where(in_business(customer), among(customer.c.id)))
BY_EXTERNAL_ID = compiled(
    select(*COLUMNS).where(
        in_business(customer), customer.c.external_id == given("external_id", Text)
    )
)

# Held against archiving until the document that names the customer is committed.
HOLD = compiled(
    select(customer.c.id)
    .where(
        in_business(customer),
        or_(
            customer.c.id == given("id", Uuid), customer.c.external_id == given("external_id", Text)
        ),
    )
    .order_by(customer.c.id)
    .with_for_update(read=True, key_share=True)
)
LOCK = compiled(
    select(customer.c.id).where(in_business(customer), among(customer.c.id)).with_for_update()
)

LISTING = Listing(
    source=customer,
    key=customer.c.id,
    scope=in_business(customer),
    columns=COLUMNS,
    filters={
        **created_filters(customer),
        "external_id": Filter(customer.c.external_id == given("external_id", Text)),
        "external_id_contains": any_part("external_id_contains", customer.c.external_id),
        "name": Filter(
            or_(
                customer.c.company_name == given("name", Text),
                customer.c.individual_name == given("name", Text),
            )
        ),
        "name_contains": any_part(
            "name_contains", customer.c.company_name, customer.c.individual_name
        ),
        "email": Filter(func.lower(customer.c.email) == given("email", Text), str.lower),
        "status": Filter(
            customer.c.archived_at.is_(None) == given("status", Boolean),
            lambda status: status == "ACTIVE",
        ),
        "include_archived": Filter(
            customer.c.archived_at.is_(None), lambda included: SKIPPED if included else False
        ),
        "search": any_part(
            "search",
            customer.c.company_name,
            customer.c.individual_name,
            customer.c.external_id,
            customer.c.reference_number,
            customer.c.email,
            customer.c.notes,
        ),
    },
    sorts={
        "created_at": customer.c.created_at,
        "updated_at": customer.c.updated_at,
        "name": func.lower(
            func.coalesce(customer.c.company_name, customer.c.individual_name), type_=Text
        ),
    },
    default_sort="-created_at",
)


class CustomerStore(Store[CustomerAccount]):
    """The customers of one business."""

    table: ClassVar = customer
    noun: ClassVar = "customer"
    rank: ClassVar = 0

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        return (Query(BY_ID, {"ids": list(ids)}),)

    def assemble(self, answers: Answers) -> list[CustomerAccount]:
        return [_customer(row) for row in answers[0]]

    def _locking(self, ids: Sequence[UUID]) -> Query:
        return Query(LOCK, {"ids": list(ids)})

    def page(self, wanted: PageRequest) -> Question[Page[CustomerAccount]]:
        """List one page; asking for a status answers it, archived ones too."""
        if "status" in wanted.filters:
            filters = {k: v for k, v in wanted.filters.items() if k != "include_archived"}
            wanted = replace(wanted, filters=filters)
        return self.listed(LISTING, wanted, _customer)

    def with_external_id(self, external_id: str | None) -> Question[CustomerAccount | None]:
        """Find the customer a partner knows by its own identifier."""
        if external_id is None:
            return self.ask((), lambda _: None)
        query = Query(BY_EXTERNAL_ID, {"external_id": external_id})
        return self.ask(
            (query,), lambda answers: next(iter(self.seen(self.assemble(answers))), None)
        )

    def party(self, id: UUID | None, external_id: str | None) -> Question[Party]:
        """Find the customer that a body names by its id, else by its external id.

        One that is named by an external id nobody has is made, named like it. Raises RuleBroken
        `reference_not_found` for an unknown id. Whether an external id beside the id agrees with
        it is for the rules to say.
        """
        names = {"id": id, "external_id": None if id else external_id}
        reading = self.loading([id]) if id else (Query(BY_EXTERNAL_ID, names),)

        def answer(answers: Answers) -> Party:
            found = self.assemble(answers[1:])
            if found:
                return party_of(found[0].customer)
            if id is not None:
                raise no_such_reference("customer", id)
            assert external_id is not None, "the contract asks for one of the two"
            return party_of(self._made_for(external_id))

        return self.ask((Query(HOLD, names), *reading), answer)

    def _made_for(self, external_id: str) -> Customer:
        now = self.books.now
        made = Customer(
            id=new_id(),
            version=0,
            created_at=now,
            updated_at=now,
            external_id=external_id,
            company_name=external_id,
        )
        self.save(made)
        return made

    def save(self, value: Customer) -> None:
        """Stage a customer."""
        self.books.stage(customer, value.id, {name: getattr(value, name) for name in NAMES})


def _customer(row: Row) -> CustomerAccount:
    outstanding = row.pop("outstanding_balance")
    row["transaction_tags"] = tuple(row["transaction_tags"])
    return CustomerAccount(Customer(**row), outstanding)
