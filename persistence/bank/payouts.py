"""Stored payouts, with the payments and refund payments that they list."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy import BigInteger, Table, Text, cast, func, literal_column, select
from sqlalchemy.sql.elements import ColumnElement

from accounting.bank.payouts import LIVE, FeeStep, Item, Money, OtherItem, Payout
from accounting.books.foreign import ForeignAmount
from accounting.books.ledger import PostedEntry
from persistence.engine.ids import known_id
from persistence.engine.listings import (
    Filter,
    Listing,
    any_part,
    between,
    created_filters,
    equal,
    listed_between,
    one_of,
)
from persistence.engine.pages import Page, PageRequest
from persistence.engine.sql import Answers, Fetch, Query, Row, compiled, given, word
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Record, Store, among, in_business
from persistence.tables import invoice_payment, invoice_refund_payment, payout, payout_item
from persistence.tax.gross_amounts import held_of, held_row
from persistence.trade.money_banks import bank_columns, take_bank
from persistence.trade.payments import payment_of, span_rows, spans_of
from persistence.trade.receivables import PAYMENTS, REFUND_PAYMENTS
from persistence.trade.refunds import refund_payment_of
from persistence.trade.worth_columns import money_columns, money_row, take_money

# SQL of payouts, of the payments they list, and of their list.


DERIVED = ("items", "posted", "bank", "own_account_id", "worth")
STORED = tuple(item.name for item in fields(Payout) if item.name not in DERIVED)
_COLUMNS = [
    *(payout.c[name] for name in STORED),
    *money_columns(payout),
    *bank_columns(payout),
]
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
        **equal(payout.c.processor, payout.c.currency),
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


OTHER_ITEM = ("kind", "amount", "account_id", "description", "external_id", "payment_id")


@dataclass(frozen=True, slots=True)
class PayoutRecord(Record):
    """A payout with its listed payments and refund payments, by id."""

    payout: Payout
    money: Mapping[UUID, Money]

    @property
    def stored(self) -> Payout:
        return self.payout


@dataclass(frozen=True, slots=True)
class PayoutSummary:
    """A payout in a list, with the numbers of its payments and refund payments, without items."""

    payout: Payout
    payments: int
    refund_payments: int


class PayoutStore(Store[Payout]):
    """The payouts of one business, without deleted ones."""

    table: ClassVar = payout
    noun: ClassVar = "payout"
    rank: ClassVar = 11

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        chosen = {"ids": list(ids)}
        return (Query(BY_ID, chosen), Query(ITEMS, chosen), posted_for(ids))

    def assemble(self, answers: Answers) -> list[Payout]:
        rows, items, entries = answers
        posted, listed = posted_by_source(entries), self._items(items)
        return [
            _payout(row, items=listed.get(row["id"], ()), posted=posted.get(row["id"], ()))
            for row in rows
        ]

    def shown(self, id: UUID) -> Fetch[PayoutRecord]:
        """Load a payout with its listed payments and refund payments; raises NotFound."""
        chosen = {"ids": [id]}
        queries = [
            Query(text, chosen) for text in (BY_ID, ITEMS, ITS_PAYMENTS, ITS_REFUND_PAYMENTS)
        ]

        def answer(answers: Answers) -> PayoutRecord:
            rows, items, *money = answers
            listed = self._items(items)
            found = [_payout(row, items=listed.get(row["id"], ())) for row in rows]
            return self.only([PayoutRecord(each, _money(*money)) for each in found])

        return self.fetch(queries, answer)

    def with_external_id(self, external_id: str | None) -> Fetch[Payout | None]:
        """Load the payout with an external id, or None, without its posted entries.

        An advisory lock makes transactions with the same external id run one after another.
        """
        return self.by_external_id(
            external_id,
            (ONE_BY_ONE, *NAMED),
            lambda answers: self.assemble((*answers[1:], [])),
        )

    def lock_known(self, id: UUID) -> Fetch[Payout | None]:
        """Lock and load a payout that was found before, or None if it is deleted by now."""
        self.scope.note_locks(self.rank, [id])
        waiting = self.waiting(id)
        queries = (*waiting, *self.loading([id]))
        return self.fetch(queries, lambda answers: self._first(answers[len(waiting) :]))

    async def summaries(self, wanted: PageRequest) -> Page[PayoutSummary]:
        """List one page of payouts, each with the numbers of its payments and refund payments."""
        self.scope.pin_snapshot()
        page = await self.listed(LISTING, wanted, _payout)
        loose = [each.id for each in page.rows if each.status not in LIVE]
        counts = await self._by_payout(COUNTS, [each.id for each in page.rows])
        sums = await self._by_payout(SUMS, loose)
        return page.of(lambda each: _summary(each, counts.get(each.id), sums.get(each.id)))

    def save(self, value: Payout) -> None:
        """Stage a payout with its new and changed items."""
        row = {name: getattr(value, name) for name in STORED}
        row["fee_steps"] = [_step_row(step) for step in value.fee_steps]
        row["other_items"] = [
            {name: getattr(item, name) for name in OTHER_ITEM} | {"tax": held_row(item.tax)}
            for item in value.other_items
        ]
        row["completions"] = span_rows(value.completions)
        row["bank_account_id"] = value.bank and value.bank.id
        self.scope.stage(self.table, value, row | money_row(value))
        for item in value.items:
            if item != self.scope.loaded(item.id):
                self.scope.stage_part(payout_item, item.id, _item_row(value, item))

    async def _by_payout(self, text: str, ids: Sequence[UUID]) -> dict[UUID, Row]:
        """Run a statement for several payouts; return its rows by payout, if it has any."""
        if not ids:
            return {}
        rows: list[Row] = await self.fetch((Query(text, {"ids": list(ids)}),), lambda a: a[0])
        return {row["payout_id"]: row for row in rows}

    def _first(self, answers: Answers) -> Payout | None:
        return next(iter(self.seen(self.assemble(answers))), None)

    def _items(self, rows: Iterable[Row]) -> dict[UUID, tuple[Item, ...]]:
        """Make items from their rows, by payout, and note their versions."""
        found: dict[UUID, list[Item]] = defaultdict(list)
        for row in rows:
            payout_id, item = row.pop("payout_id"), Item(**row)
            self.scope.note_loaded([item])
            found[payout_id].append(item)
        return {payout_id: tuple(items) for payout_id, items in found.items()}


class EveryPayoutStore(PayoutStore):
    """The payouts of one business, also deleted ones."""

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        _, *others = super().loading(ids)
        return (Query(EVER, {"ids": list(ids)}), *others)


def _payout(
    row: Row, *, items: tuple[Item, ...] = (), posted: tuple[PostedEntry, ...] = ()
) -> Payout:
    row["fee_steps"] = tuple(_step(*step) for step in row["fee_steps"])
    row["other_items"] = tuple(_other_item(item) for item in row["other_items"])
    row["completions"] = spans_of(row["completions"])
    bank = take_bank(take_money(row))
    return Payout(**row, bank=bank, items=items, posted=posted)


def _step_row(step: FeeStep) -> list[Any]:
    """Serialize a step: [day, fees], and if foreign [net, base of both, currency] after them."""
    if isinstance(step.amount, ForeignAmount) and isinstance(step.net, ForeignAmount):
        bases = step.amount.base, step.net.base
        return [step.on, int(step.amount), [int(step.net), *bases, step.amount.currency]]
    return [step.on, step.amount]


def _step(on: str, amount: int, foreign: tuple[int, int, int, str] | None = None) -> FeeStep:
    day = date.fromisoformat(on)
    if foreign is None:
        return FeeStep(day, amount)
    net, base, net_base, currency = foreign
    own = ForeignAmount(amount, base, currency)
    return FeeStep(day, own, ForeignAmount(net, net_base, currency))


def _other_item(row: Row) -> OtherItem:
    payment_id = row["payment_id"] and UUID(row["payment_id"])
    told = {"account_id": known_id(row["account_id"]), "payment_id": payment_id}
    return OtherItem(**{**row, **told, "tax": held_of(row.get("tax"))})


def _item_row(value: Payout, item: Item) -> Row:
    return {
        "id": item.id,
        "payout_id": value.id,
        "payment_id": item.payment_id,
        "refund_payment_id": item.refund_payment_id,
        "listed": item.listed,
    }


def _money(payments: list[Row], refund_payments: list[Row]) -> dict[UUID, Money]:
    found: list[Money] = [payment_of(row) for row in payments]
    found += [refund_payment_of(REFUND_PAYMENTS, row) for row in refund_payments]
    return {each.id: each for each in found}


def _summary(each: Payout, counts: Row | None, sums: Row | None) -> PayoutSummary:
    if sums is not None:
        each = replace(each, gross_payments=sums["gross"], total_refunds=sums["refunded"])
    if counts is None:
        return PayoutSummary(each, 0, 0)
    return PayoutSummary(each, counts["payments"], counts["refund_payments"])
