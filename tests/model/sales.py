"""The moves of sales alone: invoices paid immediately, refunds to customers, payouts."""

from collections.abc import Mapping
from typing import Any

from tests.model import holds, payout_moves, refund_moves
from tests.model.answer_ids import bind_paid, bind_refund, into
from tests.model.bank import BankMoves
from tests.model.bodies import NOBODY
from tests.model.books import Body, Books
from tests.model.hand import Hand
from tests.model.moves import by_external_id, likely
from tests.model.play import Move, Play, Records
from tests.model.sales_bodies import SalesBodies

PAYOUTS = "payouts/"
REFUNDS = "invoices/refunds/"


class SalesMoves(BankMoves):
    """The moves of one step of sales."""

    bodies: SalesBodies

    def __init__(self, play: Play, hand: Hand) -> None:
        super().__init__(play, hand)
        self.bodies = SalesBodies(hand, play.books)

    def create_paid_document(self) -> None:
        self.create("create paid invoice", self.bodies.paid_document())

    # Refunds.

    def refund(self, name: str, field: str, records: Mapping[str, Any]) -> None:
        """Create a refund of one of some records."""
        id, target = self.pick(likely(self.hand, records, self.books.refundable))
        body = {field: id, **self.bodies.refund(target)}

        def act(books: Books) -> Records:
            refund = refund_moves.create(books, body)
            target = refund.document or refund.payment or refund.credit
            return [refund, target]

        known = by_external_id(self.books.refunds, body)
        move = Move("POST", REFUNDS, body, act, bind_refund, known, success=201)
        self.make(name, move)

    def refund_document(self) -> None:
        self.refund("refund invoice", "invoice_id", self.books.documents)

    def refund_payment(self) -> None:
        self.refund("refund payment", "payment_id", self.books.payments)

    def refund_credit(self) -> None:
        self.refund("refund credit", "credit_id", self.books.credits)

    def cancel_refund(self) -> None:
        id, refund = self.pick(self.books.refunds)

        def act(books: Books) -> Records:
            cancelled = refund_moves.cancel(books, id)
            return [cancelled, cancelled.document or cancelled.payment or cancelled.credit]

        move = Move("DELETE", f"{REFUNDS}{id}/", None, act)
        self.make("cancel refund", move.at(refund))

    def pay_refund(self) -> None:
        unpaid = likely(
            self.hand, self.books.refunds, lambda each: not each.cancelled and each.rest
        )
        id, refund = self.pick(unpaid)
        body = self.bodies.refund_payment(0 if refund is None else refund.rest)

        def act(books: Books) -> Records:
            refund, payment = refund_moves.pay(books, id, body)
            return [payment, refund]

        known = by_external_id(self.books.refund_payments, body)
        known = known if known and known.refund is refund else None
        move = Move("POST", f"{REFUNDS}{id}/payments/", body, act, bind_paid, known, success=201)
        self.make("pay refund", move)

    def cancel_refund_payment(self) -> None:
        id, payment = self.pick(self.shown(self.books.refund_payments))
        of = self.hand.one(list(self.books.refunds)) if payment is None else payment.refund.id
        if self.hand.chance(3):
            of, payment = NOBODY, None

        def act(books: Books) -> Records:
            lines = holds.lines_of(books, books.refund_payments.get(id))
            refund, cancelled = refund_moves.cancel_payment(books, of, id)
            return [cancelled, *lines, refund]

        path = f"{REFUNDS}{of}/payments/{id}/delete/"
        self.make("cancel refund payment", Move("POST", path, None, act).at(payment))

    # Payouts.

    def pay_out(self) -> None:
        names = {each.external_id for each in self.books.payouts.values()}
        free = [name for name in ("po-1", "po-2", "po-3", "po-4", "po-5") if name not in names]
        named = {"external_id": self.hand.one(free)} if free and self.hand.chance(80) else {}
        self.bring_payout("pay out", {**self.bodies.payout(None), **named})

    def pay_out_again(self) -> None:
        payouts = self.shown(self.books.payouts).values()
        known = [each for each in payouts if each.external_id]
        if not known:
            self.pay_out()
            return
        payout = self.hand.one(known)
        body = {**self.bodies.payout(payout), "external_id": payout.external_id}
        self.bring_payout("pay out again", body, success=200)

    def bring_payout(self, name: str, body: Body, *, success: int = 201) -> None:
        def act(books: Books) -> Records:
            payout, affected = payout_moves.bring(books, body)
            return [payout, *affected]

        self.make(name, Move("POST", PAYOUTS, body, act, into("payouts"), success=success))

    def delete_payout(self) -> None:
        id, payout = self.pick(self.shown(self.books.payouts))

        def act(books: Books) -> Records:
            gone = payout_moves.delete(books, id)
            return [gone, *gone.payments, *gone.refund_payments]

        move = Move("DELETE", f"{PAYOUTS}{id}/", None, act, may_preview=False)
        self.make("delete payout", move.at(payout))
