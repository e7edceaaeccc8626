"""Everything that sales refuse by their rules: the answer, and the books as they were before it."""

from collections.abc import Callable

import pytest

from tests.bookkeeping import Ledger
from tests.builders.customer_history import NOTHING, CustomerHistory, account
from tests.builders.requests import (
    Request,
    applying,
    cancelling,
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
    voiding,
    voiding_credit,
    writing_off,
)
from tests.builders.sales import part, share
from tests.builders.trade import NOBODY, Record, line
from tests.partner import Business, Partner

LARGEST = 99_999_999_999_999
CONTROL = ("1200", "1250", "1260", "1270", "2000", "2100", "2250", "2300")
LOCKED = "2025-06-30"
INSIDE = "2025-06-30T12:00:00Z"
Asks = Callable[[CustomerHistory], Request]
Refusal = tuple[str, int, str, Asks]

MOVE = "invalid_state_transition"
NOT_OPEN = "invoice_not_open"
OVER_LEFT = "allocation_exceeds_outstanding"
OVER_TOTAL = "allocation_exceeds_total"
HELD = "invoice_has_allocations"
OTHERS = "invoice_customer_mismatch"
UNKNOWN = "reference_not_found"
BACK = "refund_exceeds_refundable"
FORM = "validation_error"

INVOICES: tuple[Refusal, ...] = (
    ("sending twice", 409, MOVE, lambda t: sending(t.invoice())),
    ("sending a void one", 409, MOVE, lambda t: sending(t.void())),
    ("voiding a draft", 409, MOVE, lambda t: voiding(t.draft())),
    ("voiding twice", 409, MOVE, lambda t: voiding(t.void())),
    ("editing a void one", 409, MOVE, lambda t: editing(t.void())),
    ("deleting a sent one", 409, MOVE, lambda t: deleting(t.invoice())),
    ("deleting a void one", 409, MOVE, lambda t: deleting(t.void())),
    ("deleting what a credit names", 409, HELD, lambda t: deleting(t.named_by_a_credit())),
    ("editing a paid one", 409, HELD, lambda t: editing(t.paid(40))),
    ("editing a promised one", 409, HELD, lambda t: editing(t.promised())),
    ("editing a credited one", 409, HELD, lambda t: editing(t.credited())),
    ("editing a written off one", 409, HELD, lambda t: editing(t.partly_written_off())),
    ("editing a refunded one", 409, HELD, lambda t: editing(t.refunded_and_bounced())),
    ("voiding a paid one", 409, HELD, lambda t: voiding(t.paid(40))),
    ("voiding a promised one", 409, HELD, lambda t: voiding(t.promised())),
    ("voiding a credited one", 409, HELD, lambda t: voiding(t.credited())),
    ("voiding a written off one", 409, HELD, lambda t: voiding(t.written_off())),
    ("voiding a refunded one", 409, HELD, lambda t: voiding(t.refunded_and_bounced())),
    ("a discount over its line", 422, "negative_amount",
     lambda t: t.invoicing(line(100, discount_amount=101))),
    ("a discount over all lines", 422, "negative_amount",
     lambda t: t.invoicing(line(100, sales_taxes=[{"amount": 50}]), additional_discount=101)),
    ("a discount below 0", 400, FORM, lambda t: t.invoicing(line(100, discount_amount=-1))),
    ("a tax below 0", 400, FORM, lambda t: t.invoicing(line(100, sales_taxes=[{"amount": -1}]))),
    ("a rate and a tax on one line", 400, FORM,
     lambda t: t.invoicing(line(100, tax_rate=20, sales_taxes=[{"amount": 20}]))),
    ("more than the books hold", 422, "amount_too_large", lambda t: t.invoicing(line(LARGEST, 2))),
    ("an archived account", 409, "account_archived",
     lambda t: t.invoicing(line(100, account_identifier=t.closed))),
    ("an archived account in an edit", 409, "account_archived",
     lambda t: editing(t.invoice(), line_items=[line(1, account_identifier=t.closed)])),
    ("a tax to an archived account", 409, "account_archived", lambda t: editing(
        t.invoice(), line_items=[line(1, sales_taxes=[{"amount": 1, "tax_account": t.closed}])])),
    ("a tax to an unknown account", 422, UNKNOWN, lambda t: t.invoicing(
        line(100, sales_taxes=[{"amount": 1, "tax_account": account("9999")}]))),
    ("another currency", 422, "currency_mismatch", lambda t: t.invoicing(currency="EUR")),
    ("another currency in an edit", 422, "currency_mismatch",
     lambda t: editing(t.invoice(), currency="EUR")),
    ("the number of another one", 409, "duplicate_invoice_number",
     lambda t: t.invoicing(invoice_number=t.invoice()["invoice_number"])),
    ("an archived customer", 409, "customer_archived", lambda t: t.gone.invoicing()),
    ("sending to an archived customer", 409, "customer_archived",
     lambda t: sending(t.gone.buyer["invoice"])),
    ("an unknown customer", 422, UNKNOWN, lambda t: t.invoicing(customer_id=NOBODY)),
    ("two names that disagree", 422, "reference_mismatch",
     lambda t: t.invoicing(customer_external_id="somebody else")),
)  # fmt: skip

PAYMENTS: tuple[Refusal, ...] = (
    ("over what is left", 422, OVER_LEFT, lambda t: t.paying(t.invoice(), 101, 200)),
    ("over what others promised", 422, OVER_LEFT, lambda t: t.paying(t.promised(), 61)),
    ("over what was credited", 422, OVER_LEFT, lambda t: t.paying(t.credited(), 61)),
    ("over what was written off", 422, OVER_LEFT, lambda t: t.paying(t.partly_written_off(), 61)),
    ("over what is left, pending", 422, OVER_LEFT,
     lambda t: t.paying(t.promised(), 61, status="pending")),
    ("over what is left, in a list", 422, OVER_LEFT,
     lambda t: changing(t.payment(200), allocations=[part(t.invoice(), 101)])),
    ("over its total", 422, OVER_TOTAL, lambda t: t.paying(t.invoice(), 100, 99)),
    ("over its total, in a list", 422, OVER_TOTAL,
     lambda t: changing(t.payment(), allocations=[part(t.invoice(), 60), part(t.invoice(), 41)])),
    ("over what refunds leave of it", 422, OVER_TOTAL,
     lambda t: changing(t.given_back(), allocations=[part(t.invoice(), 41)])),
    ("another customer's invoice", 422, OTHERS, lambda t: t.paying(t.of_another())),
    ("another customer's, in a list", 422, OTHERS,
     lambda t: replacing(t.payment(), allocations=[part(t.of_another(), 1)])),
    ("a draft invoice", 409, NOT_OPEN, lambda t: t.paying(t.draft())),
    ("a void invoice", 409, NOT_OPEN, lambda t: t.paying(t.void())),
    ("an unknown invoice", 422, UNKNOWN, lambda t: t.paying(NOTHING)),
    ("the same invoice twice", 400, FORM,
     lambda t: changing(t.payment(), allocations=[part(t.invoice(), 1)] * 2)),
    ("a total below what is allocated", 422, "total_below_allocated",
     lambda t: changing(t.allocated(), total_amount_cents=99)),
    ("a total below what is promised", 422, "total_below_allocated",
     lambda t: replacing(t.payment(100, part(t.invoice(), 100), status="pending"),
                         total_amount_cents=99)),
    ("a total below what is refunded", 422, "total_below_allocated",
     lambda t: changing(t.given_back(), total_amount_cents=59)),
    ("another customer", 422, "immutable_field",
     lambda t: changing(t.payment(), customer_id=NOBODY)),
    ("another currency later", 422, "immutable_field",
     lambda t: replacing(t.payment(), currency="EUR")),
    ("another currency", 422, "currency_mismatch", lambda t: t.paying(t.invoice(), currency="EUR")),
    ("two names that disagree", 422, "reference_mismatch",
     lambda t: t.paying(t.invoice(), customer_external_id="somebody else")),
    ("the external id of another", 409, "duplicate_external_id",
     lambda t: changing(t.payment(), external_id=t.payment(1, external_id="taken")["external_id"])),
    ("allocations of a failed one", 409, "payment_not_live",
     lambda t: t.paying(t.invoice(), status="failed")),
    ("allocations of one that fails", 409, "payment_not_live",
     lambda t: changing(t.payment(), status="failed", allocations=[part(t.invoice(), 1)])),
    ("allocations of a cancelled one", 409, "payment_not_live",
     lambda t: replacing(t.payment(status="cancelled"), allocations=[part(t.invoice(), 1)])),
    ("allocations of a refunded one", 409, "payment_not_live",
     lambda t: changing(t.payment(status="refunded"), allocations=[part(t.invoice(), 1)])),
    ("cancelling a completed one", 409, MOVE, lambda t: cancelling(t.payment())),
    ("cancelling a processing one", 409, MOVE,
     lambda t: cancelling(t.payment(status="processing"))),
    ("cancelling twice", 409, MOVE, lambda t: cancelling(t.payment(status="cancelled"))),
    ("releasing what was refunded", 422, BACK, lambda t: changing(t.refunded(), allocations=[])),
    ("lowering below what was refunded", 422, BACK,
     lambda t: lowering(t.refunded(), 59)),
    ("refunding what was refunded", 422, BACK, lambda t: changing(t.refunded(), status="refunded")),
    ("refunding what was given back", 422, BACK,
     lambda t: replacing(t.given_back(), status="refunded")),
    ("an archived customer", 409, "customer_archived",
     lambda t: t.gone.paying(NOTHING, allocations=[])),
)  # fmt: skip

REFUNDS: tuple[Refusal, ...] = (
    ("of both", 400, FORM, lambda t: refunding(t.paid(), payment_id=NOBODY)),
    ("of neither", 400, FORM, lambda _: ("POST", "invoices/refunds/", {"amount_cents": 1})),
    ("over what was paid", 422, BACK, lambda t: refunding(t.paid(), amount_cents=101)),
    ("of what is not paid", 422, BACK, lambda t: refunding(t.invoice())),
    ("of what is only promised", 422, BACK, lambda t: refunding(t.promised())),
    ("of what was credited", 422, BACK, lambda t: refunding(t.credited())),
    ("of what was written off", 422, BACK, lambda t: refunding(t.written_off())),
    ("over what remains", 422, BACK, lambda t: refunding(t.given_back(), amount_cents=41)),
    ("of a payment that is used up", 422, BACK, lambda t: refunding(t.allocated())),
    ("of a pending payment", 422, BACK, lambda t: refunding(t.payment(status="pending"))),
    ("of nothing known", 422, UNKNOWN, lambda _: refunding(NOTHING)),
    ("cancelling a paid one", 409, MOVE, lambda t: cancelling_refund(t.refund_paid())),
    ("cancelling twice", 409, MOVE, lambda t: cancelling_refund(t.refund_cancelled())),
    ("paying a cancelled one", 409, MOVE, lambda t: paying_back(t.refund_cancelled())),
    ("paying more than its rest", 422, BACK, lambda t: paying_back(t.refund(), amount_cents=101)),
    ("paying a paid one", 422, BACK, lambda t: paying_back(t.refund_paid())),
    ("cancelling its payment twice", 409, MOVE,
     lambda t: cancelling_refund_payment(t.refund_payment_cancelled())),
)  # fmt: skip

CREDITS: tuple[Refusal, ...] = (
    ("applying a draft", 409, "credit_not_sent",
     lambda t: applying(t.credit_draft(), share(t.invoice(), 1))),
    ("a draft that is applied", 409, "credit_not_sent",
     lambda t: ("POST", "customer-credits/",
                {"customer_id": t.buyer["id"], "line_items": [{"amount": 1}],
                 "allocations": [share(t.invoice(), 1)]})),
    ("over itself", 422, OVER_TOTAL, lambda t: t.crediting(share(t.invoice(200), 101))),
    ("over itself, in a list", 422, OVER_TOTAL,
     lambda t: applying(t.credit(), share(t.invoice(), 60), share(t.invoice(), 41))),
    ("over what is left", 422, OVER_LEFT, lambda t: t.crediting(share(t.invoice(99), 100))),
    ("over what payments promised", 422, OVER_LEFT,
     lambda t: applying(t.credit(), share(t.promised(), 61))),
    ("over what was credited", 422, OVER_LEFT, lambda t: t.crediting(share(t.credited(), 61))),
    ("over what was written off", 422, OVER_LEFT,
     lambda t: applying(t.credit(), share(t.partly_written_off(), 61))),
    ("of what was paid", 422, OVER_LEFT, lambda t: t.crediting(share(t.paid(), 1))),
    ("another customer's invoice", 422, OTHERS, lambda t: t.crediting(share(t.of_another(), 1))),
    ("another customer's, in a list", 422, OTHERS,
     lambda t: applying(t.credit(), share(t.of_another(), 1))),
    ("another customer's, by a newcomer", 422, OTHERS,
     lambda t: t.crediting_a_newcomer(share(t.invoice(), 1))),
    ("a draft invoice", 409, NOT_OPEN, lambda t: t.crediting(share(t.draft(), 1))),
    ("a void invoice", 409, NOT_OPEN, lambda t: applying(t.credit(), share(t.void(), 1))),
    ("an unknown invoice", 422, UNKNOWN, lambda t: t.crediting(share(NOTHING, 1))),
    ("an unknown invoice, in a list", 422, UNKNOWN,
     lambda t: applying(t.credit(), share(NOTHING, 1))),
    ("the same invoice twice", 400, FORM, lambda t: t.crediting(*[share(t.invoice(), 1)] * 2)),
    ("the same invoice twice, in a list", 400, FORM,
     lambda t: applying(t.credit(), *[share(t.invoice(), 1)] * 2)),
    ("an unknown source", 422, UNKNOWN, lambda t: t.crediting(source_invoice_id=NOBODY)),
    ("an unknown customer", 422, UNKNOWN, lambda t: t.crediting(customer_id=NOBODY)),
    ("two names that disagree", 422, "reference_mismatch",
     lambda t: t.crediting(customer_external_id="somebody else")),
    ("another currency", 422, "currency_mismatch", lambda t: t.crediting(currency="EUR")),
    ("more than the books hold", 422, "amount_too_large",
     lambda t: t.crediting(line_items=[{"amount": LARGEST}, {"amount": 1}])),
    ("more tax than the books hold", 422, "amount_too_large",
     lambda t: t.crediting(line_items=[{"amount": 1, "tax_amount_cents": LARGEST}])),
    ("the number of another one", 409, "duplicate_credit_note_number",
     lambda t: t.crediting(credit_note_number=t.credit()["credit_note_number"])),
    ("an archived customer", 409, "customer_archived", lambda t: t.gone.crediting()),
    ("sending to an archived customer", 409, "customer_archived",
     lambda t: sending_credit(t.gone.buyer["credit"])),
    ("another moment of sending", 422, "immutable_field",
     lambda t: sending_credit(t.credit(), INSIDE)),
    ("changing a void one", 409, MOVE, lambda t: applying(t.credit_void())),
    ("voiding a draft", 409, MOVE, lambda t: voiding_credit(t.credit_draft())),
    ("voiding twice", 409, MOVE, lambda t: voiding_credit(t.credit_void())),
    ("voiding what is applied", 409, "credit_applied",
     lambda t: voiding_credit(t.credit_applied())),
    ("an unknown account", 422, UNKNOWN, lambda t: t.crediting_to(account("9999"))),
    ("an account of nobody", 422, UNKNOWN,
     lambda t: t.crediting_to({"type": "AccountId", "id": NOBODY})),
    ("an archived account", 409, "account_archived", lambda t: t.crediting_to(t.closed)),
)  # fmt: skip

WRITE_OFFS: tuple[Refusal, ...] = (
    ("of a draft", 409, NOT_OPEN, lambda t: writing_off(t.draft())),
    ("of a void one", 409, NOT_OPEN, lambda t: writing_off(t.void())),
    ("over what is left", 422, OVER_LEFT, lambda t: writing_off(t.invoice(), amount_cents=101)),
    ("over what is promised", 422, OVER_LEFT,
     lambda t: writing_off(t.promised(), amount_cents=61)),
    ("over what was credited", 422, OVER_LEFT,
     lambda t: writing_off(t.credited(), amount_cents=61)),
    ("of what was paid", 422, OVER_LEFT, lambda t: writing_off(t.paid())),
    ("of what is all promised", 422, OVER_LEFT, lambda t: writing_off(t.promised(100))),
    ("of what was written off", 422, OVER_LEFT, lambda t: writing_off(t.written_off())),
    ("of an invoice of nothing", 422, OVER_LEFT, lambda t: writing_off(t.invoice(0))),
    ("reversing twice", 409, MOVE, lambda t: reversing(t.reversed())),
    ("the external id of another", 409, "duplicate_external_id",
     lambda t: (t.written_off(external_id="given up"),
                writing_off(t.invoice(), external_id="given up"))[-1]),
    ("to an unknown account", 422, UNKNOWN,
     lambda t: writing_off(t.invoice(), destination_account=account("9999"))),
    ("to an archived account", 409, "account_archived",
     lambda t: writing_off(t.invoice(), destination_account=t.closed)),
)  # fmt: skip

LOCK: tuple[Refusal, ...] = (
    ("an invoice", 409, "period_locked", lambda t: t.invoicing()),
    ("sending an invoice", 409, "period_locked", lambda t: sending(t.draft(), sent_at=INSIDE)),
    ("voiding an invoice", 409, "period_locked", lambda t: voiding(t.invoice(), voided_at=INSIDE)),
    ("a payment", 409, "period_locked", lambda t: t.paying(t.invoice())),
    ("completing a payment", 409, "period_locked",
     lambda t: changing(t.payment(status="pending"), status="completed")),
    ("moving a payment", 409, "period_locked",
     lambda t: replacing(t.payment(payment_date="2025-07-01"), payment_date=LOCKED)),
    ("a refund", 409, "period_locked", lambda t: refunding(t.paid(), completed_at=INSIDE)),
    ("a refund payment", 409, "period_locked",
     lambda t: paying_back(t.refund(), completed_at=INSIDE)),
    ("a credit", 409, "period_locked", lambda t: t.crediting()),
    ("sending a credit", 409, "period_locked", lambda t: sending_credit(t.credit_draft())),
    ("voiding a credit", 409, "period_locked",
     lambda t: voiding_credit(t.credit(), voided_at=INSIDE)),
    ("a write-off", 409, "period_locked",
     lambda t: writing_off(t.invoice(), write_off_at=INSIDE)),
)  # fmt: skip


def refusals(*rows: Refusal) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(
        ("asks", "status", "code"),
        [pytest.param(asks, status, code, id=says) for says, status, code, asks in rows],
    )


@pytest.fixture(scope="module")
def history(shop: Business, buyer: Record) -> CustomerHistory:
    return CustomerHistory(shop, buyer)


def refused(history: CustomerHistory, ledger: Ledger, request: Request) -> tuple[int, str]:
    """Send what will be refused, and see that it left nothing in the books."""
    method, path, body = request
    with ledger.untouched():
        answer = history.shop.api.request(method, path, json=body)
    assert answer.status_code >= 400, answer.text
    fault = answer.json()
    if fault["error_code"] == MOVE:
        assert fault["detail"].keys() == {"current_state", "allowed_next_states"}
    return answer.status_code, fault["error_code"]


class TestRefusals:
    @refusals(*INVOICES)
    def test_of_invoices(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        assert refused(history, ledger, asks(history)) == (status, code)

    @refusals(*PAYMENTS)
    def test_of_invoice_payments(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        method, path, body = asks(history)
        for each in ("PUT", "PATCH") if method in ("PUT", "PATCH") else (method,):
            assert refused(history, ledger, (each, path, body)) == (status, code)

    @refusals(*REFUNDS)
    def test_of_invoice_refunds(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        assert refused(history, ledger, asks(history)) == (status, code)

    @refusals(*CREDITS)
    def test_of_customer_credits(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        assert refused(history, ledger, asks(history)) == (status, code)

    @refusals(*WRITE_OFFS)
    def test_of_write_offs(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        assert refused(history, ledger, asks(history)) == (status, code)

    @refusals(*LOCK)
    def test_into_a_locked_period(
        self, history: CustomerHistory, ledger: Ledger, asks: Asks, status: int, code: str
    ) -> None:
        request = asks(history)
        with ledger.locked(LOCKED):
            assert refused(history, ledger, request) == (status, code)


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
        invoice, credit = other.invoice(), other.credit()
        sales = business.api.get("general-ledger/chart-of-accounts/4000/").json()["id"]
        named = {"type": "AccountId", "id": sales}
        for request in (
            history.invoicing(customer_id=other.buyer["id"]),
            history.invoicing(line(1, account_identifier=named)),
            history.paying(invoice),
            changing(history.payment(), allocations=[part(invoice, 1)]),
            refunding(invoice),
            refunding(other.payment()),
            history.crediting(share(invoice, 1)),
            history.crediting(source_invoice_id=invoice["id"]),
            history.crediting(customer_id=other.buyer["id"]),
            history.crediting_to(named),
            applying(history.credit(), share(invoice, 1)),
            writing_off(history.invoice(), destination_account=named),
        ):
            assert refused(history, ledger, request) == (422, "reference_not_found")
        assert business.api.get(f"customer-credits/{credit['id']}/").json() == credit
        assert other.read(invoice["id"]) == invoice
