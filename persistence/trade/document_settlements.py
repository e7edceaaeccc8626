"""Live settlements and refunds of a document, as shown in its response.

They are read together with the document, or by a second statement that reads only the kinds the
document has. Each kind is one aggregate column.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Date, Table, and_, case, cast, func, or_, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.allocation import exchanged
from accounting.trade.documents import Document
from accounting.trade.write_offs import WriteOff, tax_taken_back, written_off_on
from persistence.engine.sql import Row, word
from persistence.ledger.split_rows import split_of
from persistence.store import MINE, in_business

T = TypeVar("T")

KINDS = ("payments", "credits", "refunds", "write_offs")
"""The kinds of settlements and refunds of a document; each is a column of the statement."""


@dataclass(frozen=True, slots=True)
class AppliedPayment:
    """The amount of a document that one payment settles, in minor units.

    `amount_cents` is in the currency of the document, `payment_amount_cents` in that of the
    payment. `exchanged` is the base that the payment brought less the base that it settled.
    """

    payment_id: UUID
    payment_date: date
    payment_method: str
    amount_cents: int
    payment_amount_cents: int
    exchanged: int = 0


@dataclass(frozen=True, slots=True)
class AppliedCredit:
    """The amount of a document that one credit settles since a day, in minor units."""

    credit_id: UUID
    applied_on: date
    amount_cents: int


@dataclass(frozen=True, slots=True)
class GivenRefund:
    """The amount of a document that one refund refunds, owed since a day, in minor units."""

    refund_id: UUID
    allocated_on: date
    reference_number: str | None
    amount_cents: int


@dataclass(frozen=True, slots=True)
class ShownWriteOff:
    """The amount of a document that one write-off wrote off, in minor units."""

    id: UUID
    external_id: str | None
    amount_cents: int
    write_off_at: datetime
    memo: str | None
    account_id: UUID
    tags: tuple[tuple[str, str], ...]
    tax_relief: bool
    tax_relieved_cents: int
    written_off_on: date


@dataclass(frozen=True, slots=True, kw_only=True)
class Settlements:
    """The live payments, credits, refunds and write-offs of a document."""

    payments: tuple[AppliedPayment, ...] = ()
    credits: tuple[AppliedCredit, ...] = ()
    refunds: tuple[GivenRefund, ...] = ()
    write_offs: tuple[ShownWriteOff, ...] = ()

    def ids(self) -> dict[str, list[str]]:
        """List the ids, by kind."""
        return {
            "payment_ids": [str(each.payment_id) for each in self.payments],
            "credit_ids": [str(each.credit_id) for each in self.credits],
            "refund_ids": [str(each.refund_id) for each in self.refunds],
            "write_off_ids": [str(each.id) for each in self.write_offs],
        }

    def with_write_off(self, changed: WriteOff) -> "Settlements":
        """Return a copy with the changed write-off; a reversed write-off is left out."""
        others = tuple(each for each in self.write_offs if each.id != changed.id)
        if changed.reversed_at is not None:
            return replace(self, write_offs=others)
        share = ShownWriteOff(
            changed.id,
            changed.external_id,
            changed.amount,
            changed.write_off_at,
            changed.memo,
            changed.account_id,
            changed.tags,
            changed.tax_relief,
            tax_taken_back(changed.relieved),
            written_off_on(changed),
        )
        return replace(self, write_offs=(*others, share))


@dataclass(frozen=True, slots=True)
class SettlementTables:
    """The tables of one side's settlements and refunds."""

    payment: Table
    allocation: Table
    credit: Table
    credit_allocation: Table
    refund: Table
    refund_allocation: Table
    write_off: Table


def kinds_of(document: Document) -> tuple[str, ...]:
    """List the kinds that a document has, by its amounts, which `check-books` verifies."""
    amounts = {
        "payments": document.paid + document.reserved,
        "credits": document.credited,
        "refunds": document.refunded,
        "write_offs": document.written_off,
    }
    return tuple(kind for kind, amount in amounts.items() if amount)


def settlement_columns(
    document: Table, tables: SettlementTables, kinds: Sequence[str] = KINDS
) -> list[ColumnElement[Any]]:
    """Build the columns with each document's settlements and refunds, one JSON array per kind."""
    columns = {
        "payments": _payments,
        "credits": _credits,
        "refunds": _refunds,
        "write_offs": _write_offs,
    }
    return [columns[kind](document, tables).label(kind) for kind in kinds]


def take_settlements(row: Row) -> Settlements:
    """Remove the columns of `settlement_columns` from a row and make settlements from them.

    A missing kind is an empty tuple.
    """
    return Settlements(
        payments=_each(row.pop("payments", None), _payment_share),
        credits=_each(row.pop("credits", None), _credit_share),
        refunds=_each(row.pop("refunds", None), _refund_share),
        write_offs=_each(row.pop("write_offs", None), _write_off_share),
    )


def stored_day(on: ColumnElement[Any], at: ColumnElement[Any]) -> ColumnElement[date]:
    """Return the day beside a moment, as `accounting.books.time_zones.stored_day` does."""
    return func.coalesce(on, cast(func.timezone(word("UTC"), at), Date))


def _payments(document: Table, tables: SettlementTables) -> Any:
    payment, share = tables.payment.c, tables.allocation
    part = share.c
    is_foreign = or_(part.document_amount.is_not(None), part.base_amount.is_not(None))
    settles = func.coalesce(part.document_amount, part.amount)
    brings = func.coalesce(part.base_amount, part.amount)
    split = case((is_foreign, part.split))
    shown = (payment.id, payment.payment_date, payment.method, settles, part.amount, brings, split)
    order = (payment.payment_date, share.c.id)
    paid = _held_by(share, "payment_id", tables.payment)
    return _gathered(document, share, paid, shown, order)


def _credits(document: Table, tables: SettlementTables) -> Any:
    """Build the column of credits, dated as in `accounting.trade.credits.applied_days`."""
    credit, share = tables.credit.c, tables.credit_allocation
    opened_on = stored_day(credit.opened_on, credit.opened_at)
    applied_on = func.greatest(share.c.start_on, opened_on, share.c.document_date)
    shown = (credit.id, applied_on, share.c.amount)
    credited = _held_by(share, "credit_id", tables.credit)
    return _gathered(document, share, credited, shown, (applied_on, share.c.id))


def _refunds(document: Table, tables: SettlementTables) -> Any:
    """Build the column of refunds, dated as in `accounting.trade.refunds.agreed_days`.

    The day is never earlier than that of the refund.
    """
    refund, share = tables.refund.c, tables.refund_allocation
    allocated_on = func.greatest(share.c.start_on, refund.agreed_on)
    shown = (refund.id, allocated_on, refund.reference_number, share.c.amount)
    refunded = _held_by(share, "refund_id", tables.refund)
    return _gathered(document, share, refunded, shown, (allocated_on, share.c.id))


def _write_offs(document: Table, tables: SettlementTables) -> Any:
    row = tables.write_off.c
    shown = func.json_build_array(
        *(row.id, row.external_id, row.amount, row.write_off_at, row.memo, row.account_id),
        *(row.tags, row.tax_relief, row.relieved),
        stored_day(row.written_off_on, row.write_off_at),
    )
    gathered = select(func.json_agg(shown).aggregate_order_by(row.id)).where(
        row.business_id == MINE,
        row.document_id == document.c.id,
        row.reversed_at.is_(None),
    )
    return gathered.scalar_subquery()


def _held_by(share: Table, holder_id: str, holder: Table) -> Any:
    """Join allocations with their holders (payments, credits or refunds)."""
    held = and_(in_business(holder), holder.c.id == share.c[holder_id])
    return share.join(holder, held)


def _gathered(
    document: Table,
    share: Table,
    source: Any,
    shown: tuple[ColumnElement[Any], ...],
    order: tuple[ColumnElement[Any], ...],
) -> Any:
    """Build a subquery that returns the live allocations of a document as one JSON array."""
    item = func.json_build_array(*shown)
    gathered = select(func.json_agg(item).aggregate_order_by(*order)).select_from(source)
    return gathered.where(
        in_business(share),
        share.c.document_id == document.c.id,
        share.c.end_on.is_(None),
    ).scalar_subquery()


def _each(items: list[list[Any]] | None, read: Callable[..., T]) -> tuple[T, ...]:
    return tuple(read(*item) for item in items or ())


def _payment_share(payment: str, on: str, method: str, *amounts: Any) -> AppliedPayment:
    amount, paid, brought, split = amounts
    more = exchanged(brought, split_of(split or []))
    return AppliedPayment(UUID(payment), date.fromisoformat(on), method, amount, paid, more)


def _credit_share(credit: str, on: str, amount: int) -> AppliedCredit:
    return AppliedCredit(UUID(credit), date.fromisoformat(on), amount)


def _refund_share(refund: str, on: str, reference: str | None, amount: int) -> GivenRefund:
    return GivenRefund(UUID(refund), date.fromisoformat(on), reference, amount)


def _write_off_share(*values: Any) -> ShownWriteOff:
    id_, external_id, amount, at, memo, account, tags, tax_relief, relieved, on = values
    moment = datetime.fromisoformat(at).astimezone(UTC)
    pairs = tuple((key, value) for key, value in tags)
    told = (UUID(id_), external_id, amount, moment, memo, UUID(account), pairs)
    taken_back = tax_taken_back(split_of(relieved))
    return ShownWriteOff(*told, tax_relief, taken_back, date.fromisoformat(on))
