"""The refusals that the contract shows are the server's own, in its words and with its facts."""

import re
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
import pytest

from tests.builders.sales import credited
from tests.contract.document import document
from tests.contract.valid_requests import Story
from tests.partner import Partner

# These take a moment that has passed, many logins, or a database that is away.
SHOWN_ELSEWHERE = {"TokenExpired", "TokenRateLimited", "ServiceUnavailable"}
TOKEN = "/v1/platform/oauth2/token/"
GRANT = {"grant_type": "client_credentials"}
ENTRIES, CHART = "general-ledger/journal-entries/", "general-ledger/chart-of-accounts/"
LINE = {"quantity": 1, "unit_price": 100}
BILL = {"vendor_id": "{vendor_id}", "vendor_bill_number": "GBI-2207", "line_items": [LINE]}
PAID = {"currency": "GBP", "payment_date": "2026-07-10", "payment_method": "cash"}
Provoked = Callable[[Story], httpx.Response]


def told(story: Story, said: Any) -> Any:
    """What is said, with a thing of the story for each name in braces."""
    if isinstance(said, dict):
        return {name: told(story, each) for name, each in said.items()}
    if isinstance(said, list):
        return [told(story, each) for each in said]
    if not isinstance(said, str):
        return said
    return re.sub(r"{(\w+)}", lambda found: story.thing(found[1]), said)


def post(path: str, **body: Any) -> Provoked:
    return lambda story: story.business.api.post(told(story, path), json=told(story, body))


def read(path: str) -> Provoked:
    return lambda story: story.business.api.get(told(story, path) + f"{uuid4()}/")


def by_partner(path: str, **more: Any) -> Provoked:
    return lambda story: story.partner.key.post(path, **more)


def by_token(method: str, path: str, **more: Any) -> Provoked:
    return lambda story: story.partner.api.request(method, path.format(uuid4()), **more)


def by_business(method: str, path: str, **more: Any) -> Provoked:
    return lambda story: story.business.api.request(method, told(story, path), **more)


def in_another(**change: Any) -> Provoked:
    """Invoice in a business of its own that was changed, or archived, before."""

    def provoked(story: Story) -> httpx.Response:
        business = story.partner.business()
        customer_id = business.customer()["id"]
        if change:
            story.partner.api.patch(business.base_url, json=change)
        else:
            story.partner.api.post(f"{business.base_url}/archive/")
        body = {"sent_at": "2026-06-28T09:00:00Z", "line_items": [LINE]}
        return business.api.post("invoices/", json={"customer_id": customer_id, **body})

    return provoked


def of_a_wrong_key(story: Story) -> httpx.Response:
    wrong = (str(story.partner.partner_id), "wrong")
    return story.partner.key.post(TOKEN, data=GRANT, auth=wrong)


def of_an_applied_credit(story: Story) -> httpx.Response:
    share = {"invoice_id": story.thing("invoice_id"), "amount": 2_000}
    customer = {"id": story.thing("customer_id")}
    credit = credited(story.business, customer, 2_000, allocations=[share])
    return story.business.api.post(f"customer-credits/{credit['id']}/void/", json={})


def of_a_second_bill(story: Story) -> httpx.Response:
    post("bills/", **BILL)(story)
    return post("bills/", **BILL)(story)


def of_a_blocked_vendor(story: Story) -> httpx.Response:
    vendor_id = story.business.vendor()["id"]
    story.business.api.patch(f"vendors/{vendor_id}/", json={"status": "BLOCKED"})
    return post("bills/", **{**BILL, "vendor_id": vendor_id})(story)


def of_sales_after_an_invoice(story: Story) -> httpx.Response:
    story.thing("unpaid_id")
    return by_business("DELETE", CHART + "4000/")(story)


def of_a_customer_who_owes(story: Story) -> httpx.Response:
    story.thing("unpaid_id")
    return story.business.api.post(told(story, "customers/{customer_id}/archive/"))


PROVOKED: Mapping[str, Provoked] = {
    "ValidationError": post(
        "invoices/", customer_id="{customer_id}", line_items=[{**LINE, "quantity": 0}]
    ),
    "PermissionDenied": by_token("GET", "/v1/platform/businesses/{}/customers/"),
    "BusinessNotFound": by_token("GET", "/v1/platform/businesses/{}/"),
    "BusinessIsArchived": in_another(),
    "PreconditionFailed": by_business(
        "PATCH", "customers/{customer_id}/", json={"notes": "x"}, headers={"If-Match": '"9"'}
    ),
    "UnsupportedMediaType": by_business("POST", "customers/", data={"company_name": "Blue"}),
    "UnsupportedFile": by_business("POST", "documents/", files={"file": ("a.gif", b"GIF89a")}),
    "ImmutableField": by_business(
        "PATCH", "invoices/payments/{payment_id}/", json={"currency": "EUR"}
    ),
    "UnsupportedGrantType": by_partner(TOKEN, data={"grant_type": "password"}),
    "InvalidClient": of_a_wrong_key,
    "AccessDenied": by_token("POST", "/v1/platform/{}/oauth2/token/"),
    "TokenMediaType": by_partner(TOKEN, content=b"x", headers={"Content-Type": "text/plain"}),
    "CustomerHasBalance": of_a_customer_who_owes,
    "InvalidStateTransition": post("invoices/{unpaid_id}/send/"),
    "PeriodLocked": in_another(lock_date="2026-06-30"),
    "SystemEntry": post(ENTRIES + "{journal_entry_id}/reverse/"),
    "EntryNotBalanced": post(
        ENTRIES,
        entry_date="2026-07-31",
        lines=[{"account": "6000", "debit_amount": 2}, {"account": "2400", "credit_amount": 1}],
    ),
    "AllocationExceedsOutstanding": post(
        "invoices/payments/",
        customer_id="{customer_id}",
        total_amount_cents=90_000,
        allocations=[{"invoice_id": "{unpaid_id}", "amount_cents": 90_000}],
        **PAID,
    ),
    "RefundExceedsRefundable": post(
        "invoices/refunds/", invoice_id="{invoice_id}", amount_cents=90_000
    ),
    "CreditApplied": of_an_applied_credit,
    "VendorNotActive": of_a_blocked_vendor,
    "DuplicateBillNumber": of_a_second_bill,
    "BillVendorMismatch": post(
        "bills/payments/",
        vendor_id="{quiet_vendor_id}",
        amount_cents=100,
        allocations=[{"bill_id": "{unpaid_bill_id}", "amount_cents": 100}],
        **PAID,
    ),
    "AccountHasBalance": of_sales_after_an_invoice,
    "CustomerNotFound": read("customers/"),
    "InvoiceNotFound": read("invoices/"),
    "PaymentNotFound": read("invoices/payments/"),
    "WriteOffNotFound": by_business("DELETE", "invoices/{invoice_id}/write-offs/{customer_id}/"),
    "InvoiceRefundNotFound": read("invoices/refunds/"),
    "InvoiceRefundPaymentNotFound": read("invoices/refunds/{refund_id}/payments/"),
    "CustomerCreditNotFound": read("customer-credits/"),
    "VendorNotFound": read("vendors/"),
    "BillNotFound": read("bills/"),
    "BillPaymentNotFound": read("bills/payments/"),
    "VendorCreditNotFound": read("vendor-credits/"),
    "VendorRefundNotFound": read("vendor-refunds/"),
    "VendorRefundPaymentNotFound": read("vendor-refunds/payments/"),
    "PayoutNotFound": read("payouts/"),
    "BankAccountNotFound": read("bank-accounts/"),
    "BankTransactionNotFound": read("bank-transactions/"),
    "DocumentNotFound": read("documents/"),
    "AccountNotFound": read(CHART),
    "JournalEntryNotFound": read(ENTRIES),
}


def refusals() -> dict[str, dict[str, Any]]:
    shown = document()["components"]["examples"]
    values = {name: each["value"] for name, each in shown.items()}
    return {
        name: value
        for name, value in values.items()
        if isinstance(value, dict) and "error_code" in value
    }


def facts(refusal: dict[str, Any]) -> tuple[Any, ...]:
    """What a refusal says, be the amounts and the days in it what they may."""
    words = {name: re.sub(r"\d+", "1", str(refusal[name])) for name in refusal.keys() - {"detail"}}
    return {**words, "request_id": ""}, set(refusal["detail"])


@pytest.fixture(scope="module")
def standing(acme: Partner) -> Story:
    """A story for refusals, which change nothing that another one looks at."""
    return Story.begin(acme)


class TestRefusalExample:
    def test_every_one_is_provoked(self) -> None:
        assert refusals().keys() == PROVOKED.keys() | SHOWN_ELSEWHERE

    @pytest.mark.parametrize("name", PROVOKED)
    def test_is_what_the_server_answers(self, name: str, standing: Story) -> None:
        assert facts(refusals()[name]) == facts(PROVOKED[name](standing).json())
