"""Each refusal in the contract is provoked: the server answers with the same texts."""

import re
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any
from uuid import uuid4

import httpx
import pytest

from access.principal import CallerKind
from tests.builders.bank import Bank, open_account
from tests.builders.exchange_rates import RATES, table_body
from tests.builders.tax_codes import code_body
from tests.builders.vendor_refunds import agreed, as_credit, of_bill, of_payment
from tests.contract.document import document
from tests.contract.forgeries import claims_of, signed
from tests.contract.mentions import known_tests
from tests.contract.refusals import is_as_shown, refusals
from tests.contract.responses import schemas
from tests.contract.valid_requests import Story
from tests.in_turn import in_turn
from tests.partner import Partner

# These need many requests, an error in the server, or a server of their own.
TROUBLE = "contract/test_transport.py::TestTrouble::test_with_a_"
PROOFS = "handlers/books/test_integrity.py::TestProofsAtOnce::test_"
SANDBOXES = "handlers/books/test_sandboxes.py::TestServer::test_"
WEBHOOKS = "handlers/platform/test_webhook_endpoints.py::Test"
SHOWN_ELSEWHERE = {
    "RequestsLimited": "handlers/books/test_limits.py::TestLimits"
    "::test_beyond_them_nothing_is_done_until_the_next_minute",
    "RateLimited": TROUBLE + "guesser_is_429_until_the_minute_is_over",
    "TokenRateLimited": TROUBLE + "guesser_is_429_until_the_minute_is_over",
    "ServiceUnavailable": TROUBLE + "database_that_is_away_is_503_until_it_is_back",
    "InternalError": TROUBLE + "fault_of_ours_is_500_and_tells_nothing_of_it",
    "RequestTimeout": "contract/test_transport.py::TestTransport"
    "::test_of_a_head_that_never_ends_is_408",
    "HttpsRequired": "handlers/books/test_access.py::TestPlainHttp"
    "::test_is_refused_where_nobody_asked_for_development",
    "IdempotencyInProgress": "concurrency/test_running_requests.py::TestKeyOfARunningRequest"
    "::test_a_key_at_work_is_409_and_then_the_first_answer",
    "ExportTooLarge": "handlers/trade/test_drafts_in_lists.py::TestExportJournalEntries"
    "::test_a_file_has_so_many_lines_and_no_more",
    "TaxCodeInUse": "handlers/books/test_change_tax_codes.py::TestUpdateTaxCodeInUse"
    "::test_its_treatment_and_its_rates_stay_in_these_words",
    "CreditExceedsSource": "handlers/trade/test_coded_documents.py::TestCreateCustomerCredit"
    "::test_a_line_of_the_source_is_given_back_as_it_was_taxed",
    "WebhookEndpointLimit": WEBHOOKS + "CreateWebhookEndpoint::test_a_partner_has_20_at_most",
    "WebhookSecretUnreadable": WEBHOOKS
    + "TestWebhookEndpoint::test_a_secret_that_nobody_can_read_is_rotated",
    "NoSandboxes": SANDBOXES + "has_none_until_it_is_prepared",
    "ClockFixed": SANDBOXES + "moves_no_clock_but_in_development",
    "ProofBusy": PROOFS + "a_second_one_is_refused_and_the_first_is_not_disturbed",
    "ProofTooLong": PROOFS + "books_that_take_too_long_are_told_and_leave_no_trace",
}
TOKEN = "/v1/platform/oauth2/token/"
GRANT = {"grant_type": "client_credentials"}
JSON, KEY = {"Content-Type": "application/json"}, {"Idempotency-Key": "order-5512"}
ENTRIES, CHART = "general-ledger/journal-entries/", "general-ledger/chart-of-accounts/"
LINE = {"quantity": 1, "unit_price": 100}
INVOICE = {"customer_id": "{customer_id}", "line_items": [LINE]}
BILL = {"vendor_id": "{vendor_id}", "vendor_bill_number": "GBI-2207", "line_items": [LINE]}
CREDIT = {"customer_id": "{customer_id}", "line_items": [{"amount": 100}]}
VENDOR_CREDIT = {"vendor_id": "{vendor_id}", "line_items": [{"amount": 100}]}
PAID = {"currency": "GBP", "payment_date": "2026-07-10", "payment_method": "cash"}
PAYMENT = {**PAID, "customer_id": "{customer_id}", "total_amount_cents": 100}
BY_CARD = {**PAYMENT, "payment_method": "credit_card", "payment_processor": "stripe"}
BILL_PAYMENT = {**PAID, "vendor_id": "{vendor_id}", "amount_cents": 100}
OWED = {"account": "2400", "credit_amount": 1}
PAYOUT = {"processor": "stripe", "paid_out_amount_cents": 100, "currency": "GBP"}
USD: Any = {"currency": "USD", "exchange_rate": 0.8}
REFUND = {
    "vendor_id": "{vendor_id}",
    "total_amount_cents": 500,
    "currency": "GBP",
    "refund_date": "2026-07-14",
}
ASSET = {"account_type": "asset", "account_subtype": "current_assets"}
LEVELS = ["1500", *(f"1500.{level}" for level in range(1, 21))]
Provoked = Callable[[Story], httpx.Response]


def with_ids(story: Story, value: Any) -> Any:
    """Return a value with an ID of the story for each name in braces."""
    if isinstance(value, dict):
        return {name: with_ids(story, each) for name, each in value.items()}
    if isinstance(value, list):
        return [with_ids(story, each) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r"{(\w+)}", lambda found: story.thing(found[1]), value)


def by_business(method: str, path: str, **more: Any) -> Provoked:
    return lambda story: story.business.api.request(
        method, with_ids(story, path), **with_ids(story, more)
    )


def post(path: str, **body: Any) -> Provoked:
    return by_business("POST", path, json=body)


def archive(path: str) -> Provoked:
    return by_business("POST", f"{path}archive/")


def patch(path: str, **body: Any) -> Provoked:
    return by_business("PATCH", path, json=body)


def get(path: str) -> Provoked:
    return by_business("GET", path)


def delete(path: str) -> Provoked:
    return by_business("DELETE", path)


def invoice(**facts: Any) -> Provoked:
    return post("invoices/", **{**INVOICE, **facts})


def pay(amount: int, of: str = "{unpaid_id}", **facts: Any) -> Provoked:
    """Settle part of an invoice with a payment of 1.00."""
    part = {"invoice_id": of, "amount_cents": amount}
    return post("invoices/payments/", **{**PAYMENT, "allocations": [part], **facts})


def pay_bill(of: str, **facts: Any) -> Provoked:
    part = {"bill_id": of, "amount_cents": 100}
    return post("bills/payments/", **{**BILL_PAYMENT, "allocations": [part], **facts})


def pay_out(payment: str, **facts: Any) -> Provoked:
    return post("payouts/", **{**PAYOUT, "payment_ids": [payment], **facts})


def refund(*allocations: Any, **facts: Any) -> Provoked:
    """Create a vendor refund."""
    body = {**REFUND, "allocations": [*allocations], **facts}
    return post("vendor-refunds/payments/", **body)


def account(code: str, **facts: Any) -> Provoked:
    return post(CHART, code=code, name="Savings account", **ASSET, **facts)


def entry(debit: Any, credit: Any) -> Provoked:
    return post(ENTRIES, entry_date="2026-07-31", lines=[debit, credit])


def read(path: str) -> Provoked:
    """Read an unknown ID."""
    return lambda story: story.business.api.get(with_ids(story, path) + f"{uuid4()}/")


def of_no_delivery(story: Story) -> httpx.Response:
    path = f"/v1/platform/webhook-endpoints/{story.thing('webhook_endpoint_id')}/deliveries/"
    return story.partner.api.post(f"{path}{uuid4()}/retry/")


def to_a_private_host(story: Story) -> httpx.Response:
    body = {"url": "https://10.0.0.1/hooks"}
    return story.partner.api.post("/v1/platform/webhook-endpoints/", json=body)


def by_partner(path: str, **more: Any) -> Provoked:
    return lambda story: story.partner.key.post(path, **more)


def by_token(method: str, path: str, **more: Any) -> Provoked:
    return lambda story: story.partner.api.request(method, path.format(uuid4()), **more)


def after(*requests: Provoked) -> Provoked:
    """Send requests in turn; `{made}` is the record that the first one creates."""

    def provoked(story: Story) -> httpx.Response:
        made = requests[0](story).json()
        story.ids["made"] = made.get("payment", made).get("id")
        return [each(story) for each in requests[1:]][-1]

    return provoked


def twice(request: Provoked) -> Provoked:
    return after(request, request)


def old_bank_account(story: Story) -> httpx.Response:
    """Open a bank account, and archive its account in the chart."""
    account("1131")(story)
    opened = post("bank-accounts/", display_name="Old account", account="1131")(story)
    delete(f"{CHART}1131/")(story)
    return opened


def by_a_line(move: str, **body: Any) -> Provoked:
    """Send an action on a line of another bank account, whose account is `{code}`."""

    def provoked(story: Story) -> httpx.Response:
        bank = Bank(story.business, open_account(story.business))
        story.ids["code"] = bank.code
        return post(f"bank-transactions/{bank.line(100)['id']}/{move}/", **body)(story)

    return provoked


def marked(**facts: str) -> Provoked:
    """Post an entry whose first line is for a tax return."""
    return entry({"account": "2200", "debit_amount": 1, **facts}, OWED)


def returned(*periods: tuple[str, str, str]) -> Provoked:
    """Create and file a return for each period, with its scheme."""

    def provoked(story: Story) -> httpx.Response:
        for start, end, scheme in periods:
            body = {"start_date": start, "end_date": end, "scheme": scheme}
            draft = story.business.made("tax-returns/", body)
            answer = story.business.api.post(f"tax-returns/{draft['id']}/file/")
        return answer

    return provoked


def in_another(**change: Any) -> Provoked:
    """Invoice in another business that was changed, or else archived."""

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


def of_an_old_token(story: Story) -> httpx.Response:
    claims = claims_of(str(story.partner.partner_id), age=3_600)
    headers = {"Authorization": f"Bearer {signed(claims, CallerKind.PARTNER_TOKEN)}"}
    return by_token("GET", "/v1/platform/businesses/", headers=headers)(story)


def by_a_read_token(story: Story) -> httpx.Response:
    path = f"/v1/platform/{story.business.id}/oauth2/token/"
    token = story.partner.api.post(path, data={"access": "read"}).json()["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    return by_business("POST", "customers/", json={}, headers=headers)(story)


def of_a_credit_of_a_refund(story: Story) -> httpx.Response:
    refund = agreed(story.business, {"id": story.thing("vendor_id")}, 500, as_credit(500))
    return post(f"vendor-credits/{refund['allocations'][0]['vendor_credit_id']}/void/")(story)


def in_a_closed_statement(story: Story) -> httpx.Response:
    """Undo the categorization of a line in a closed statement."""
    bank = Bank(story.business, open_account(story.business))
    line = bank.line(100, date="2026-07-15")
    bank.categorize(line, "4500")
    bank.closed("2026-07-16", 100)
    return bank.ask(line, "uncategorize")


def of_two_accounts(story: Story) -> httpx.Response:
    """Import a file with two accounts to a bank account that has no number."""
    names = ("20201511111111", "20201522222222")
    lines = "".join(f"2026-07-15,1.00,{name}\n" for name in names)
    mapping = '{"date": "Date", "amount": "Amount", "account": "Account"}'
    return story.business.api.post(
        "bank-transactions/",
        data={"bank_account_id": open_account(story.business)["id"], "mapping": mapping},
        files={"file": ("statement.csv", f"Date,Amount,Account\n{lines}".encode())},
    )


def opening(number: str, day: str, **facts: Any) -> Provoked:
    """Open the books on a day with an invoice of this number."""
    owed = {
        "customer_id": "{customer_id}",
        "invoice_number": number,
        "issue_date": "2016-11-03",
        "outstanding_amount_cents": 12_000,
    }
    return post("opening-balances/", date=day, **{"invoices": [owed], **facts})


def of_an_opened_invoice(number: str, day: str, *then: Provoked) -> Provoked:
    """Open the books, then send requests about the opening, `{made}`, or its `{opened}` invoice."""

    def provoked(story: Story) -> httpx.Response:
        made = opening(number, day)(story).json()
        story.ids["opened"] = made["invoices"][0]["id"]
        story.ids["made"] = made["id"]
        return [each(story) for each in then][-1]

    return provoked


def to_the_past(story: Story) -> httpx.Response:
    sandbox = f"/v1/platform/sandboxes/{story.thing('sandbox_id')}/"
    for ahead in (60, 0):
        answer = story.partner.api.patch(sandbox, json={"clock_seconds_ahead": ahead})
    return answer


def of_a_day_to_come(story: Story) -> httpx.Response:
    business = f"/v1/platform/businesses/{story.business.id}/"
    return story.partner.api.patch(business, json={"lock_date": "2199-12-31"})


PROVOKED: Mapping[str, Provoked] = {
    "ValidationError": invoice(line_items=[{**LINE, "quantity": 0}]),
    "TokenExpired": of_an_old_token,
    "ReadTokenDenied": by_a_read_token,
    "PermissionDenied": by_token("GET", "/v1/platform/businesses/{}/customers/"),
    "BusinessNotFound": by_token("GET", "/v1/platform/businesses/{}/"),
    "SandboxNotFound": by_token("GET", "/v1/platform/sandboxes/{}/"),
    "WebhookEndpointNotFound": by_token("GET", "/v1/platform/webhook-endpoints/{}/"),
    "WebhookDeliveryNotFound": of_no_delivery,
    "WebhookUrlRefused": to_a_private_host,
    "ClockMovedBack": to_the_past,
    "ExchangeRateInvalid": by_business(
        "PUT",
        RATES,
        json=table_body("2026-07-31", rates={"USD": 1.234567890123}),
    ),
    "ExchangeRateMissing": get(f"{RATES}convert/?currency=SGD&date=2026-07-31"),
    "LockDateInFuture": of_a_day_to_come,
    "BusinessIsArchived": in_another(),
    "PreconditionFailed": by_business(
        "PATCH", "customers/{customer_id}/", json={"notes": "x"}, headers={"If-Match": '"9"'}
    ),
    "UnsupportedMediaType": by_business("POST", "customers/", data={"company_name": "Blue"}),
    "UnsupportedFile": by_business("POST", "documents/", files={"file": ("a.gif", b"GIF89a")}),
    "ImmutableField": patch("invoices/payments/{payment_id}/", currency="EUR"),
    "UnsupportedGrantType": by_partner(TOKEN, data={"grant_type": "password"}),
    "InvalidClient": of_a_wrong_key,
    "AccessDenied": by_token("POST", "/v1/platform/{}/oauth2/token/"),
    "TokenMediaType": by_partner(TOKEN, content=b"x", headers={"Content-Type": "text/plain"}),
    "CustomerHasBalance": after(get("invoices/{unpaid_id}/"), archive("customers/{customer_id}/")),
    "InvalidStateTransition": post("invoices/{unpaid_id}/send/"),
    "PeriodLocked": in_another(lock_date="2026-06-30"),
    "SystemEntry": post(ENTRIES + "{journal_entry_id}/reverse/"),
    "EntryNotBalanced": entry({"account": "6000", "debit_amount": 2}, OWED),
    "AllocationExceedsOutstanding": pay(90_000, total_amount_cents=90_000),
    "LinesDoNotAddUp": post(
        "invoices/refunds/",
        invoice_id="{invoice_id}",
        amount_cents=6_499,
        lines=[{"line_id": str(uuid4()), "amount_cents": 6_500}],
    ),
    "RefundExceedsRefundable": post(
        "invoices/refunds/", invoice_id="{invoice_id}", amount_cents=90_000
    ),
    "CreditApplied": after(
        post(
            "customer-credits/",
            **CREDIT,
            sent_at="2026-07-14T09:00:00Z",
            allocations=[{"invoice_id": "{invoice_id}", "amount": 100}],
        ),
        post("customer-credits/{made}/void/"),
    ),
    "VendorNotActive": after(
        post("vendors/", company_name="Green Bean Imports"),
        patch("vendors/{made}/", status="BLOCKED"),
        post("bills/", **{**BILL, "vendor_id": "{made}"}),
    ),
    "DuplicateBillNumber": twice(post("bills/", **BILL)),
    "BillVendorMismatch": pay_bill("{unpaid_bill_id}", vendor_id="{quiet_vendor_id}"),
    "AccountHasBalance": after(get("invoices/{unpaid_id}/"), delete(CHART + "4000/")),
    "CustomerNotFound": read("customers/"),
    "InvoiceNotFound": read("invoices/"),
    "PaymentNotFound": read("invoices/payments/"),
    "WriteOffNotFound": delete("invoices/{invoice_id}/write-offs/{customer_id}/"),
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
    "BankRuleNotFound": read("bank-rules/"),
    "BankReconciliationNotFound": read("bank-accounts/{bank_account_id}/reconciliations/"),
    "BankReconciled": in_a_closed_statement,
    "SplitsMismatch": by_a_line("categorize", splits=[{"account": "4500", "amount_cents": 1}]),
    "StatementAccountUnclear": of_two_accounts,
    "StatementDateInFuture": post(
        "bank-accounts/{bank_account_id}/reconciliations/",
        statement_date="2199-12-31",
        closing_balance_cents=0,
    ),
    "DocumentNotFound": read("documents/"),
    "AccountNotFound": read(CHART),
    "JournalEntryNotFound": read(ENTRIES),
    "RevaluationNotFound": read("revaluations/"),
    "OpeningBalanceNotFound": read("opening-balances/"),
    "DuplicateOpeningBalance": after(
        opening("old-1", "2016-12-31"), opening("old-6", "2016-12-31")
    ),
    "InOpeningBalance": of_an_opened_invoice(
        "old-2", "2017-12-31", post("invoices/{opened}/void/")
    ),
    "OpeningBalanceSettled": of_an_opened_invoice(
        "old-3",
        "2018-12-31",
        post("invoices/{opened}/write-offs/", amount_cents=10),
        post("opening-balances/{made}/reverse/"),
    ),
    "BatchRejected": post(
        "batch/",
        mode="atomic",
        items=[
            {"key": "a", "operation": "create_customer", "body": {"company_name": "Blue Door"}},
            {
                "key": "b",
                "operation": "create_invoice",
                "body": {"customer_id": "{unpaid_id}", "line_items": [LINE]},
            },
        ],
    ),
    "OpeningDoesNotTie": opening(
        "old-4", "2019-12-31", accounts=[{"account": "1200", "debit_amount": 13_000}]
    ),
    "DatedAfterOpening": opening("old-5", "2015-12-31"),
    "MalformedJson": by_business("POST", "customers/", content=b"{name: 1}", headers=JSON),
    "BadRequest": by_business("GET", "customers/", json={"search": "Blue"}),
    "AuthenticationRequired": by_partner("/v1/platform/businesses/", auth=None),
    "InvalidToken": by_token(
        "GET", "/v1/platform/businesses/", headers={"Authorization": "Bearer abc"}
    ),
    "RouteNotFound": get("invoice/"),
    "MethodNotAllowed": delete("customers/"),
    "PayloadTooLarge": by_business("POST", "customers/", content=b" " * 2**21, headers=JSON),
    "UriTooLong": by_business("GET", "customers/", params={"search": "x" * 9_000}),
    "HeadersTooLarge": by_business("GET", "customers/", headers={"X-More": "x" * 17_000}),
    "DuplicateExternalId": after(
        post("customers/", company_name="Blue Door Bakery", external_id="cust-77"),
        patch("customers/{customer_id}/", external_id="cust-77"),
    ),
    "CustomerIsArchived": after(
        post("customers/", company_name="Blue Door Bakery"),
        archive("customers/{made}/"),
        invoice(customer_id="{made}"),
    ),
    "DuplicateInvoiceNumber": twice(invoice(invoice_number="INV-000900")),
    "InvoiceHasAllocations": post("invoices/{invoice_id}/void/"),
    "InvoiceNotOpen": pay(100, "{draft_id}"),
    "PaymentNotLive": pay(100, status="failed"),
    "DuplicateCreditNoteNumber": twice(
        post("customer-credits/", **CREDIT, credit_note_number="CN-000900")
    ),
    "CreditNotSent": post(
        "customer-credits/", **CREDIT, allocations=[{"invoice_id": "{unpaid_id}", "amount": 100}]
    ),
    "VendorHasBalance": after(get("bills/{unpaid_bill_id}/"), archive("vendors/{vendor_id}/")),
    "BillHasAllocations": post("bills/{bill_id}/void/"),
    "BillNotOpen": pay_bill("{draft_bill_id}"),
    "DuplicateVendorCreditNumber": twice(
        post("vendor-credits/", **VENDOR_CREDIT, vendor_credit_number="VC-000900")
    ),
    "CreditOfRefund": of_a_credit_of_a_refund,
    "PaymentNotCompleted": refund(of_payment({"id": "{bill_payment_id}"}, 500)),
    "VendorRefundPaid": after(
        refund(as_credit(200)),
        patch("vendor-refunds/payments/{made}/", status="completed"),
        patch("vendor-refunds/payments/{made}/", allocations=[]),
    ),
    "PayoutReconciled": after(
        post(
            "bank-transactions/{bank_transaction_id}/match/",
            target_type="payout",
            target_id="{payout_id}",
        ),
        delete("payouts/{payout_id}/"),
    ),
    "AlreadyInPayout": after(
        post("invoices/payments/", **BY_CARD), pay_out("{made}"), pay_out("{made}")
    ),
    "ItemNotCompleted": pay_out("{payment_id}"),
    "InPayout": after(
        post("invoices/payments/", **BY_CARD),
        pay_out("{made}"),
        patch("invoices/payments/{made}/", total_amount_cents=200),
    ),
    "BankTransactionUsedUp": post(
        "bank-transactions/{categorized_line_id}/categorize/", account="6300"
    ),
    "DuplicateAccountCode": account("1100"),
    "AccountHasChildren": after(
        account("1110"),
        post(CHART + "{made}/children/", code="1110.1", name="Notice account"),
        delete(CHART + "{made}/"),
    ),
    "AccountTaken": twice(post("bank-accounts/", display_name="Current account", account="1100")),
    "AccountIsArchived": after(
        account("1120"),
        delete(CHART + "{made}/"),
        post(
            "invoices/{unpaid_id}/write-offs/",
            destination_account={"type": "AccountId", "id": "{made}"},
        ),
    ),
    "AlreadyReversed": twice(post(ENTRIES + "{manual_entry_id}/reverse/")),
    "IdempotencyKeyReused": after(
        *(
            by_business("POST", "invoices/", headers=KEY, json={**INVOICE, "external_id": order})
            for order in ("order-5512", "order-5513")
        )
    ),
    "ControlAccount": entry({"account": "1200", "debit_amount": 1}, OWED),
    "NegativeAmount": invoice(line_items=[{**LINE, "discount_amount": 120}]),
    "AmountTooLarge": invoice(line_items=[{"quantity": 1_000, "unit_price": 10**13}]),
    "AllocationExceedsTotal": pay(120),
    "DateOutOfOrder": patch(
        "invoices/payments/{unapplied_id}/", status="failed", status_date="2000-01-01"
    ),
    "InvoiceCustomerMismatch": pay(100, customer_id="{quiet_id}"),
    "TotalBelowAllocated": patch("invoices/payments/{payment_id}/", total_amount_cents=500),
    "FeeExceedsAmount": refund(of_bill({"id": "{bill_id}"}, 500), processing_fee_cents=501),
    "ItemNotInClearing": pay_out("{unapplied_id}"),
    "TaxCodeNotFound": read("tax-codes/"),
    "TaxReturnNotFound": read("tax-returns/"),
    "TaxPeriodNotOver": returned(("2199-12-01", "2199-12-31", "accrual")),
    "ReturnOverlaps": returned(*[("2020-01-01", "2020-03-31", "accrual")] * 2),
    "TaxSchemeChanged": returned(
        ("2020-07-01", "2020-09-30", "accrual"), ("2020-04-01", "2020-06-30", "cash")
    ),
    "AlreadySuperseded": twice(post("tax-returns/{filed_return_id}/supersede/", reason="Again")),
    "DuplicateTaxCode": twice(post("tax-codes/", **code_body("V20"))),
    "TaxCodeIsArchived": after(
        post("tax-codes/", **code_body("V21")),
        delete("tax-codes/{made}/"),
        patch("tax-codes/{made}/", is_default=True),
    ),
    "TaxCodeMismatch": marked(tax_code="S20", tax_part="withheld"),
    "TaxRateMissing": after(
        post("tax-codes/", **code_body("V22", rates=[{"rate": 22, "valid_from": "2026-08-01"}])),
        marked(tax_code="V22"),
    ),
    "ProcessorMismatch": pay_out("{card_payment_id}", processor="paypal"),
    "BankAccountMismatch": after(
        get("bank-transactions/{linked_line_id}/"),
        by_a_line("match", target_type="invoice_payment", target_id="{bank_payment_id}"),
    ),
    "BankAccountInactive": after(old_bank_account, pay(100, bank_account_id="{made}")),
    "SameAccount": by_a_line("categorize", account="{code}"),
    "LinkExceedsRemaining": by_a_line(
        "match", target_type="invoice_payment", target_id="{unapplied_id}", amount_cents=101
    ),
    "LinkDirectionMismatch": by_a_line(
        "match", target_type="bill_payment", target_id="{unapplied_bill_payment_id}"
    ),
    "CurrencyMismatch": account("1132", currency="EUR"),
    "ExchangeRateMismatch": pay(100, **USD, base_amount_cents=8_100, total_amount_cents=10_000),
    "ExchangeRateNotNeeded": invoice(exchange_rate=2),
    "BankAccountCurrencyMismatch": after(
        post("bank-accounts/", display_name="Dollars", currency="USD"),
        pay(1, currency="SEK", exchange_rate=0.08, bank_account_id="{made}", allocations=[]),
    ),
    "CurrencyAmountRequired": entry(
        {"account": "1100", "debit_amount": 80, "currency": "USD"}, {**OWED, "credit_amount": 80}
    ),
    "CurrencyAmountInvalid": entry(
        {"account": "1100", "debit_amount": 80, "currency": "USD", "currency_amount": -100},
        {**OWED, "credit_amount": 80},
    ),
    "RefundNotAllocated": refund(**USD),
    "PaymentHasRefunds": after(
        pay(1, **USD, allocations=[]),
        post("invoices/refunds/", payment_id="{made}", amount_cents=40),
        patch("invoices/payments/{made}/", exchange_rate=0.7),
    ),
    "LinkedInBase": after(
        pay(1, **USD, allocations=[], payment_method="bank_transfer"),
        by_a_line("match", target_type="invoice_payment", target_id="{made}"),
        patch("invoices/payments/{made}/", exchange_rate=0.7),
    ),
    "AccountInUse": after(
        account("1133"),
        post(
            ENTRIES,
            entry_date="2026-07-31",
            lines=[{"account": "1133", "debit_amount": 1}, OWED],
            post=True,
        ),
        post("bank-accounts/", display_name="Dollars", currency="USD", account="1133"),
    ),
    "ReferenceNotFound": invoice(customer_id="{vendor_id}"),
    "ReferenceMismatch": invoice(customer_external_id="cust-78"),
    "AccountTypeMismatch": account("1130", parent_id="2000"),
    "AccountTooDeep": after(
        *(
            post(f"{CHART}{above}/children/", code=code, name="Deposits")
            for above, code in pairwise(LEVELS)
        )
    ),
}


@pytest.fixture(scope="module")
def standing(acme: Partner) -> Story:
    """A story for refusals; no refusal changes records that another one needs."""
    return Story.begin(acme)


class TestRefusalExample:
    def test_every_code_has_an_example(self) -> None:
        codes = document()["components"]["schemas"]["ErrorCode"]["enum"]
        assert {each["error_code"] for each in refusals().values()} == set(codes)

    def test_every_example_is_provoked(self) -> None:
        assert refusals().keys() == PROVOKED.keys() | SHOWN_ELSEWHERE.keys()

    @in_turn("name", PROVOKED)
    def test_is_what_the_server_answers(self, name: str, standing: Story) -> None:
        assert is_as_shown(name, PROVOKED[name](standing))

    @in_turn("name", SHOWN_ELSEWHERE)
    def test_is_what_a_test_elsewhere_is_answered(self, name: str) -> None:
        assert name in known_tests()[SHOWN_ELSEWHERE[name]].said

    @in_turn("name", refusals())
    def test_is_as_its_code_is_explained(self, name: str) -> None:
        refusal = refusals()[name]
        explained = document()["components"]["x-error-codes"][refusal["error_code"]]
        assert refusal["detail"].keys() <= explained.get("detail", {}).keys()
        assert refusal["doc_url"] == f"/docs/errors/{refusal['error_code']}/"
        kind = "Token" * ("error_description" in refusal) or "Access" * ("error" in refusal)
        schema = document()["components"]["schemas"][f"{kind}ErrorBody"]
        assert [*schemas().validator(schema).iter_errors(refusal)] == []
