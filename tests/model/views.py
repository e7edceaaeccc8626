"""The expected fields of answers about the model's records."""

from collections.abc import Callable
from datetime import UTC
from itertools import accumulate
from typing import Any

from tests.model import holds
from tests.model.books import Books
from tests.model.pricing import Line
from tests.model.records import (
    TRANSFER,
    BankAccount,
    BankLine,
    BankRule,
    Credit,
    Document,
    Entry,
    Link,
    Money,
    Opening,
    Party,
    Payment,
    Payout,
    Refund,
    RefundPayment,
    Share,
    Transfer,
    VendorRefund,
    VendorRefundPayment,
    WriteOff,
)
from tests.model.sides import Side

View = dict[str, Any]
Record = (
    Document
    | Payment
    | Credit
    | Refund
    | RefundPayment
    | Payout
    | VendorRefund
    | VendorRefundPayment
    | BankAccount
    | BankLine
    | BankRule
    | Entry
    | Opening
    | Party
)


def view(books: Books, record: Record) -> View:
    """Return the expected fields of an answer; lists without an order are sets of pairs."""
    return VIEWS[type(record)](books, record)


def path_of(side: Side, record: Record) -> str:
    """Return the path of a record."""
    if isinstance(record, RefundPayment):
        return f"invoices/refunds/{record.refund.id}/payments/{record.id}/"
    folders = {
        Document: side.path,
        Payment: side.payments,
        Credit: side.credits,
        Refund: "invoices/refunds/",
        Payout: "payouts/",
        VendorRefund: "vendor-refunds/",
        VendorRefundPayment: "vendor-refunds/payments/",
        BankAccount: "bank-accounts/",
        BankLine: "bank-transactions/",
        BankRule: "bank-rules/",
        Entry: "general-ledger/journal-entries/",
        Opening: "opening-balances/",
        Party: side.parties,
    }
    return f"{folders[type(record)]}{record.id}/"


def party(books: Books, record: Party) -> View:
    return {
        "outstanding_balance": books.owed_by(record),
        "is_archived": record.archived,
        **({} if books.side.sign > 0 else {"status": record.status}),
    }


def document(books: Books, record: Document) -> View:
    side, priced = books.side, record.priced
    settled = books.outstanding(record) == 0 and record.state == "open"
    shown: View = {
        side.party_id: record.party.id,
        "external_id": record.external_id,
        side.number: record.number,
        "status": books.status(record),
        "is_overdue": books.is_overdue(record),
        "subtotal": priced.subtotal,
        "discount_total": priced.discount_total,
        "tax_total": priced.tax,
        "withholding_total": priced.withheld,
        "line_items": [line(books, each) for each in priced.lines],
        "total_amount": priced.total,
        "outstanding_balance": books.outstanding(record),
        "due_at": record.due_at and record.due_at.astimezone(UTC).date(),
        "paid_at": settled,
        "voided_at": record.state == "void",
        side.payment_parts: parts(books.payments_of(record)),
        side.credit_allocations: {
            (each.id, each.parts[record.id])
            for each in books.credits.values()
            if record.id in each.parts
        },
        side.refund_allocations: parts(books.given_back(record)),
    }
    shown["write_offs"] = {
        (each.id, each.amount, relieved(each)) for each in books.write_offs_of(record)
    }
    shown[side.dated] = record.dated and record.dated.isoformat()
    shown["delivery_date"] = record.delivered and record.delivered.isoformat()
    if not side.sells:
        shown["vendor_bill_number"] = record.party_number
    return shown


def relieved(record: WriteOff) -> int:
    """Return the amount of tax that relief takes back."""
    of_tax = ("output", "input")
    return sum(n for (_, (_, mark)), n in record.relieved.items() if mark and mark.part in of_tax)


def line(books: Books, record: Line) -> tuple[object, ...]:
    """Return a line in an answer: its code and rate, and its amounts."""
    taxed, code = record.taxed, record.code
    return (
        code and code.id,
        taxed and float(taxed.rate.percent),
        record.subtotal,
        record.tax,
        sum(each.blocked for each in record.taxes),
        record.withheld,
        -sum(n for (_, mark), n in record.assessed.items() if mark and mark.part == "output"),
    )


def payment(books: Books, record: Payment) -> View:
    side = books.side
    of_side = invoice_payment if side.sign > 0 else bill_payment
    return {
        side.party_id: record.party.id,
        "external_id": record.external_id,
        "status": record.status,
        "payment_method": record.method,
        "bank_account_id": named_bank(record),
        "payment_date": record.paid_on.isoformat(),
        side.total: record.total,
        side.remaining: books.remaining(record),
        "processing_fee_cents": record.fee,
        "is_fully_allocated": books.remaining(record) == 0,
        "reconciled_bank_transactions": shown_by(books, record),
        **of_side(books, record),
    }


def invoice_payment(books: Books, record: Payment) -> View:
    applied = record.status == "completed"
    return {
        "applied_amount_cents": books.applied(record),
        "allocated_amount_cents": books.allocated(record),
        "unapplied_amount_cents": record.total - books.applied(record),
        "net_amount": record.total - record.fee,
        "payouts": {each.id for each in [books.payout_of(record)] if each is not None},
        "allocations": set(record.parts.items()),
        "refund_allocations": given_back(books, record),
        "applied_invoices": {
            (
                id,
                amount if applied else 0,
                books.status(books.documents[id]),
                books.outstanding(books.documents[id]),
            )
            for id, amount in record.parts.items()
        },
    }


def bill_payment(books: Books, record: Payment) -> View:
    bills = books.documents
    return {
        "allocated_amount_cents": sum(record.parts.values()),
        "refunded_amount_cents": books.refunded(record),
        "allocations": {
            (id, amount, books.status(bills[id]), books.outstanding(bills[id]))
            for id, amount in record.parts.items()
        },
        "refund_allocations": parts(books.given_back(record)),
    }


def given_back(books: Books, record: Payment) -> set[tuple[str, str | None, int]]:
    """Return the refunds of a payment: its own, and its share of those of its invoices.

    The refunds of an invoice are laid over the completed payments that settle it, the oldest first.
    """
    laid: set[tuple[str, str | None, int]] = {
        (each.id, None, each.amount) for each in books.refunds_of(record)
    }
    for document in [books.documents[id] for id in record.parts]:
        paid = [pair for pair in books.payments_of(document) if pair[0].status == "completed"]
        paid.sort(key=lambda pair: (pair[0].paid_on, pair[0].id))
        refunds = sorted(books.refunds_of(document), key=lambda each: (each.agreed_on, each.id))
        for payment, begin, end in laid_out(paid):
            for refund, first, last in laid_out([(each, each.amount) for each in refunds]):
                amount = min(end, last) - max(begin, first)
                if payment is record and amount > 0:
                    laid.add((refund.id, document.id, amount))
    return laid


def laid_out(amounts: list[tuple[Any, int]]) -> list[tuple[Any, int, int]]:
    """Lay amounts end to end; return each with its begin and end."""
    ends = list(accumulate(amount for _, amount in amounts))
    return [(each, end - amount, end) for (each, amount), end in zip(amounts, ends, strict=True)]


def credit(books: Books, record: Credit) -> View:
    side = books.side
    shown = {
        side.party_id: record.party.id,
        "external_id": record.external_id,
        side.credit_number: record.number,
        side.source: record.source,
        "status": books.credit_status(record),
        side.moment: record.opened_at,
        "voided_at": record.state == "void",
        "tax_total": record.tax,
        "line_items": [credited(each) for each in record.lines],
        "total_amount": record.total,
        "applied_amount": record.used,
        "refunded_amount": books.paid_out(record),
        "unapplied_amount": books.unapplied(record),
        "allocations": {
            (id, amount, books.outstanding(books.documents[id]))
            for id, amount in record.parts.items()
        },
    }
    if side.sign > 0:
        return shown
    return {**shown, "source_refund_id": record.refund and record.refund.id}


def credited(record: Line) -> tuple[object, ...]:
    """Return the line of a credit in an answer."""
    taxed, code = record.taxed, record.code
    rate = taxed and float(taxed.rate.percent)
    return code and code.id, rate, record.net, record.tax, record.withheld


def refund(books: Books, record: Refund) -> View:
    allocations: set[tuple[str, str, int, int | None]] = set()
    if record.cancelled:
        pass
    elif record.document is not None:
        owed = books.outstanding(record.document)
        allocations = {("invoice", record.document.id, record.amount, owed)}
    elif record.credit is not None:
        allocations = {("credit", record.credit.id, record.amount, None)}
    else:
        assert record.payment is not None
        allocations = {("payment", record.payment.id, record.amount, None)}
    return {
        "customer_id": record.party.id,
        "external_id": record.external_id,
        "status": record.status,
        "method": record.method,
        "bank_account_id": named_bank(record),
        "refunded_amount": record.amount,
        "paid_amount": record.paid,
        "completed_at": record.status == "paid",
        "is_dedicated": not record.cancelled,
        "allocations": allocations,
        "refund_payments": {(each.id, each.amount, each.status) for each in record.payments},
    }


def refund_payment(books: Books, record: RefundPayment) -> View:
    return {
        "external_id": record.external_id,
        "status": record.status,
        "refunded_amount": record.amount,
        "refund_processing_fee": record.fee,
        "method": record.method,
        "bank_account_id": named_bank(record),
        "cancelled_at": record.cancelled,
        "reconciled_bank_transactions": shown_by(books, record),
    }


def payout(books: Books, record: Payout) -> View:
    shown = {
        "external_id": record.external_id,
        "status": record.status,
        "bank_account_id": named_bank(record),
        "paid_out_amount_cents": record.paid_out,
        "fee_cents": record.fee,
        "additional_refunds_amount_cents": record.additional,
        "net_amount_cents": record.paid_out - record.fee,
        "other_items_amount_cents": record.other,
        "other_items": [part_fields(each)[1:] for each in record.others],
        "completed_at": record.paid_on is not None,
        "payment_count": len(record.payments),
        "refund_payment_count": len(record.refund_payments),
        "payments": {(each.id, each.total, each.status) for each in record.payments},
        "refund_payments": {(e.id, e.amount, e.status) for e in record.refund_payments},
        "reconciliation_status": reconciled(books, record),
        "reconciled_bank_transactions": shown_by(books, record),
    }
    if not record.is_live:
        return shown
    return {
        **shown,
        "gross_payments_amount_cents": record.gross,
        "total_refunds_amount_cents": record.given_back,
        "expected_net_amount_cents": record.expected,
        "amount_variance_cents": record.paid_out - record.expected,
    }


def vendor_refund(books: Books, record: VendorRefund) -> View:
    return {
        "vendor_id": record.party.id,
        "external_id": record.external_id,
        "status": record.status,
        "total_refunded_amount": record.total,
        "allocated_amount": record.allocated,
        "unallocated_amount": record.total - record.allocated,
        "is_fully_allocated": record.total == record.allocated,
        "refund_date": record.agreed_on.isoformat(),
        "allocations": {share_of(books, each) for each in record.shares},
        "vendor_refund_payments": {
            (each.id, each.amount, each.fee, each.status) for each in record.payments
        },
    }


def share_of(books: Books, share: Share) -> tuple[str, str, int, int | None]:
    """Return an allocation of a vendor's refund in an answer."""
    target = share.target
    owed = books.outstanding(target) if isinstance(target, Document) else None
    return share.body["allocation_type"], target.id, share.amount, owed


def vendor_refund_payment(books: Books, record: VendorRefundPayment) -> View:
    return {
        "vendor_refund_id": record.refund.id,
        "status": record.status,
        "refunded_amount": record.amount,
        "processing_fee": record.fee,
        "net_amount": record.amount - record.fee,
        "payment_method": record.method,
        "bank_account_id": named_bank(record),
        "payment_date": record.paid_on and record.paid_on.isoformat(),
        "completed_at": record.status == "completed",
        "cancelled_at": record.status == "cancelled",
        "reconciled_bank_transactions": shown_by(books, record),
    }


def named_bank(record: Money | Refund) -> str | None:
    """Return the id of the bank account that money names."""
    return None if record.bank is None else record.bank.id


def shown_by(books: Books, money: Money) -> set[tuple[str, str, int, str]]:
    return {(each.id, each.line.id, each.amount, movement(each)) for each in books.links_of(money)}


def movement(link: Link) -> str:
    return "return" if link.back else "original"


def reconciled(books: Books, record: Payout) -> str:
    """Return the reconciliation status of a payout."""
    if not books.linked(record):
        return "unreconciled"
    return "partially_reconciled" if holds.rest(books, record) else "fully_reconciled"


def bank_account(_: Books, record: BankAccount) -> View:
    return {"external_id": record.external_id, "account": record.code}


def bank_rule(_: Books, record: BankRule) -> View:
    return {"priority": record.priority}


def bank_line(books: Books, record: BankLine) -> View:
    namesakes = [e for e in books.bank_lines.values() if e.account is record.account]
    first = next(e for e in namesakes if e.external_id == record.external_id)
    return {
        "bank_account_id": record.account.id,
        # A line with a known id of the bank has an id of its own.
        **({"external_id": record.external_id} if first is record else {}),
        "date": record.day.isoformat(),
        "amount_cents": record.amount,
        "direction": record.direction,
        "linked_amount_cents": books.linked(record),
        "categorized_amount_cents": record.categorized,
        "remaining_amount_cents": books.unexplained(record),
        "is_reconciled": books.unexplained(record) == 0,
        "rounding_difference_cents": sum(each.more for each in books.links_of(record)),
        "categorized_by_rule_id": record.rule and record.rule.id,
        "category": part_fields(record.parts[0])[:2] if len(record.parts) == 1 else None,
        "splits": {(place, *part_fields(part)) for place, part in enumerate(record.parts)},
        "links": {
            (
                # No answer shows which link of a transfer belongs to which line.
                TRANSFER if isinstance(each.money, Transfer) else each.id,
                holds.kind_of(books.side, each.money),
                each.money.id,
                each.amount,
                each.more,
                movement(each),
            )
            for each in books.links_of(record)
        },
    }


def part_fields(part: Line) -> tuple[str, int, str | None, int]:
    """Return a part of money in an answer: its account, its amount, and the tax in it."""
    tax_code = part.code.id if part.code else None
    return part.account, part.net + part.tax, tax_code, abs(part.tax)


def entry(_: Books, record: Entry) -> View:
    return {
        "status": record.status,
        "is_posted": record.status == "approved",
        "sequence_number": record.status == "approved",
        "created_by": record.author,
        "entry_date": record.day.isoformat(),
        "total_debit": sum(amount for _, amount in record.lines if amount > 0),
        "lines": {(place, *line) for place, line in enumerate(record.lines, 1)},
        "reversal_of_id": record.takes_back and record.takes_back.id,
        "reversed_by_id": record.taken_back_by and record.taken_back_by.id,
    }


def opening(books: Books, record: Opening) -> View:
    side, party = books.side, books.side.party
    owed = sum(each.priced.total for each in record.documents)
    credited = sum(each.total for each in record.credits)
    prepaid = sum(each.total for each in record.payments)
    return {
        "date": record.day.isoformat(),
        "status": "reversed" if record.reversed else "open",
        "receivables_cents" if side.sign > 0 else "payables_cents": owed,
        f"{party}_credits_cents": credited,
        f"{party}_prepayments_cents": prepaid,
        "difference_cents": record.money + side.sign * (owed - credited - prepaid),
        "opening_balance_equity_cents": record.money + side.sign * (owed - credited - prepaid),
    }


def parts(pairs: Any) -> set[Any]:
    return {(each.id, amount) for each, amount in pairs}


VIEWS: dict[type, Callable[[Books, Any], View]] = {
    Document: document,
    Payment: payment,
    Credit: credit,
    Refund: refund,
    RefundPayment: refund_payment,
    Payout: payout,
    VendorRefund: vendor_refund,
    VendorRefundPayment: vendor_refund_payment,
    BankAccount: bank_account,
    BankLine: bank_line,
    BankRule: bank_rule,
    Entry: entry,
    Opening: opening,
    Party: party,
}
