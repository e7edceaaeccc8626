"""The moves that only sales have: invoices paid at once, write-offs, refunds to customers."""

from tests.model import holds, payout_moves, refund_moves, write_off_moves
from tests.model.bank import BankMoves
from tests.model.binding import bind_paid, bind_refund, bind_write_off, into
from tests.model.bodies import NOBODY
from tests.model.books import Body, Books
from tests.model.hand import Hand
from tests.model.moves import by_external_id, likely
from tests.model.play import Move, Play, Records
from tests.model.sales_bodies import SalesBodies

PAYOUTS = "payouts/"
INVOICES, REFUNDS = "invoices/", "invoices/refunds/"


class SalesMoves(BankMoves):
    """The moves of one step of sales."""

    bodies: SalesBodies

    def __init__(self, play: Play, hand: Hand) -> None:
        super().__init__(play, hand)
        self.bodies = SalesBodies(hand, play.books)

    def create_paid_document(self) -> None:
        self.create("create paid invoice", self.bodies.paid_document())

    def write_off(self) -> None:
        owing = likely(self.hand, self.books.documents, self.books.left)
        id, target = self.pick(owing)
        body = self.bodies.write_off(target)
        known = by_external_id(self.books.write_offs, body)

        def act(books: Books) -> Records:
            made = write_off_moves.write_off(books, id, body)
            return [made.document, made]

        path = f"{INVOICES}{id}/write-offs/"
        repeated = target if known and known.document is target else None
        move = Move("POST", path, body, act, bind_write_off, repeated, success=201)
        self.make("write off", move.at(target))

    def reverse_write_off(self) -> None:
        id, found = self.pick(self.books.write_offs)
        of = self.hand.one(list(self.books.documents)) if found is None else found.document.id
        if self.hand.chance(3):
            of = NOBODY
        path = f"{INVOICES}{of}/write-offs/{id}/"
        move = Move("DELETE", path, None, lambda b: [write_off_moves.reverse(b, of, id)])
        self.make("reverse write-off", move.at(self.books.documents.get(of)))

    # Refunds.

    def refund(self, name: str, body: Body) -> None:
        """Agree to give money back."""

        def act(books: Books) -> Records:
            refund = refund_moves.create(books, body)
            target = refund.document or refund.payment
            return [refund, target]

        known = by_external_id(self.books.refunds, body)
        move = Move("POST", REFUNDS, body, act, bind_refund, known, success=201)
        self.make(name, move)

    def refund_document(self) -> None:
        refundable = likely(self.hand, self.books.documents, self.books.refundable)
        id, document = self.pick(refundable)
        self.refund("refund invoice", {"invoice_id": id, **self.bodies.refund(document)})

    def refund_payment(self) -> None:
        refundable = likely(self.hand, self.books.payments, self.books.refundable)
        id, payment = self.pick(refundable)
        self.refund("refund payment", {"payment_id": id, **self.bodies.refund(payment)})

    def cancel_refund(self) -> None:
        id, refund = self.pick(self.books.refunds)

        def act(books: Books) -> Records:
            cancelled = refund_moves.cancel(books, id)
            return [cancelled, cancelled.document or cancelled.payment]

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
