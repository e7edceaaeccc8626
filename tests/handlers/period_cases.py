"""Requests of all posting operations to books with a locked period.

Each case creates its records while the books are open and returns the request that is then sent.
Every case is in March 2025; a new operation that posts needs a case.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tests.builders import payouts, purchases, requests, vendor_refunds
from tests.builders.bank import BILL_PAYMENT, LINES, PAYMENT, Bank, matching, open_account
from tests.builders.customer_history import CustomerHistory
from tests.builders.journal_entries import ENTRIES, drafted, entry_body, posted
from tests.builders.openings import OPENINGS, open_invoice, opened
from tests.builders.requests import Request
from tests.builders.revaluations import REVALUATIONS, revalued
from tests.builders.sales import part, share
from tests.builders.trade import PURCHASES, Record, line
from tests.builders.vendor_refunds import REFUND_PAYMENTS, REFUNDS, agreed, as_credit
from tests.partner import Business

INSIDE = "2025-03-20"
AT = f"{INSIDE}T09:00:00Z"
BALANCE = {"account": "1100", "debit_amount": 100}


@dataclass
class Trader:
    """A business that sells, buys and banks; every amount is 100 by default."""

    shop: Business

    @cached_property
    def sales(self) -> CustomerHistory:
        return CustomerHistory(self.shop, self.shop.customer())

    @cached_property
    def vendor(self) -> Record:
        return self.shop.vendor()

    @cached_property
    def bank(self) -> Bank:
        open_account(self.shop, display_name="Current account")
        return Bank(self.shop, open_account(self.shop))

    # ── Records of March ─────────────────────────────────────────────────────────────────────────

    def bill(self, **facts: Any) -> Record:
        return purchases.received(self.shop, self.vendor, 100, **facts)

    def revaluation(self) -> Record:
        return revalued(self.shop, self.shop.customer(), INSIDE)

    def waived(self) -> Record:
        return PURCHASES.write_off(self.shop, self.bill(), write_off_at=AT)

    def drafted_bill(self, **facts: Any) -> Record:
        return self.shop.made(purchases.BILLS, purchases.bill_body(self.vendor, **facts))

    def outlay(self, *parts: Record, **facts: Any) -> Record:
        return purchases.bill_paid(self.shop, self.vendor, 100, *parts, **facts)

    def returned(self, *shares: Record) -> Record:
        return purchases.vendor_credited(self.shop, self.vendor, 100, *shares)

    def agreed(self, *items: Record, **facts: Any) -> Record:
        """Create a vendor refund; return its pending payment."""
        made = agreed(self.shop, self.vendor, 100, *items, **facts)
        payment: Record = made["payment"]
        return payment

    def come(self) -> Record:
        """Create a vendor refund; return its payment, completed."""
        come = {"status": "completed", "payment_date": INSIDE}
        payment: Record = vendor_refunds.changed(self.shop, self.agreed(), **come)["payment"]
        return payment

    def payout(self, **facts: Any) -> Record:
        item = payouts.by_card(self.shop, self.sales.buyer)
        return payouts.paid_out(self.shop, 100, item, **facts)

    def matched(self, kind: str, target: Record, amount: int) -> Record:
        line = self.bank.line(amount)
        self.bank.match(line, kind, target)
        return self.bank.read(line)

    def categorized(self) -> Record:
        return self.bank.categorize(self.bank.line(-100), "6300")


Case = tuple[str, str, Callable[[Trader], Request]]


def buy(path: str, record: Record | None = None, verb: str = "", **body: Any) -> Request:
    """Return a request on the side of purchases."""
    return "POST", path + (f"{record['id']}/{verb}/" if record else ""), body


def change(method: str, path: str, record: Record, **body: Any) -> Request:
    return method, f"{path}{record['id']}/", body


def recoding(path: str, record: Record, field: str) -> Request:
    """Put the first line of a document or credit on another account."""
    other = {"type": "AccountCode", "code": "4600"}
    item = {"id": record["line_items"][0]["id"], field: other}
    return change("PATCH", path, record, line_items=[item])


def ask(line: Record, what: str, body: Any = None) -> Request:
    return "POST", f"{LINES}{line['id']}/{what}/", body


def unwaiving(bill: Record) -> Request:
    [write_off] = bill["write_offs"]
    return "DELETE", f"bills/{bill['id']}/write-offs/{write_off['id']}/", None


def opening(trader: Trader, **facts: Any) -> Request:
    """Return a request that opens the books with an earlier invoice."""
    owed = open_invoice(trader.sales.buyer, 100)
    return "POST", OPENINGS, {"invoices": [owed], **facts}


def unmatching(line: Record) -> Request:
    [link] = line["links"]
    return ask(line, "unmatch", {"reconciliation_link_id": link["reconciliation_link_id"]})


# Refused: dated by the caller, or by the document that it posts.
REFUSED: tuple[Case, ...] = (
    ("create_invoice", "sent", lambda t: t.sales.invoicing(sent_at=AT)),
    ("create_invoice", "paid", lambda t: t.sales.invoicing(
        sent_at="2026-01-01T00:00:00Z",
        payments=[{"payment_method": "cash", "payment_date": INSIDE}])),
    ("replace_invoice", "to another day",
     lambda t: requests.editing(t.sales.invoice(), sent_at=AT)),
    ("replace_invoice", "that it sends", lambda t: requests.editing(t.sales.draft(), sent_at=AT)),
    ("send_invoice", "on a day", lambda t: requests.sending(t.sales.draft(), sent_at=AT)),
    ("void_invoice", "on a day", lambda t: requests.voiding(t.sales.invoice(), voided_at=AT)),
    ("write_off_invoice", "on a day",
     lambda t: requests.writing_off(t.sales.invoice(), write_off_at=AT)),
    ("create_invoice_payment", "completed", lambda t: t.sales.paying(t.sales.invoice())),
    ("replace_invoice_payment", "to another day",
     lambda t: requests.replacing(t.sales.payment(), payment_date=INSIDE)),
    ("replace_invoice_payment", "that it completes",
     lambda t: requests.replacing(t.sales.payment(status="pending"), status="completed")),
    ("update_invoice_payment", "to another day",
     lambda t: requests.changing(t.sales.payment(), payment_date=INSIDE)),
    ("update_invoice_payment", "that it completes",
     lambda t: requests.changing(t.sales.payment(status="pending"), status="completed")),
    ("create_invoice_refund", "paid at once",
     lambda t: requests.refunding(t.sales.paid(), completed_at=AT)),
    ("create_invoice_refund_payment", "on a day",
     lambda t: requests.paying_back(t.sales.refund(), completed_at=AT)),
    ("create_customer_credit", "sent", lambda t: t.sales.crediting()),
    ("replace_customer_credit", "that it sends",
     lambda t: requests.sending_credit(t.sales.credit_draft())),
    ("void_customer_credit", "on a day",
     lambda t: requests.voiding_credit(t.sales.credit(), voided_at=AT)),
    ("create_bill", "received",
     lambda t: buy("bills/", **purchases.bill_body(t.vendor, received_at=AT))),
    ("create_bill", "dated", lambda t: buy("bills/", **purchases.bill_body(
        t.vendor, bill_date=INSIDE, received_at="2026-01-01T00:00:00Z"))),
    ("replace_bill", "to another day", lambda t: change(
        "PUT", "bills/", t.bill(), bill_date=INSIDE, line_items=[line()])),
    ("receive_bill", "on a day",
     lambda t: buy("bills/", t.drafted_bill(), "receive", received_at=AT)),
    ("receive_bill", "dated",
     lambda t: buy("bills/", t.drafted_bill(bill_date=INSIDE), "receive")),
    ("write_off_bill", "on a day",
     lambda t: buy("bills/", t.bill(), "write-offs", write_off_at=AT)),
    ("void_bill", "on a day", lambda t: buy("bills/", t.bill(), "void", voided_at=AT)),
    ("create_bill_payment", "completed",
     lambda t: buy("bills/payments/", **purchases.bill_payment_body(t.vendor))),
    ("update_bill_payment", "to another day",
     lambda t: change("PATCH", "bills/payments/", t.outlay(), payment_date=INSIDE)),
    ("update_bill_payment", "that it completes",
     lambda t: change("PATCH", "bills/payments/", t.outlay(status="pending"), status="completed")),
    ("create_vendor_credit", "received",
     lambda t: buy("vendor-credits/", **purchases.vendor_credit_body(t.vendor, received_at=AT))),
    ("replace_vendor_credit", "that it receives", lambda t: change(
        "PUT", "vendor-credits/",
        t.shop.made("vendor-credits/", purchases.vendor_credit_body(t.vendor)), received_at=AT)),
    ("void_vendor_credit", "on a day",
     lambda t: buy("vendor-credits/", t.returned(), "void", voided_at=AT)),
    ("create_vendor_refund", "agreed",
     lambda t: buy(REFUNDS, **vendor_refunds.whole_refund_body(t.vendor, 100))),
    ("create_vendor_refund_payment", "agreed",
     lambda t: buy(REFUND_PAYMENTS, **vendor_refunds.refund_body(t.vendor, 100))),
    ("update_vendor_refund_payment", "that it completes", lambda t: change(
        "PATCH", REFUND_PAYMENTS, t.agreed(), status="completed", payment_date=INSIDE)),
    ("create_payout", "paid", lambda t: buy(
        "payouts/", **payouts.payout_body(100, payouts.by_card(t.shop, t.sales.buyer)))),
    ("create_payout", "to another day", lambda t: buy("payouts/", **{
        **payouts.payout_body(100, external_id=t.payout(external_id="moved")["external_id"]),
        "completed_at": AT})),
    ("match_bank_transaction", "that it completes", lambda t: ask(
        t.bank.line(100), "match", matching(PAYMENT, t.sales.payment(status="pending")))),
    ("categorize_bank_transaction", "on its day",
     lambda t: ask(t.bank.line(100), "categorize", {"account": "4500"})),
    ("create_journal_entry", "posted", lambda _: ("POST", ENTRIES, entry_body(post=True))),
    ("approve_journal_entry", "on its day",
     lambda t: ("POST", f"{ENTRIES}{drafted(t.shop)['id']}/approve/", None)),
    ("create_opening_balance", "on its day", lambda t: opening(t, date=INSIDE)),
    ("create_revaluation", "on its day", lambda _: ("POST", REVALUATIONS, {"date": INSIDE})),
    ("reverse_revaluation", "on its day",
     lambda t: ("POST", f"{REVALUATIONS}{t.revaluation()['id']}/reverse/", None)),
    ("reverse_opening_balance", "on a day", lambda t: (
        "POST", f"{OPENINGS}{opened(t.shop, date=INSIDE)['id']}/reverse/", {"entry_date": INSIDE})),
    ("reverse_journal_entry", "on a day",
     lambda t: ("POST", f"{ENTRIES}{posted(t.shop)['id']}/reverse/", {"entry_date": INSIDE})),
)  # fmt: skip

# Moved to the day after: corrections of postings in the period, and changes dated today, as
# these books are locked until tomorrow.
MOVED: tuple[Case, ...] = (
    ("replace_invoice", "a correction", lambda t: requests.editing(t.sales.invoice())),
    ("update_invoice", "a recoded line",
     lambda t: recoding("invoices/", t.sales.invoice(), "account_identifier")),
    ("update_bill", "a recoded line",
     lambda t: recoding("bills/", t.bill(), "account_identifier")),
    ("update_customer_credit", "a recoded line", lambda t: recoding(
        "customer-credits/", t.sales.credit(), "revenue_account_identifier")),
    ("update_vendor_credit", "a recoded line", lambda t: recoding(
        "vendor-credits/", t.returned(), "expense_account_identifier")),
    ("void_invoice", "today", lambda t: requests.voiding(t.sales.invoice())),
    ("reverse_write_off", "today", lambda t: requests.reversing(t.sales.written_off())),
    ("replace_invoice_payment", "a correction",
     lambda t: requests.replacing(t.sales.payment(), total_amount_cents=130)),
    ("replace_invoice_payment", "applied today", lambda t: requests.replacing(
        t.sales.payment(), allocations=[part(t.sales.invoice(), 100)])),
    ("update_invoice_payment", "failed today",
     lambda t: requests.changing(t.sales.allocated(), status="failed")),
    ("update_invoice_payment", "released today",
     lambda t: requests.changing(t.sales.allocated(), allocations=[])),
    ("cancel_invoice_refund", "today", lambda t: requests.cancelling_refund(t.sales.refund())),
    ("cancel_invoice_refund_payment", "today",
     lambda t: requests.cancelling_refund_payment(t.sales.refund_paid())),
    ("replace_customer_credit", "applied today",
     lambda t: requests.applying(t.sales.credit(), share(t.sales.invoice(), 40))),
    ("replace_customer_credit", "released today",
     lambda t: requests.applying(t.sales.credit_applied())),
    ("void_customer_credit", "today", lambda t: requests.voiding_credit(t.sales.credit())),
    ("replace_bill", "a correction",
     lambda t: change("PUT", "bills/", t.bill(), line_items=[line(700)])),
    ("reverse_bill_write_off", "today", lambda t: unwaiving(t.waived())),
    ("void_bill", "today", lambda t: buy("bills/", t.bill(), "void")),
    ("update_bill_payment", "a correction",
     lambda t: change("PATCH", "bills/payments/", t.outlay(), amount_cents=130)),
    ("update_bill_payment", "returned today",
     lambda t: change("PATCH", "bills/payments/", t.outlay(), status="failed")),
    ("update_bill_payment", "applied today", lambda t: change(
        "PATCH", "bills/payments/", t.outlay(), allocations=[purchases.part(t.bill(), 100)])),
    ("replace_vendor_credit", "applied today", lambda t: change(
        "PUT", "vendor-credits/", t.returned(), allocations=[purchases.share(t.bill(), 40)])),
    ("replace_vendor_credit", "released today", lambda t: change(
        "PUT", "vendor-credits/", t.returned(purchases.share(t.bill(), 40)), allocations=[])),
    ("void_vendor_credit", "today", lambda t: buy("vendor-credits/", t.returned(), "void")),
    ("update_vendor_refund_payment", "allocated today", lambda t: change(
        "PATCH", REFUND_PAYMENTS, t.agreed(), allocations=[as_credit(40)])),
    ("update_vendor_refund_payment", "failed today", lambda t: change(
        "PATCH", REFUND_PAYMENTS, t.come(), status="failed")),
    ("cancel_vendor_refund_payment", "today",
     lambda t: ("POST", f"{REFUND_PAYMENTS}{t.agreed()['id']}/delete/", None)),
    ("create_payout", "failed today", lambda t: buy("payouts/", **payouts.payout_body(
        100, external_id=t.payout(external_id="failed")["external_id"], status="failed"))),
    ("delete_payout", "today", lambda t: ("DELETE", f"payouts/{t.payout()['id']}/", None)),
    ("match_bank_transaction", "a correction", lambda t: ask(
        t.bank.line(-100), "match", matching(BILL_PAYMENT, t.outlay()))),
    ("unmatch_bank_transaction", "a correction",
     lambda t: unmatching(t.matched(PAYMENT, t.sales.payment(), 100))),
    ("uncategorize_bank_transaction", "today",
     lambda t: ask(t.categorized(), "uncategorize")),
    ("reverse_opening_balance", "today", lambda t: (
        "POST", f"{OPENINGS}{opened(t.shop, accounts=[BALANCE])['id']}/reverse/", None)),
    ("reverse_journal_entry", "today",
     lambda t: ("POST", f"{ENTRIES}{posted(t.shop)['id']}/reverse/", None)),
)  # fmt: skip
