"""Stored payouts, with the payments and refund payments that they list."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import ClassVar
from uuid import UUID

from accounting.bank.payout_other_items import OtherItem
from accounting.bank.payouts import LIVE, FeeStep, Item, Money, Payout
from accounting.books.ledger import Posted
from persistence.bank.payout_sql import (
    BY_ID,
    COUNTS,
    EVER,
    ITEMS,
    ITS_PAYMENTS,
    ITS_REFUND_PAYMENTS,
    LISTING,
    NAMED,
    ONE_BY_ONE,
    STORED,
    SUMS,
)
from persistence.engine.fetches import Answers, Fetch
from persistence.engine.identifiers import known_id
from persistence.engine.pages import Page, PageRequest
from persistence.engine.scope import Scope
from persistence.engine.sql import Query, Row
from persistence.ledger.held_taxes import held_of, held_row
from persistence.ledger.posted_entries import posted_by_source, posted_for
from persistence.store import Store
from persistence.tables import payout, payout_item
from persistence.trade.invoices import REFUND_PAYMENTS
from persistence.trade.payments import payment_of, span_rows, spans_of
from persistence.trade.refund_payments import refund_payment_of

OTHER_ITEM = ("kind", "amount", "account_id", "description", "external_id", "payment_id")


@dataclass(frozen=True, slots=True)
class PayoutRecord:
    """A payout with its listed payments and refund payments, by id."""

    payout: Payout
    money: Mapping[UUID, Money]

    @property
    def id(self) -> UUID:
        return self.payout.id

    @property
    def version(self) -> int:
        return self.payout.version


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

    def __init__(self, scope: Scope) -> None:
        super().__init__(scope)
        self._loaded: dict[UUID, Item] = {}

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
        row["fee_steps"] = [[step.on, step.amount] for step in value.fee_steps]
        row["other_items"] = [
            {name: getattr(item, name) for name in OTHER_ITEM} | {"tax": held_row(item.tax)}
            for item in value.other_items
        ]
        row["completions"] = span_rows(value.completions)
        self.scope.stage(self.table, value.id, row)
        for item in value.items:
            if item != self._loaded.get(item.id):
                self.scope.stage(payout_item, item.id, _item_row(value, item))

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
            self.scope.note_version(item.id, item.version)
            self._loaded[item.id] = item
            found[payout_id].append(item)
        return {payout_id: tuple(items) for payout_id, items in found.items()}


class EveryPayoutStore(PayoutStore):
    """The payouts of one business, also deleted ones."""

    def loading(self, ids: Sequence[UUID]) -> tuple[Query, ...]:
        _, *others = super().loading(ids)
        return (Query(EVER, {"ids": list(ids)}), *others)


def _payout(row: Row, *, items: tuple[Item, ...] = (), posted: tuple[Posted, ...] = ()) -> Payout:
    row["fee_steps"] = tuple(
        FeeStep(date.fromisoformat(on), amount) for on, amount in row["fee_steps"]
    )
    row["other_items"] = tuple(_other_item(item) for item in row["other_items"])
    row["completions"] = spans_of(row["completions"])
    return Payout(**row, items=items, posted=posted)


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
