"""Every move of the receivables side: what is sent, and what it does in the model."""

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any

from tests.model import credit_moves, invoice_moves, payment_moves, refund_moves
from tests.model.binding import bind_invoice, bind_paid, bind_refund, bind_write_off, into
from tests.model.bodies import NOBODY, Bodies
from tests.model.books import Body, Books
from tests.model.hand import Hand
from tests.model.play import Move, Play, Records
from tests.model.records import STATUSES, Credit, Invoice, Payment

INVOICES, PAYMENTS, CREDITS = "invoices/", "invoices/payments/", "customer-credits/"
REFUNDS = "invoices/refunds/"
LOCK_DAYS = (None, "2025-01-31", "2025-02-28", "2025-04-30")


class Moves:
    """The moves of one step, drawn with one hand."""

    def __init__(self, play: Play, hand: Hand) -> None:
        self.play = play
        self.books = play.books
        self.hand = hand
        self.bodies = Bodies(hand, play.books)

    def make(self, name: str, move: Move) -> None:
        self.play.make(name, self.hand, move)

    def pick(self, records: Mapping[str, Any]) -> tuple[str, Any]:
        """One of the records by its id, or an id of nothing."""
        if not records or self.hand.chance(3):
            return NOBODY, None
        id = self.hand.one(list(records))
        return id, records[id]

    # Invoices.

    def begin_with_an_invoice(self) -> None:
        """Send an invoice of the first customer."""
        customer = next(iter(self.books.customers.values()))
        sent_at = {"sent_at": self.bodies.moment()}
        self.create(
            "create invoice", {"customer_id": customer.id, **self.bodies.lines(), **sent_at}
        )

    def create(self, name: str, body: Body) -> None:
        def act(books: Books) -> Records:
            invoice, payments = invoice_moves.create(books, body)
            return [invoice, *payments]

        known = by_external_id(self.books.invoices, body)
        self.make(name, Move("POST", INVOICES, body, act, bind_invoice, known, success=201))

    def create_invoice(self) -> None:
        self.create("create invoice", self.bodies.invoice())

    def create_paid_invoice(self) -> None:
        self.create("create paid invoice", self.bodies.paid_invoice())

    def replace_invoice(self) -> None:
        id, target = self.pick(self.books.invoices)
        body = self.bodies.replacement()
        move = Move("PUT", f"{INVOICES}{id}/", body, lambda b: [invoice_moves.replace(b, id, body)])
        self.make("replace invoice", move.at(target))

    def send_invoice(self) -> None:
        id, target = self.pick(in_state(self.hand, self.books.invoices, "draft"))
        body = {**self.bodies.maybe(60, "sent_at", self.bodies.moment), **self.bodies.due()}
        path = f"{INVOICES}{id}/send/"
        move = Move("POST", path, body, lambda b: [invoice_moves.send(b, id, body)])
        self.make("send invoice", move.at(target))

    def void_invoice(self) -> None:
        id, target = self.pick(self.books.invoices)
        body = self.bodies.maybe(50, "voided_at", self.bodies.moment)
        path = f"{INVOICES}{id}/void/"
        move = Move("POST", path, body, lambda b: [invoice_moves.void(b, id, body)])
        self.make("void invoice", move.at(target))

    def delete_invoice(self) -> None:
        id, target = self.pick(in_state(self.hand, self.books.invoices, "draft"))
        path = f"{INVOICES}{id}/"
        move = Move(
            "DELETE", path, None, lambda b: [invoice_moves.delete(b, id)], may_preview=False
        )
        self.make("delete invoice", move.at(target))

    def write_off(self) -> None:
        owing = likely(self.hand, self.books.invoices, self.books.left)
        id, target = self.pick(owing)
        body = self.bodies.write_off(target)
        known = by_external_id(self.books.write_offs, body)

        def act(books: Books) -> Records:
            made = invoice_moves.write_off(books, id, body)
            return [made.invoice, made]

        path = f"{INVOICES}{id}/write-offs/"
        repeated = target if known and known.invoice is target else None
        move = Move("POST", path, body, act, bind_write_off, repeated, success=201)
        self.make("write off", move.at(target))

    def reverse_write_off(self) -> None:
        id, found = self.pick(self.books.write_offs)
        of = self.hand.one(list(self.books.invoices)) if found is None else found.invoice.id
        if self.hand.chance(3):
            of = NOBODY
        path = f"{INVOICES}{of}/write-offs/{id}/"
        move = Move("DELETE", path, None, lambda b: [invoice_moves.reverse(b, of, id)])
        self.make("reverse write-off", move.at(self.books.invoices.get(of)))

    # Payments.

    def create_payment(self) -> None:
        body = self.bodies.payment()

        def act(books: Books) -> Records:
            payment = payment_moves.create(books, body)
            return [payment, *parts_of(books, payment)]

        known = by_external_id(self.books.payments, body)
        move = Move("POST", PAYMENTS, body, act, into("payments"), known, success=201)
        self.make("create payment", move)

    def change(self, name: str, id: str, body: Body) -> None:
        """Change a payment, by PUT or PATCH."""

        def act(books: Books) -> Records:
            before = parts_of(books, books.payments.get(id))
            payment = payment_moves.change(books, id, body)
            return [payment, *dict.fromkeys([*before, *parts_of(books, payment)])]

        method = self.hand.one(("PATCH", "PATCH", "PUT"))
        move = Move(method, f"{PAYMENTS}{id}/", body, act)
        self.make(name, move.at(self.books.payments.get(id)))

    def reallocate_payment(self) -> None:
        id, payment = self.pick(self.books.payments)
        given = [] if payment is None else self.bodies.list_again(payment)
        body = {
            "allocations": given,
            **self.bodies.maybe(10, "status", lambda: self.hand.one(STATUSES)),
        }
        self.change("re-allocate", id, body)

    def move_payment(self) -> None:
        id, payment = self.pick(self.books.payments)
        body: Body = {"status": self.hand.one(STATUSES)}
        if payment is not None:
            body |= self.bodies.maybe(15, "allocations", lambda: self.bodies.list_again(payment))
        self.change("move payment", id, body)

    def correct_payment(self) -> None:
        id, payment = self.pick(self.books.payments)
        body: Body = {"total_amount_cents": 100} if payment is None else self.bodies.facts(payment)
        if payment is not None:
            body |= self.bodies.maybe(20, "allocations", lambda: self.bodies.list_again(payment))
        self.change("correct payment", id, body)

    def cancel_payment(self) -> None:
        id, payment = self.pick(in_state(self.hand, self.books.payments, "pending", "failed"))

        def act(books: Books) -> Records:
            before = parts_of(books, books.payments.get(id))
            return [payment_moves.cancel(books, id), *before]

        path = f"{PAYMENTS}{id}/delete/"
        move = Move("POST", path, None, act, may_preview=False)
        self.make("cancel payment", move.at(payment))

    # Credits.

    def create_credit(self) -> None:
        body = self.bodies.credit()

        def act(books: Books) -> Records:
            credit = credit_moves.create(books, body)
            return [credit, *parts_of(books, credit)]

        known = by_external_id(self.books.credits, body)
        move = Move("POST", CREDITS, body, act, into("credits"), known, success=201)
        self.make("create credit", move)

    def replace(self, name: str, id: str, body: Body) -> None:
        """Replace what a credit says."""

        def act(books: Books) -> Records:
            before = parts_of(books, books.credits.get(id))
            credit = credit_moves.replace(books, id, body)
            return [credit, *dict.fromkeys([*before, *parts_of(books, credit)])]

        move = Move("PUT", f"{CREDITS}{id}/", body, act)
        self.make(name, move.at(self.books.credits.get(id)))

    def reallocate_credit(self) -> None:
        id, credit = self.pick(self.books.credits)
        given = [] if credit is None else self.bodies.list_again(credit, "amount")
        body = {"allocations": given, **self.bodies.maybe(10, "sent_at", self.bodies.moment)}
        self.replace("re-allocate credit", id, body)

    def send_credit(self) -> None:
        id, credit = self.pick(in_state(self.hand, self.books.credits, "draft"))
        body = {"sent_at": self.bodies.moment(), **self.bodies.maybe(20, "memo", "Broken beans")}
        if credit is not None:
            parts = self.bodies.maybe(
                40, "allocations", lambda: self.bodies.list_again(credit, "amount")
            )
            body |= parts
        self.replace("send credit", id, body)

    def void_credit(self) -> None:
        id, credit = self.pick(self.books.credits)
        body = self.bodies.maybe(50, "voided_at", self.bodies.moment)
        path = f"{CREDITS}{id}/void/"
        move = Move("POST", path, body, lambda b: [credit_moves.void(b, id, body)])
        self.make("void credit", move.at(credit))

    # Refunds.

    def refund(self, name: str, body: Body) -> None:
        """Agree to give money back."""

        def act(books: Books) -> Records:
            refund = refund_moves.create(books, body)
            target = refund.invoice or refund.payment
            return [refund, target]

        known = by_external_id(self.books.refunds, body)
        move = Move("POST", REFUNDS, body, act, bind_refund, known, success=201)
        self.make(name, move)

    def refund_invoice(self) -> None:
        refundable = likely(self.hand, self.books.invoices, self.books.refundable)
        id, invoice = self.pick(refundable)
        self.refund("refund invoice", {"invoice_id": id, **self.bodies.refund(invoice)})

    def refund_payment(self) -> None:
        refundable = likely(self.hand, self.books.payments, self.books.refundable)
        id, payment = self.pick(refundable)
        self.refund("refund payment", {"payment_id": id, **self.bodies.refund(payment)})

    def cancel_refund(self) -> None:
        id, refund = self.pick(self.books.refunds)

        def act(books: Books) -> Records:
            cancelled = refund_moves.cancel(books, id)
            return [cancelled, cancelled.invoice or cancelled.payment]

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
        id, payment = self.pick(self.books.refund_payments)
        of = self.hand.one(list(self.books.refunds)) if payment is None else payment.refund.id
        if self.hand.chance(3):
            of, payment = NOBODY, None

        def act(books: Books) -> Records:
            refund, cancelled = refund_moves.cancel_payment(books, of, id)
            return [cancelled, refund]

        path = f"{REFUNDS}{of}/payments/{id}/delete/"
        self.make("cancel refund payment", Move("POST", path, None, act).at(payment))

    # And whatever else.

    def replay(self) -> None:
        self.play.replay(self.hand)

    def archive_customer(self) -> None:
        archived = {id: c for id, c in self.books.customers.items() if c.archived}
        id, customer = self.pick(archived or self.books.customers)
        word = "unarchive" if archived else "archive"
        act = invoice_moves.unarchive if archived else invoice_moves.archive
        path = f"customers/{id}/{word}/"
        move = Move("POST", path, None, lambda b: [act(b, id)], may_preview=False)
        self.make(f"{word} customer", move.at(customer))

    def lock_period(self) -> None:
        """Lock everything up to a day, or nothing any more."""
        day = self.hand.one(LOCK_DAYS)
        self.play.lock(day and date.fromisoformat(day))


def by_external_id(records: Mapping[str, Any], body: Body) -> Any:
    """The record that a body's external id names already."""
    name = body.get("external_id")
    found = (each for each in records.values() if name and each.external_id == name)
    return next(found, None)


def in_state(hand: Hand, records: Mapping[str, Any], *states: str) -> Mapping[str, Any]:
    """Most often those in a state, where there are any."""
    return likely(
        hand,
        records,
        lambda each: getattr(each, "state", "") in states or getattr(each, "status", "") in states,
    )


def likely(
    hand: Hand, records: Mapping[str, Any], fits: Callable[[Any], object]
) -> Mapping[str, Any]:
    """Most often those that fit, where there are any."""
    fitting = {id: each for id, each in records.items() if fits(each)}
    return records if not fitting or hand.chance(15) else fitting


def parts_of(books: Books, subject: Payment | Credit | None) -> list[Invoice]:
    """The invoices that a payment or credit holds parts of."""
    return [] if subject is None else [books.invoices[id] for id in subject.parts]
