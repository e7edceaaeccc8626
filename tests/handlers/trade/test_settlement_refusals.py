"""Refusals of sales because of stored records; the books stay unchanged."""

from collections.abc import Callable

import pytest

from tests.bookkeeping import Ledger
from tests.builders.customer_history import CHART, CustomerHistory, account
from tests.builders.requests import (
    Request,
    applying,
    cancelling_refund,
    cancelling_refund_payment,
    changing,
    deleting,
    editing,
    lowering,
    paying_back,
    refunding,
    replacing,
    reversing,
    sending,
    sending_credit,
    voiding_credit,
    writing_off,
)
from tests.builders.sales import part, share
from tests.builders.trade import NOBODY, Record, line
from tests.partner import Business, Partner

LARGEST = 99_999_999_999_999
CONTROL = ("1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300")
RequestOf = Callable[[CustomerHistory], Request]
Refusal = tuple[str, int, str, RequestOf]

MOVE = "invalid_state_transition"
NOT_OPEN = "invoice_not_open"
OVER_LEFT = "allocation_exceeds_outstanding"
OVER_TOTAL = "allocation_exceeds_total"
HELD = "invoice_has_allocations"
OTHERS = "invoice_customer_mismatch"
UNKNOWN = "reference_not_found"
BACK = "refund_exceeds_refundable"

INVOICES: tuple[Refusal, ...] = (
    ("sending a void one", 409, MOVE, lambda t: sending(t.void())),
    ("editing a void one", 409, MOVE, lambda t: editing(t.void())),
    ("deleting a void one", 409, MOVE, lambda t: deleting(t.void())),
    ("deleting what a credit names", 409, HELD, lambda t: deleting(t.named_by_a_credit())),
    ("a discount over all lines", 422, "negative_amount",
     lambda t: t.invoicing(line(100, sales_taxes=[{"amount": 50}]), additional_discount=101)),
    ("an archived account in an edit", 409, "account_archived",
     lambda t: editing(t.invoice(), line_items=[line(1, account_identifier=t.closed)])),
    ("a tax to an archived account", 409, "account_archived", lambda t: editing(
        t.invoice(), line_items=[line(1, sales_taxes=[{"amount": 1, "tax_account": t.closed}])])),
    ("a tax to an unknown account", 422, UNKNOWN, lambda t: t.invoicing(
        line(100, sales_taxes=[{"amount": 1, "tax_account": account("9999")}]))),
    ("another currency in an edit", 422, "immutable_field",
     lambda t: editing(t.invoice(), currency="EUR")),
)  # fmt: skip

PAYMENTS: tuple[Refusal, ...] = (
    ("over what was credited", 422, OVER_LEFT, lambda t: t.paying(t.credited(), 61)),
    ("over what was written off", 422, OVER_LEFT, lambda t: t.paying(t.partly_written_off(), 61)),
    ("over what is left, pending", 422, OVER_LEFT,
     lambda t: t.paying(t.promised(), 61, status="pending")),
    ("over what refunds leave of it", 422, OVER_TOTAL,
     lambda t: changing(t.given_back(), allocations=[part(t.invoice(), 41)])),
    ("a total below what is promised", 422, "total_below_allocated",
     lambda t: replacing(t.payment(100, part(t.invoice(), 100), status="pending"),
                         total_amount_cents=99)),
    ("a total below what is refunded", 422, "total_below_allocated",
     lambda t: changing(t.given_back(), total_amount_cents=59)),
    ("allocations of a cancelled one", 409, "payment_not_live",
     lambda t: replacing(t.payment(status="cancelled"), allocations=[part(t.invoice(), 1)])),
    ("allocations of a refunded one", 409, "payment_not_live",
     lambda t: changing(t.payment(status="refunded"), allocations=[part(t.invoice(), 1)])),
    ("releasing what was refunded", 422, BACK, lambda t: changing(t.refunded(), allocations=[])),
    ("lowering below what was refunded", 422, BACK,
     lambda t: lowering(t.refunded(), 59)),
    ("refunding what was refunded", 422, BACK, lambda t: changing(t.refunded(), status="refunded")),
    ("refunding a payment that is partly refunded", 422, BACK,
     lambda t: replacing(t.given_back(), status="refunded")),
)  # fmt: skip

REFUNDS: tuple[Refusal, ...] = (
    ("of what was credited", 422, BACK, lambda t: refunding(t.credited())),
    ("of what was written off", 422, BACK, lambda t: refunding(t.written_off())),
    ("over what remains", 422, BACK, lambda t: refunding(t.given_back(), amount_cents=41)),
    ("of a payment that is used up", 422, BACK, lambda t: refunding(t.allocated())),
    ("cancelling a paid one", 409, MOVE, lambda t: cancelling_refund(t.refund_paid())),
    ("cancelling twice", 409, MOVE, lambda t: cancelling_refund(t.refund_cancelled())),
    ("paying a cancelled one", 409, MOVE, lambda t: paying_back(t.refund_cancelled())),
    ("paying more than its rest", 422, BACK, lambda t: paying_back(t.refund(), amount_cents=101)),
    ("paying a paid one", 422, BACK, lambda t: paying_back(t.refund_paid())),
    ("cancelling its payment twice", 409, MOVE,
     lambda t: cancelling_refund_payment(t.refund_payment_cancelled())),
)  # fmt: skip

CREDITS: tuple[Refusal, ...] = (
    ("a draft that is applied", 409, "credit_not_sent",
     lambda t: ("POST", "customer-credits/",
                {"customer_id": t.buyer["id"], "line_items": [{"amount": 1}],
                 "allocations": [share(t.invoice(), 1)]})),
    ("over what payments promised", 422, OVER_LEFT,
     lambda t: applying(t.credit(), share(t.promised(), 61))),
    ("over what was credited", 422, OVER_LEFT, lambda t: t.crediting(share(t.credited(), 61))),
    ("over what was written off", 422, OVER_LEFT,
     lambda t: applying(t.credit(), share(t.partly_written_off(), 61))),
    ("of what was paid", 422, OVER_LEFT, lambda t: t.crediting(share(t.paid(), 1))),
    ("another customer's, by a newcomer", 422, OTHERS,
     lambda t: t.crediting_a_newcomer(share(t.invoice(), 1))),
    ("a void invoice", 409, NOT_OPEN, lambda t: applying(t.credit(), share(t.void(), 1))),
    ("more than the books hold", 422, "amount_too_large",
     lambda t: t.crediting(line_items=[{"amount": LARGEST}, {"amount": 1}])),
    ("more tax than the books hold", 422, "amount_too_large",
     lambda t: t.crediting(line_items=[{"amount": 1, "tax_amount_cents": LARGEST}])),
    ("sending to an archived customer", 409, "customer_archived",
     lambda t: sending_credit(t.gone.buyer["credit"])),
    ("changing a void one", 409, MOVE, lambda t: applying(t.credit_void())),
    ("voiding a draft", 409, MOVE, lambda t: voiding_credit(t.credit_draft())),
    ("voiding twice", 409, MOVE, lambda t: voiding_credit(t.credit_void())),
    ("an account of nobody", 422, UNKNOWN,
     lambda t: t.crediting_to({"type": "AccountId", "id": NOBODY})),
    ("an archived account", 409, "account_archived", lambda t: t.crediting_to(t.closed)),
)  # fmt: skip

WRITE_OFFS: tuple[Refusal, ...] = (
    ("of a draft", 409, NOT_OPEN, lambda t: writing_off(t.draft())),
    ("over what was credited", 422, OVER_LEFT,
     lambda t: writing_off(t.credited(), amount_cents=61)),
    ("of what was paid", 422, OVER_LEFT, lambda t: writing_off(t.paid())),
    ("of an invoice of nothing", 422, OVER_LEFT, lambda t: writing_off(t.invoice(0))),
    ("reversing twice", 409, MOVE, lambda t: reversing(t.reversed())),
    ("to an archived account", 409, "account_archived",
     lambda t: writing_off(t.invoice(), destination_account=t.closed)),
)  # fmt: skip


def refusals(*rows: Refusal) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("request_of", "status", "code"),
        [
            pytest.param(request_of, status, code, id=name)
            for name, status, code, request_of in rows
        ],
    )


@pytest.fixture(scope="module")
def history(shop: Business, buyer: Record) -> CustomerHistory:
    return CustomerHistory(shop, buyer)


def refused(history: CustomerHistory, ledger: Ledger, request: Request) -> tuple[int, str]:
    """Send a request; check that it is refused and leaves the books unchanged."""
    method, path, body = request
    with ledger.untouched():
        answer = history.shop.api.request(method, path, json=body)
    assert answer.status_code >= 400, answer.text
    fault = answer.json()
    if fault["error_code"] == MOVE:
        assert fault["detail"].keys() == {"current_state", "allowed_next_states"}
    return answer.status_code, fault["error_code"]


class TestRefusals:
    @refusals(*INVOICES, *REFUNDS, *WRITE_OFFS)
    def test_of_invoices_refunds_and_write_offs(
        self,
        history: CustomerHistory,
        ledger: Ledger,
        request_of: RequestOf,
        status: int,
        code: str,
    ) -> None:
        assert refused(history, ledger, request_of(history)) == (status, code)

    @refusals(*PAYMENTS)
    def test_of_invoice_payments(
        self,
        history: CustomerHistory,
        ledger: Ledger,
        request_of: RequestOf,
        status: int,
        code: str,
    ) -> None:
        method, path, body = request_of(history)
        for each in ("PUT", "PATCH") if method in ("PUT", "PATCH") else (method,):
            assert refused(history, ledger, (each, path, body)) == (status, code)

    @refusals(*CREDITS)
    def test_of_customer_credits(
        self,
        history: CustomerHistory,
        ledger: Ledger,
        request_of: RequestOf,
        status: int,
        code: str,
    ) -> None:
        assert refused(history, ledger, request_of(history)) == (status, code)


class TestControlAccounts:
    @pytest.mark.parametrize("code", CONTROL)
    def test_no_caller_posts_to_one(
        self, history: CustomerHistory, ledger: Ledger, code: str
    ) -> None:
        named, invoice = account(code), history.invoice()
        tax = {"amount": 1, "tax_account": named}
        for request in (
            history.invoicing(line(100, account_identifier=named)),
            history.invoicing(line(100, sales_taxes=[tax])),
            editing(invoice, line_items=[line(1, account_identifier=named)]),
            history.crediting_to(named),
            writing_off(invoice, destination_account=named),
        ):
            assert refused(history, ledger, request) == (422, "control_account")

    def test_clearing_is_none_of_them(self, history: CustomerHistory, ledger: Ledger) -> None:
        clearing = account("1150")
        credit = history.done(history.crediting_to(clearing))
        assert ledger.entries(credit)[0].amounts == {"1150": 1, "2250": -1}
        history.done(writing_off(history.invoice(), destination_account=clearing))


class TestIdsOfOtherBusinesses:
    def test_ids_of_other_businesses_are_answered_like_unknown_ids(
        self, history: CustomerHistory, ledger: Ledger, rival: Partner
    ) -> None:
        business: Business = rival.business()
        other = CustomerHistory(business, business.customer())
        invoice = other.invoice()
        sales = business.api.get(f"{CHART}4000/").json()["id"]
        named = {"type": "AccountId", "id": sales}
        for request in (
            history.invoicing(line(1, account_identifier=named)),
            history.paying(invoice),
            changing(history.payment(), allocations=[part(invoice, 1)]),
            refunding(other.payment()),
            history.crediting(share(invoice, 1)),
            history.crediting(source_invoice_id=invoice["id"]),
            history.crediting_to(named),
            applying(history.credit(), share(invoice, 1)),
            writing_off(history.invoice(), destination_account=named),
        ):
            assert refused(history, ledger, request) == (422, UNKNOWN)
        assert other.read(invoice["id"]) == invoice
