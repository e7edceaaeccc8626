"""SQL of payouts, of the payments they list, and of their list."""

from dataclasses import fields

from sqlalchemy import BigInteger, Table, Text, cast, func, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.payouts import Payout
from persistence.engine.filters import (
    any_part,
    between,
    created_filters,
    equal,
    listed_between,
)
from persistence.engine.listings import Filter, Listing, one_of
from persistence.engine.sql import compiled, given, word
from persistence.store import among, in_business
from persistence.tables import invoice_payment, invoice_refund_payment, payout, payout_item
from persistence.trade.invoices import PAYMENTS, REFUND_PAYMENTS

STORED = tuple(item.name for item in fields(Payout) if item.name not in ("items", "posted"))
_COLUMNS = [payout.c[name] for name in STORED]
_KEPT = payout.c.deleted_at.is_(None)

_ITEM_COLUMNS = [column for column in payout_item.c if column.name != "business_id"]
_NAMED = select(payout.c.id).where(
    in_business(payout), payout.c.external_id == given("external_id", Text)
)


def _payouts(chosen: ColumnElement[bool]) -> str:
    return compiled(select(*_COLUMNS).where(in_business(payout), _KEPT, chosen))


def _items(chosen: ColumnElement[bool]) -> str:
    items = select(*_ITEM_COLUMNS).where(in_business(payout_item), chosen)
    return compiled(items.order_by(payout_item.c.id))


BY_ID, ITEMS = _payouts(among(payout.c.id)), _items(among(payout_item.c.payout_id))
EVER = compiled(select(*_COLUMNS).where(in_business(payout), among(payout.c.id)))
NAMED = (_payouts(payout.c.id.in_(_NAMED)), _items(payout_item.c.payout_id.in_(_NAMED)))
"""The statements that read a payout by its external id, and its items."""


# Upserts of one external id run one after another: the payments an upsert locks depend on those
# that the previous one listed, and payments are locked before payouts.
ONE_BY_ONE = """
SELECT pg_advisory_xact_lock(
  hashtextextended('payout ' || %(business_id)s::text || %(external_id)s::text, 0)
)
"""


def _listed_in(money: Table, column: ColumnElement[object]) -> ColumnElement[bool]:
    """Return the condition that a payment is listed in payouts now."""
    chosen = select(column).where(
        in_business(payout_item),
        among(payout_item.c.payout_id),
        payout_item.c.listed,
        column.is_not(None),
    )
    return money.c.id.in_(chosen)


ITS_PAYMENTS = compiled(
    select(*PAYMENTS.columns)
    .select_from(PAYMENTS.source)
    .where(
        in_business(invoice_payment),
        _listed_in(invoice_payment, payout_item.c.payment_id),
    )
)
ITS_REFUND_PAYMENTS = REFUND_PAYMENTS.chosen(
    _listed_in(invoice_refund_payment, payout_item.c.refund_payment_id)
)
COUNTS = compiled(
    select(
        payout_item.c.payout_id,
        func.count(payout_item.c.payment_id).label("payments"),
        func.count(payout_item.c.refund_payment_id).label("refund_payments"),
    )
    .where(in_business(payout_item), among(payout_item.c.payout_id), payout_item.c.listed)
    .group_by(payout_item.c.payout_id)
)


def _sum(amount: ColumnElement[int]) -> ColumnElement[int]:
    return cast(func.coalesce(func.sum(amount), literal_column("0")), BigInteger)


# The sums of items that are completed now, for payouts that do not hold their items.
SUMS = compiled(
    select(
        payout_item.c.payout_id,
        _sum(invoice_payment.c.total).label("gross"),
        _sum(invoice_refund_payment.c.amount).label("refunded"),
    )
    .select_from(
        payout_item.outerjoin(
            invoice_payment,
            in_business(invoice_payment)
            & (invoice_payment.c.id == payout_item.c.payment_id)
            & (invoice_payment.c.status == word("completed")),
        ).outerjoin(
            invoice_refund_payment,
            in_business(invoice_refund_payment)
            & (invoice_refund_payment.c.id == payout_item.c.refund_payment_id)
            & (invoice_refund_payment.c.status == word("completed")),
        )
    )
    .where(in_business(payout_item), among(payout_item.c.payout_id), payout_item.c.listed)
    .group_by(payout_item.c.payout_id)
)


LISTING = Listing(
    source=payout,
    key=payout.c.id,
    scope=in_business(payout) & _KEPT,
    columns=_COLUMNS,
    filters={
        **created_filters(payout),
        **listed_between(
            payout.c.listed_at, payout.c.completed_at, "completed_at_from", "completed_at_to"
        ),
        "external_id": any_part("external_id", payout.c.external_id),
        **between(payout.c.paid_out, "min_amount", "max_amount"),
        **equal(payout.c.processor),
        "status": one_of("status", payout.c.status),
        "reconciliation_status": Filter(
            payout.c.listed_reconciliation == given("reconciliation_status", Text)
        ),
        "search": any_part(
            "search",
            payout.c.external_id,
            payout.c.processor_payout_id,
            payout.c.reference_number,
            payout.c.memo,
        ),
    },
    sorts={
        "completed_at": payout.c.listed_at,
        "amount": payout.c.paid_out,
        "created_at": payout.c.created_at,
    },
    default_sort="-completed_at",
)
