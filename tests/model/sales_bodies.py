"""Bodies of sales alone: invoices paid immediately, refunds to customers, payouts."""

from collections.abc import Mapping, Sequence
from typing import Any

from tests.model.bodies import NOBODY, Bodies, Body
from tests.model.document_moves import day_in
from tests.model.pricing import price
from tests.model.records import Credit, Document, Payment, Payout

PAYOUT_STATUSES = ("paid", "pending", "processing", "failed", "cancelled")
OTHER_ITEMS = (
    *(("chargeback", -5_003), ("chargeback_reversal", 20), ("dispute_fee", -1_799)),
    *(("dispute_fee", 4), ("reserve_hold", -30), ("reserve_release", 10)),
    *(("adjustment", 633), ("adjustment", -88)),
)
METHODS = ("BANK_TRANSFER", "CASH", "CREDIT_CARD", "STRIPE", "OTHER")


class SalesBodies(Bodies):
    """A source of random bodies for the sales of one business."""

    def paid_document(self) -> Body:
        body = self.document()
        total = price(self.side, self.books.codes, body, day_in(self.books, body)).total
        body["payments"] = [self.paid_with(total) for _ in range(self.hand.number(1, 2))]
        return body

    def paid_with(self, total: int) -> Body:
        amounts = (total // 2, total // 3, 1, total + 1)
        return {
            **self.money(),
            **self.maybe(70, "total_amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(30, "payment_date", self.day),
            **self.external_id(10),
        }

    def refund(self, target: Document | Payment | Credit | None) -> Body:
        limit = 0 if target is None else self.books.refundable(target)
        amounts = (limit, limit // 2, 1, limit + 1)
        amount = self.maybe(65, "amount_cents", lambda: max(1, self.hand.one(amounts)))
        if isinstance(target, Document) and self.hand.chance(30):
            lines = self.refunded_lines(target, limit)
            total = sum(each["amount_cents"] for each in lines)
            more = 1 if self.hand.chance(5) else 0
            amount = {"lines": lines, **self.maybe(30, "amount_cents", total + more)}
        return {
            **amount,
            **self.maybe(30, "completed_at", self.moment),
            **self.means(35),
            **self.external_id(),
        }

    def means(self, fee: int) -> Body:
        """Return the method of refunded money, and in `fee` percent of the calls a fee."""
        return {
            **self.maybe(40, "method", lambda: self.hand.one(METHODS)),
            **self.maybe(15, "processor", "adyen"),
            **self.maybe(fee, "refund_processing_fee_cents", lambda: self.hand.one((5, 120))),
            **self.bank(15),
        }

    def payout(self, known: Payout | None) -> Body:
        """Return a payout; for a known one any of the fields may be left out."""
        held = Payout(None) if known is None else known
        items = {
            "payment_ids": self.items(self.books.payments, held.payments),
            "refund_payment_ids": self.items(self.books.refund_payments, held.refund_payments),
        }
        given = {name: ids for name, ids in items.items() if self.hand.chance(75)}
        expected = held.expected or 100
        return {
            "processor": "other",
            "paid_out_amount_cents": self.hand.one((expected, expected - 7, -40, 0)),
            **given,
            **self.maybe(40, "fee_cents", lambda: self.hand.one((0, 3, 300, -4, held.fee))),
            **self.maybe(35, "other_items", self.other_items),
            **self.maybe(15, "additional_refunds_amount_cents", lambda: self.hand.one((0, 25))),
            **self.maybe(30, "status", lambda: self.hand.one(PAYOUT_STATUSES)),
            **self.maybe(60, "completed_at", self.moment),
            **self.bank(20),
        }

    def other_items(self) -> list[Body]:
        """Return a few other items of a payout, often under one code."""
        code = self.steady() if self.hand.chance(60) else None
        return [
            {
                "type": kind,
                "amount_cents": amount,
                **self.maybe(60 if code else 30, "tax_code", code or self.steady),
            }
            for kind, amount in self.hand.some(OTHER_ITEMS, 3)
        ]

    def steady(self) -> str:
        """Return a code of either side that has one rate on all days."""
        codes = [e for e in self.books.codes.values() if len(e.rates) == 1 and e.is_lasting]
        return self.hand.one([each.name for each in codes])

    def items(self, records: Mapping[str, Any], held: Sequence[Any]) -> list[str]:
        """Return items in clearing that are in no payout, and some of those in this one."""
        ids = [each.id for each in held]
        fitting = [
            each.id
            for each in records.values()
            if each.is_completed
            and self.side.money(each.method, each.processor) == "1150"
            and self.books.payout_of(each) is None
        ]
        anybody = list(records) if self.hand.chance(8) else fitting
        chosen = self.hand.some(anybody, 3)
        if ids and self.hand.chance(50):
            chosen += self.hand.some(ids, 3)
        return [*chosen, *([NOBODY] if self.hand.chance(2) else [])]

    def refund_payment(self, rest: int) -> Body:
        amounts = (rest // 2, rest // 3, 1, rest if self.hand.chance(60) else rest + 1)
        return {
            **self.maybe(75, "amount_cents", lambda: max(1, self.hand.one(amounts))),
            **self.maybe(40, "completed_at", self.moment),
            **self.means(12),
            **self.external_id(),
        }
