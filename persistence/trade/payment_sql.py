"""SQL of invoice payments and bill payments: one class for both."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cached_property
from typing import Any

from sqlalchemy import (
    Table,
    Text,
    Uuid,
    and_,
    func,
    literal_column,
    select,
)
from sqlalchemy.sql.elements import ColumnElement

from accounting.trade.payments import Payment
from accounting.trade.sides import Side
from persistence.engine.filters import any_tag, between, created_filters, equal
from persistence.engine.listings import Filter, Listing, either_way
from persistence.engine.sql import compiled, given
from persistence.store import among, in_business
from persistence.trade.allocations import AllocationSql
from persistence.trade.party_sql import any_part_or_party, on_party, party_columns
from persistence.trade.refunds_by_payment import RefundedSql

DERIVED = ("party", "posted", "allocations")
STORED = tuple(item.name for item in fields(Payment) if item.name not in DERIVED)


class PaymentSql:
    """The SQL of one side's payments; `payout` is the table of payouts, if the side has them."""

    def __init__(
        self,
        side: Side,
        payment: Table,
        party: Table,
        allocations: AllocationSql,
        refunded: RefundedSql,
        *,
        payout: Table | None = None,
        own_filters: Mapping[str, Filter] | None = None,
    ) -> None:
        self.side = side
        self.payment = payment
        self.party = party
        self.allocations = allocations
        self.refunded = refunded
        self.payout = payout
        self.own_filters = own_filters or {}
        self.source = payment.join(party, on_party(payment, party))
        self.columns = (*(payment.c[name] for name in STORED), *party_columns(party))

    @cached_property
    def by_id(self) -> str:
        chosen = select(*self.columns).select_from(self.source)
        return compiled(chosen.where(in_business(self.payment), among(self.payment.c.id)))

    @cached_property
    def payouts(self) -> str:
        """The statement that reads the payouts of payments."""
        payment, payout = self.payment.c, self.payout
        assert payout is not None, "only money from customers comes in payouts"
        held = and_(in_business(payout), payout.c.id == payment.payout_id)
        names = ("id", "external_id", "processor", "processor_payout_id", "status", "completed_at")
        chosen = select(
            payment.id.label("payment_id"), *(payout.c[name] for name in (*names, "paid_out"))
        ).select_from(self.payment.join(payout, held))
        return compiled(chosen.where(in_business(self.payment), among(payment.id)))

    @cached_property
    def listing(self) -> Listing:
        return Listing(
            source=self.source,
            key=self.payment.c.id,
            scope=in_business(self.payment),
            columns=self.columns,
            filters=self._filters(),
            sorts={
                "payment_date": self.payment.c.payment_date,
                "amount": self.payment.c.total,
                "created_at": self.payment.c.created_at,
            },
            default_sort="-payment_date",
        )

    def _filters(self) -> dict[str, Filter]:
        side, row = self.side, self.payment.c
        return {
            **created_filters(self.payment),
            **any_tag("transaction_tags", row.transaction_tags),
            side.names.party_id: Filter(row.party_id == given(side.names.party_id, Uuid)),
            side.names.document_id: Filter(
                self.allocations.touching(self.payment, side.names.document_id)
            ),
            **between(row.payment_date, "payment_date_from", "payment_date_to"),
            **between(row.total, "min_amount", "max_amount"),
            "payment_method": Filter(row.method == given("payment_method", Text)),
            **equal(row.status, row.external_id),
            **either_way(
                "is_fully_allocated", row.allocated == row.total, row.allocated < row.total
            ),
            "search": any_part_or_party(
                row.party_id,
                self.party,
                row.external_id,
                row.note,
                row.payment_reference,
                row.bank_reference,
                row.processor_reference,
                values_of(row.references),
                row.check_number,
            ),
            **self.own_filters,
        }


def values_of(references: ColumnElement[Any]) -> ColumnElement[str]:
    """Join the values of a JSON object into one text, a value per line; null if it is empty."""
    value = func.jsonb_each_text(references).table_valued("key", "value").c.value
    return select(func.string_agg(value, literal_column("E'\\n'"))).scalar_subquery()
