"""Refunds as shown on payments: read here, spread over payments by the accounting rules."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import Any
from uuid import UUID

from sqlalchemy import Table, and_, func, literal_column, select, union_all
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.payments import Payment
from accounting.trade.refunds_by_payment import (
    RefundedDocument,
    RefundShare,
    SettledPart,
    refund_shares_of,
)
from persistence.engine.sql import Row, compiled, word
from persistence.store import MINE, among, in_business
from persistence.trade.document_settlements import SettlementTables


class RefundedSql:
    """The SQL that reads the refunds of payments and of their documents."""

    def __init__(self, document: Table, tables: SettlementTables) -> None:
        self.document = document
        self.tables = tables

    @cached_property
    def of_payments(self) -> str:
        """The statement that reads the refunds of payments and of their allocated documents."""
        row = self.tables.allocation.c
        affected = select(row.document_id).where(
            in_business(self.tables.allocation),
            among(row.payment_id, "payments"),
            row.end_on.is_(None),
        )
        return self._refunded(self.document.c.id.in_(affected))

    @cached_property
    def of_documents(self) -> str:
        """The statement that reads the refunds of payments and of the given documents.

        It serves a payment whose allocations to these documents are not saved yet.
        """
        return self._refunded(among(self.document.c.id, "documents"))

    def _refunded(self, affected: ColumnElement[bool]) -> str:
        document, payment = self.document, self.tables.payment
        by_payment = select(
            payment.c.id.label("payment_id"),
            literal_column("NULL::uuid").label("document_id"),
            self._refunds(payment, "payment_id").label("refunds"),
            literal_column("NULL::json").label("payments"),
        ).where(
            in_business(payment),
            among(payment.c.id, "payments"),
            payment.c.refunded > literal_column("0"),
        )
        by_document = select(
            literal_column("NULL::uuid"),
            document.c.id,
            self._refunds(document, "document_id"),
            self._payments(),
        ).where(in_business(document), affected, document.c.refunded > literal_column("0"))
        return compiled(union_all(by_payment, by_document))

    def _refunds(self, target: Table, name: str) -> Any:
        """Build a subquery that returns a target's live refunds as one JSON array."""
        tables = self.tables
        refund, share = tables.refund.c, tables.refund_allocation.c
        agreed_on = func.greatest(share.start_on, refund.agreed_on)
        item = func.json_build_array(refund.id, agreed_on, refund.reference_number, share.amount)
        held = and_(refund.business_id == MINE, refund.id == share.refund_id)
        return (
            select(func.json_agg(item))
            .select_from(tables.refund_allocation.join(tables.refund, held))
            .where(
                share.business_id == MINE,
                share[name] == target.c.id,
                share.end_on.is_(None),
            )
            .scalar_subquery()
        )

    def _payments(self) -> Any:
        """Build a subquery that returns a document's completed payments as one JSON array."""
        tables, document = self.tables, self.document.c
        payment, share = tables.payment.c, tables.allocation.c
        item = func.json_build_array(payment.id, payment.payment_date, share.amount)
        paying = and_(payment.business_id == MINE, payment.id == share.payment_id)
        return (
            select(func.json_agg(item))
            .select_from(tables.allocation.join(tables.payment, paying))
            .where(
                share.business_id == MINE,
                share.document_id == document.id,
                share.end_on.is_(None),
                payment.status == word("completed"),
            )
            .scalar_subquery()
        )


@dataclass(frozen=True, slots=True)
class RefundedPayments:
    """The refunds of unapplied money by payment, and the refunded documents by id."""

    payments: Mapping[UUID, tuple[RefundShare, ...]]
    documents: Mapping[UUID, RefundedDocument]

    def of(self, payment: Payment) -> tuple[RefundShare, ...]:
        """List the refund shares of a payment, oldest first."""
        return refund_shares_of(payment, self.payments.get(payment.id, ()), self.documents)


def refunded_of(rows: Iterable[Row]) -> RefundedPayments:
    """Make the result from the rows of `of_payments` or `of_documents`."""
    payments, documents = {}, {}
    for row in rows:
        document_id = row["document_id"]
        refunds = tuple(_given_back(document_id, *item) for item in row["refunds"] or ())
        if document_id is None:
            payments[row["payment_id"]] = refunds
        else:
            parts = tuple(_settled_part(*item) for item in row["payments"] or ())
            documents[document_id] = RefundedDocument(refunds, parts)
    return RefundedPayments(payments, documents)


def _given_back(
    document_id: UUID | None, refund_id: str, on: str, reference: str | None, amount: int
) -> RefundShare:
    return RefundShare(UUID(refund_id), document_id, date.fromisoformat(on), reference, amount)


def _settled_part(payment_id: str, on: str, amount: int) -> SettledPart:
    return SettledPart(UUID(payment_id), date.fromisoformat(on), amount)
