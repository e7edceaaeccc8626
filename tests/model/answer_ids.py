"""The ids of new records, taken from answers."""

from collections.abc import Callable

from tests.model.books import Body, Books
from tests.model.comparison import inner
from tests.model.play import Records
from tests.model.records import TRANSFER, BankLine, Credit, Payment, Transfer, VendorRefund

UNKNOWN = "unknown, of"


def into(kind: str) -> Callable[[Books, Records, Body], None]:
    """Return a function that takes the id of the answer and stores the record under it."""

    def bind(books: Books, records: Records, answer: Body) -> None:
        records[0].id = inner(answer)["id"]
        getattr(books, kind)[records[0].id] = records[0]

    return bind


def bind_document(books: Books, records: Records, answer: Body) -> None:
    """Take the ids of a document and of its payments, in their order."""
    document, *payments = records
    into("documents")(books, records, answer)
    for payment, share in zip(payments, answer[books.side.payment_parts], strict=True):
        assert isinstance(payment, Payment)
        payment.id, payment.parts = share["payment_id"], {document.id: payment.total}
        books.payments[payment.id] = payment


def bind_opening(books: Books, records: Records, answer: Body) -> None:
    """Take the ids of an opening and of its records, in their order."""
    into("openings")(books, records, answer)
    side, opening = books.side, records[0]
    for kind, made, listed in (
        ("documents", opening.documents, f"{side.noun}s"),
        ("credits", opening.credits, f"{side.party}_credits"),
        ("payments", opening.payments, "prepayments"),
    ):
        for each, shown in zip(made, answer[listed], strict=True):
            each.id = shown["id"]
            getattr(books, kind)[each.id] = each


def bind_write_off(books: Books, records: Records, answer: Body) -> None:
    """Take the id of a write-off, the only new one of its invoice."""
    _, made = records
    [id] = {each["id"] for each in answer["write_offs"]} - set(books.write_offs)
    made.id = id
    books.write_offs[id] = made


def bind_refund(books: Books, records: Records, answer: Body) -> None:
    """Take the ids of a refund and of its payments."""
    refund = records[0]
    into("refunds")(books, records, answer)
    for payment, shown in zip(refund.payments, answer["refund_payments"], strict=True):
        payment.id = shown["id"]
        books.refund_payments[payment.id] = payment


def bind_paid(books: Books, records: Records, answer: Body) -> None:
    """Take the id of a payment of a refund."""
    payment, refund = records
    into("refund_payments")(books, records, answer)
    refund.payments.append(payment)


def bind_vendor_refund(books: Books, records: Records, answer: Body) -> None:
    """Take the ids of a vendor's refund, of its payments and of the credits kept from it."""
    [refund] = [each for each in records if isinstance(each, VendorRefund)]
    shown = answer.get("refund", answer)
    refund.id = shown["id"]
    books.vendor_refunds[refund.id] = refund
    for payment, paid in zip(refund.payments, shown["vendor_refund_payments"], strict=True):
        payment.id = paid["id"]
        books.vendor_refund_payments[payment.id] = payment
    for share, given in zip(refund.shares, shown["allocations"], strict=True):
        if isinstance(share.target, Credit):
            share.target.id = given["vendor_credit_id"]
            books.credits[share.target.id] = share.target


def bind_transfer(books: Books, _: Records, answer: Body) -> None:
    """Take the ids of a transfer and its links; that of the other line's link is unknown.

    The answer about that line shows it later, older links first.
    """
    known = {each.id for each in books.links}
    told = [each for each in answer["links"] if each["reconciliation_link_id"] not in known]
    untold = [each for each in books.links if not each.id or each.id.startswith(UNKNOWN)]
    mine = [each for each in untold if each.line.id == answer["id"]]
    for link, shown in zip(mine, told, strict=True):
        assert isinstance(link.money, Transfer)
        assert link.money.id in ("", shown["target_id"])
        link.id, link.money.id = shown["reconciliation_link_id"], shown["target_id"]
    for link in [each for each in books.links if not each.id]:
        link.id = f"{UNKNOWN} {link.line.id}"


def bind_lines(books: Books, records: Records, answer: Body) -> None:
    """Take the ids of the lines of a statement, in their order; an existing line is skipped."""
    for line, result in zip(records, answer["results"], strict=True):
        assert isinstance(line, BankLine)
        status = "skipped" if line.id else "imported"
        assert result["status"] == status, f"a line should be {status}: {result}"
        assert result["id"] == line.id or not line.id, f"another line is there: {result}"
        line.id = result["id"]
        books.bank_lines[line.id] = line


def bind_link(books: Books, _: Records, answer: Body) -> None:
    """Take the id of the new link of a line, which is not that of a transfer."""
    [link] = [each for each in books.links if not each.id]
    known = {each.id for each in books.links}
    others = [each for each in answer["links"] if each["target_type"] != TRANSFER]
    [link.id] = {each["reconciliation_link_id"] for each in others} - known
