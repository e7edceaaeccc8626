"""The moves of purchases alone: refunds from vendors, and the status of a vendor."""

from collections.abc import Mapping
from typing import Any

from tests.model import document_moves, vendor_refund_moves
from tests.model.answer_ids import bind_vendor_refund
from tests.model.bank import BankMoves
from tests.model.books import Body, Books
from tests.model.hand import Hand
from tests.model.moves import by_external_id, likely
from tests.model.play import Move, Play, Records
from tests.model.purchase_bodies import PurchaseBodies
from tests.model.records import VendorRefundPayment

REFUNDS, REFUND_PAYMENTS = "vendor-refunds/", "vendor-refunds/payments/"


class PurchaseMoves(BankMoves):
    """The moves of one step of purchases."""

    bodies: PurchaseBodies

    def __init__(self, play: Play, hand: Hand) -> None:
        super().__init__(play, hand)
        self.bodies = PurchaseBodies(hand, play.books)

    def agree_refund(self) -> None:
        """Create a refund in one payment; the answer is that payment."""
        body = self.bodies.refund()

        def act(books: Books) -> Records:
            refund, payment, *affected = vendor_refund_moves.agree(books, body)
            return [payment, refund, *affected]

        known = by_external_id(self.books.vendor_refunds, body)
        first = known and known.payments[0]
        move = Move("POST", REFUND_PAYMENTS, body, act, bind_vendor_refund, first, success=201)
        self.make("agree vendor refund", move)

    def agree_refund_in_parts(self) -> None:
        """Create a refund with its payments."""
        body = self.bodies.refund_in_parts()

        def act(books: Books) -> Records:
            return vendor_refund_moves.agree(books, body)

        known = by_external_id(self.books.vendor_refunds, body)
        move = Move("POST", REFUNDS, body, act, bind_vendor_refund, known, success=201)
        self.make("agree vendor refund in parts", move)

    def describe_refund(self) -> None:
        """Change the memo of a refund, which posts nothing."""
        id, refund = self.pick(self.books.vendor_refunds)
        body = {"memo": self.hand.one(("Broken beans", "Late beans"))}

        def act(books: Books) -> Records:
            return [vendor_refund_moves.describe(books, id)]

        move = Move("PATCH", f"{REFUNDS}{id}/", body, act, may_preview=False)
        self.make("describe vendor refund", move.at(refund))

    def pick_refund_payment(self, *states: str) -> tuple[str, VendorRefundPayment | None]:
        """Return a payment, mostly in one of some states."""
        payments: Mapping[str, Any] = self.books.vendor_refund_payments
        fitting = likely(self.hand, payments, lambda each: each.status in states)
        return self.pick(self.shown(fitting))

    def change_refund(self, name: str, id: str, body: Body) -> None:
        """Change a payment of a refund, or the allocations of the refund."""
        target = self.books.vendor_refund_payments.get(id)

        def act(books: Books) -> Records:
            return vendor_refund_moves.change(books, id, body)

        move = Move("PATCH", f"{REFUND_PAYMENTS}{id}/", body, act, bind_vendor_refund)
        self.make(name, move.at(target))

    def move_refund_payment(self) -> None:
        id, payment = self.pick_refund_payment("pending", "processing", "failed")
        self.change_refund("move vendor refund payment", id, self.bodies.refund_payment(payment))

    def reallocate_refund(self) -> None:
        id, payment = self.pick_refund_payment("pending", "processing", "failed", "completed")
        given = [] if payment is None else self.bodies.shares_again(payment.refund)
        body: Body = {"allocations": given}
        if self.hand.chance(15):
            body = {**self.bodies.refund_payment(payment), **body}
        self.change_refund("allocate vendor refund anew", id, body)

    def return_refund_payment(self) -> None:
        """Fail a payment that was completed."""
        id, _ = self.pick_refund_payment("completed")
        self.change_refund("return vendor refund payment", id, {"status": "failed"})

    def cancel_refund_payment(self) -> None:
        id, payment = self.pick_refund_payment("pending", "failed")
        path = f"{REFUND_PAYMENTS}{id}/delete/"
        move = Move("POST", path, None, lambda b: vendor_refund_moves.cancel(b, id))
        self.make("cancel vendor refund payment", move.at(payment))

    def set_vendor_status(self) -> None:
        """Set a vendor inactive or blocked, or active again."""
        stopped = {id: each for id, each in self.books.parties.items() if each.status != "ACTIVE"}
        id, vendor = self.pick(stopped or self.books.parties)
        status = "ACTIVE" if stopped else self.hand.one(("INACTIVE", "BLOCKED"))
        move = Move(
            "PATCH",
            f"vendors/{id}/",
            {"status": status},
            lambda b: [document_moves.set_status(b, id, status)],
            may_preview=False,
        )
        self.make("set vendor status", move.at(vendor))
