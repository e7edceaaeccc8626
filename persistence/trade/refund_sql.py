"""SQL that invoice refunds and vendor refunds have in common."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    Table,
    Text,
    Uuid,
    and_,
    case,
    distinct,
    func,
    literal_column,
    select,
    type_coerce,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.refunds import InvoiceRefund, RefundPayment, VendorRefund
from accounting.trade.sides import Side
from persistence.engine.listings import Filter, Listing, between, created_filters, equal, one_of
from persistence.engine.sql import compiled, given, word
from persistence.store import MINE, Choice, among, in_business
from persistence.tables import bank_link
from persistence.trade.document_sql import DocumentSql
from persistence.trade.linked_lines import lines_where
from persistence.trade.money_banks import bank_columns
from persistence.trade.party_columns import of_party_known_as, on_party, party_columns
from persistence.trade.worth_columns import money_columns

DERIVED = ("party", "allocations", "posted", "about", "bank", "own_account_id", "worth")


WholeRefunds = tuple[str, str, str, str, str]
"""The statements that read refunds, allocations, documents, payments and bank lines."""


def _only_target(allocation: Table, refund_id: ColumnElement[UUID]) -> ColumnElement[Any]:
    """Return the only target of a refund, or null, as `accounting.trade.refunds.about` does."""
    row = allocation.c
    target = func.coalesce(row.document_id, row.payment_id, row.refunded_credit_id)
    targets = type_coerce(func.array_agg(distinct(target)), ARRAY(Uuid()))
    one: ColumnElement[int] = literal_column("1")
    only = case((func.cardinality(targets) == one, targets[one]))
    given_back = select(only).where(
        in_business(allocation), row.refund_id == refund_id, target.is_not(None)
    )
    return given_back.scalar_subquery()


class RefundPaymentSql:
    """The SQL of the payments of one side's refunds."""

    def __init__(
        self,
        kind: type[RefundPayment],
        payment: Table,
        refund: Table,
        allocation: Table,
        party: Table,
    ) -> None:
        self.kind = kind
        self.payment = payment
        self.refund = refund
        self.party = party
        self.stored = tuple(item.name for item in fields(kind) if item.name not in DERIVED)
        self.paying = and_(in_business(refund), refund.c.id == payment.c.refund_id)
        self.source = payment.join(refund, self.paying).join(party, on_party(refund, party))
        self.columns = (
            *(payment.c[name] for name in self.stored),
            *money_columns(payment),
            *bank_columns(payment),
            *party_columns(party),
        )
        self.about = _only_target(allocation, payment.c.refund_id).label("about")

    @cached_property
    def by_id(self) -> str:
        return self.chosen(among(self.payment.c.id))

    @cached_property
    def by_external_id(self) -> str:
        return self.chosen(self.payment.c.external_id == given("external_id", Text))

    @cached_property
    def refund_known(self) -> str:
        """The statement that returns the ids of those refunds that exist."""
        chosen = select(self.refund.c.id)
        return compiled(chosen.where(in_business(self.refund), among(self.refund.c.id)))

    def chosen(self, condition: ColumnElement[bool]) -> str:
        """Return the statement that reads the payments matching a condition, oldest first."""
        found = select(*self.columns, self.about).select_from(self.source)
        picked = found.where(in_business(self.payment), condition)
        return compiled(picked.order_by(self.payment.c.created_at, self.payment.c.id))

    def lines_of(self, choice: Choice) -> str:
        """Return the statement that reads the bank lines linked with the payments of refunds."""
        payment = self.payment.c
        paying = select(payment.id).where(in_business(self.payment), choice(payment.refund_id))
        return lines_where(bank_link.c.target_id.in_(paying))

    @cached_property
    def of_one(self) -> Listing:
        """The list of the payments of one refund."""
        return Listing(
            source=self.source,
            key=self.payment.c.id,
            scope=and_(
                in_business(self.payment), self.payment.c.refund_id == given("refund_id", Uuid)
            ),
            columns=self.columns,
            filters=created_filters(self.payment),
            sorts={"created_at": self.payment.c.created_at},
            default_sort="-created_at",
        )


class RefundSql(ABC):
    """The SQL of one side's refunds; each side adds the filters of its list.

    `credit` is the table of credits: a refund can pay out a credit, or be kept as one.
    """

    def __init__(
        self,
        side: Side,
        kind: type[InvoiceRefund] | type[VendorRefund],
        allocation: Table,
        documents: DocumentSql,
        payments: RefundPaymentSql,
        credit: Table,
    ) -> None:
        self.side = side
        self.kind = kind
        self.refund = refund = payments.refund
        self.party = party = payments.party
        self.allocation = allocation
        self.documents = documents
        self.payments = payments
        self.credit = credit
        self.stored = tuple(item.name for item in fields(kind) if item.name not in DERIVED)
        self.source = refund.join(party, on_party(refund, party))
        self.names_bank = "bank" in {item.name for item in fields(kind)}
        self.columns = (
            *(refund.c[name] for name in self.stored),
            *(bank_columns(refund) if self.names_bank else ()),
            *party_columns(party),
        )

    @cached_property
    def by_id(self) -> str:
        return self._refunds(among)

    @cached_property
    def allocations(self) -> str:
        return self._allocations(among)

    @cached_property
    def targets(self) -> str:
        """The statement that reads the targets of refunds, also of cancelled ones."""
        row = self.allocation.c
        chosen = select(row.document_id, row.payment_id, row.refunded_credit_id)
        return compiled(chosen.where(in_business(self.allocation), among(row.refund_id)))

    @cached_property
    def shown(self) -> WholeRefunds:
        return self._whole(among)

    @cached_property
    def with_payment(self) -> WholeRefunds:
        """The statements that read the refund to which a payment belongs."""
        payment = self.payments.payment
        paid = select(payment.c.refund_id).where(in_business(payment), among(payment.c.id))
        return self._whole(lambda column: column.in_(paid))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.source,
            key=self.refund.c.id,
            scope=in_business(self.refund),
            columns=self.columns,
            filters={**self._common_filters(), **self.filters()},
            sorts=self.sorts(),
            default_sort="-created_at",
        )

    @abstractmethod
    def filters(self) -> Mapping[str, Filter]:
        """Return the side's own filters, in addition to the filters of every list of refunds."""

    def sorts(self) -> Mapping[str, ColumnElement[Any]]:
        """Return the sort columns of the side's list."""
        return {"created_at": self.refund.c.created_at, "amount": self.refund.c.amount}

    def _whole(self, choice: Choice) -> WholeRefunds:
        return (
            self._refunds(choice),
            self._allocations(choice),
            self._documents(choice),
            self.payments.chosen(choice(self.payments.payment.c.refund_id)),
            self.payments.lines_of(choice),
        )

    def _refunds(self, choice: Choice) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.refund), choice(self.refund.c.id)))

    def _allocations(self, choice: Choice) -> str:
        """Return the statement that reads all allocations of refunds, ended ones too.

        Each row includes the number of its document or credit, and the tax code of the credit's
        first line.
        """
        row, document = self.allocation, self.documents.document
        own = (column for column in row.c if column.name != "business_id")
        source = row.outerjoin(document, self.given_back()).outerjoin(self.credit, self._credited())
        number = func.coalesce(document.c.number, self.credit.c.number)
        code = self.credit.c.lines.op("#>>")(word("{0,tax_code_id}"))
        chosen = select(*own, number.label("target_number"), code.label("credit_code"))
        return compiled(
            chosen.select_from(source)
            .where(in_business(row), choice(row.c.refund_id))
            .order_by(row.c.id)
        )

    def _documents(self, choice: Choice) -> str:
        """Return the statement that reads the documents of all allocations, without lines."""
        row, document = self.allocation.c, self.documents.document
        affected = select(row.document_id).where(
            in_business(self.allocation), choice(row.refund_id)
        )
        chosen = select(*self.documents.listing.columns).select_from(self.documents.source)
        return compiled(chosen.where(in_business(document), document.c.id.in_(affected)))

    def given_back(self) -> ColumnElement[bool]:
        """Return the join condition of an allocation with the refunded document."""
        row, document = self.allocation.c, self.documents.document.c
        return and_(document.business_id == MINE, document.id == row.document_id)

    def _credited(self) -> ColumnElement[bool]:
        """Return the join condition of an allocation with the credit it pays out, or is kept as."""
        row, credit = self.allocation.c, self.credit.c
        ids = [row[name] for name in ("refunded_credit_id", "credit_id") if name in row]
        return and_(credit.business_id == MINE, credit.id == func.coalesce(*ids))

    def _common_filters(self) -> dict[str, Filter]:
        row, names = self.refund.c, self.side.names
        return {
            **created_filters(self.refund),
            names.party_id: one_of(names.party_id, row.party_id),
            names.party_external_id: of_party_known_as(
                names.party_external_id, row.party_id, self.party
            ),
            **between(row.amount, "min_amount", "max_amount"),
            **equal(row.external_id),
        }
