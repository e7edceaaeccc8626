"""How the model learns the ids of what was made."""

from collections.abc import Callable

from tests.model.books import Body, Books
from tests.model.play import Records


def into(kind: str) -> Callable[[Books, Records, Body], None]:
    """Take the id of the answer, and keep the record under it."""

    def bind(books: Books, records: Records, answer: Body) -> None:
        records[0].id = answer["id"]
        getattr(books, kind)[answer["id"]] = records[0]

    return bind


def bind_invoice(books: Books, records: Records, answer: Body) -> None:
    """An invoice, and the payments that came with it, in their order."""
    invoice, *payments = records
    into("invoices")(books, records, answer)
    for payment, share in zip(payments, answer["payment_allocations"], strict=True):
        payment.id, payment.parts = share["payment_id"], {invoice.id: payment.total}
        books.payments[payment.id] = payment


def bind_write_off(books: Books, records: Records, answer: Body) -> None:
    """A write-off is the one of its invoice that was not there before."""
    _, made = records
    [id] = {each["id"] for each in answer["write_offs"]} - set(books.write_offs)
    made.id = id
    books.write_offs[id] = made


def bind_refund(books: Books, records: Records, answer: Body) -> None:
    """A refund, and the payment that was made along with it."""
    refund = records[0]
    into("refunds")(books, records, answer)
    for payment, shown in zip(refund.payments, answer["refund_payments"], strict=True):
        payment.id = shown["id"]
        books.refund_payments[payment.id] = payment


def bind_paid(books: Books, records: Records, answer: Body) -> None:
    """The payment of a refund."""
    payment, refund = records
    into("refund_payments")(books, records, answer)
    refund.payments.append(payment)
