"""How the model learns the ids of what was made."""

from collections.abc import Callable

from tests.model.books import Body, Books
from tests.model.play import Records
from tests.model.reading import inner
from tests.model.records import TRANSFER, BankLine, Credit, Payment, Transfer, VendorRefund

UNKNOWN = "unknown, of"


def into(kind: str) -> Callable[[Books, Records, Body], None]:
    """Take the id of the answer, and keep the record under it."""

    def bind(books: Books, records: Records, answer: Body) -> None:
        records[0].id = inner(answer)["id"]
        getattr(books, kind)[records[0].id] = records[0]

    return bind


def bind_document(books: Books, records: Records, answer: Body) -> None:
    """A document, and the payments that came with it, in their order."""
    document, *payments = records
    into("documents")(books, records, answer)
    for payment, share in zip(payments, answer[books.side.payment_parts], strict=True):
        assert isinstance(payment, Payment)
        payment.id, payment.parts = share["payment_id"], {document.id: payment.total}
        books.payments[payment.id] = payment


def bind_opening(books: Books, records: Records, answer: Body) -> None:
    """An opening, and all that came with it, in its order."""
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


def bind_vendor_refund(books: Books, records: Records, answer: Body) -> None:
    """A refund from a vendor, new or allocated anew: its payments, and the credits it keeps."""
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
    """The links of a transfer, and itself; no answer tells of the link of the other line.

    Where a line was the other one before, that link is told now, older ones first.
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
    """The lines of a statement, in its order; one that was there already is skipped."""
    for line, result in zip(records, answer["results"], strict=True):
        assert isinstance(line, BankLine)
        status = "skipped" if line.id else "imported"
        assert result["status"] == status, f"a line should be {status}: {result}"
        assert result["id"] == line.id or not line.id, f"another line is there: {result}"
        line.id = result["id"]
        books.bank_lines[line.id] = line


def bind_link(books: Books, _: Records, answer: Body) -> None:
    """A link is the one of its line that was not there before; a transfer's may be unknown."""
    [link] = [each for each in books.links if not each.id]
    known = {each.id for each in books.links}
    others = [each for each in answer["links"] if each["target_type"] != TRANSFER]
    [link.id] = {each["reconciliation_link_id"] for each in others} - known
