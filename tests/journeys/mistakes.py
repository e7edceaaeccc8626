"""Mistakes of integrators, and the messages that explain the field, the reason and the remedy.

Messages that the contract has as examples are compared in `tests/contract`.
"""

from dataclasses import dataclass
from typing import Any, Final

TOKEN: Final = "/v1/platform/oauth2/token/"
NOBODY: Final = "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
INVOICES: Final = "invoices/"
PAYMENTS: Final = "invoices/payments/"
CUSTOMERS: Final = "customers/"
JSON: Final = {"content-type": "application/json"}

LINE: Final = {"description": "Beans", "quantity": 1, "unit_price": 1000}
INVOICE: Final = {"customer_id": "{customer}", "line_items": [LINE]}
ENTRIES: Final = "general-ledger/journal-entries/"
OTHERS: Final = {"type": "AccountCode", "code": "9999"}
DEBIT: Final = {"account": "1100", "debit_amount": 5}
ENTRY: Final = {
    "entry_date": "2026-07-31",
    "lines": [DEBIT, {"account": "9999", "credit_amount": 5}],
}
PAYMENT: Final = {
    "customer_id": "{customer}",
    "total_amount_cents": 1000,
    "currency": "GBP",
    "payment_date": "2026-07-02",
    "payment_method": "bank_transfer",
}


@dataclass(frozen=True, slots=True)
class Mistake:
    """A wrong request, with the status, the code and a part of the message of its answer.

    Texts in braces are replaced: `customer` owes 600 of the sent `invoice`; `key` is the API key,
    and `reader` a token that only reads. A path from the root of the server begins with a slash.
    """

    name: str
    method: str
    path: str
    status: int
    code: str
    message: str
    json: Any = None
    content: bytes | None = None
    headers: dict[str, str] | None = None


def post(name: str, path: str, status: int, code: str, message: str, /, **json: Any) -> Mistake:
    return Mistake(name, "POST", path, status, code, message, json=json)


def wrong(name: str, path: str, message: str, /, **json: Any) -> Mistake:
    return post(name, path, 400, "validation_error", message, **json)


def unknown(name: str, path: str, message: str, /, **json: Any) -> Mistake:
    return post(name, path, 422, "reference_not_found", message, **json)


def get(name: str, path: str, status: int, code: str, message: str) -> Mistake:
    return Mistake(name, "GET", path, status, code, message)


def invoice(name: str, message: str, *, without: str = "", **changes: Any) -> Mistake:
    body = {key: value for key, value in {**INVOICE, **changes}.items() if key != without}
    return wrong(name, INVOICES, message, **body)


def payment(name: str, message: str, **changes: Any) -> Mistake:
    return wrong(name, PAYMENTS, message, **{**PAYMENT, **changes})


def filtered(name: str, query: str, message: str) -> Mistake:
    return get(name, f"{INVOICES}?{query}", 400, "validation_error", message)


def settling(name: str, status: int, code: str, message: str, invoice: str, cents: int) -> Mistake:
    part = {"invoice_id": invoice, "amount_cents": cents}
    return post(name, PAYMENTS, status, code, message, **{**PAYMENT, "allocations": [part]})


def post_content(name: str, code: str, message: str, content: bytes, **headers: str) -> Mistake:
    status = 415 if code == "unsupported_media_type" else 400
    return Mistake(name, "POST", CUSTOMERS, status, code, message, content=content, headers=headers)


def credentials(name: str, code: str, message: str, authorization: str) -> Mistake:
    headers = {"authorization": authorization}
    return Mistake(name, "GET", INVOICES, 401, code, message, headers=headers)


MISTAKES: Final = (
    # Fields.
    invoice(
        "the field of another API",
        "due_date is not a known field; did you mean due_at?",
        due_date="2026-08-01",
    ),
    invoice(
        "a field in camel case",
        "sentAt is not a known field; did you mean sent_at?",
        sentAt="2026-07-01T09:00:00Z",
    ),
    invoice(
        "a field of a line",
        "line_items.0.price is not a known field; did you mean unit_price?",
        line_items=[{**LINE, "price": 5}],
    ),
    payment(
        "a shorter name",
        "amount_cents is not a known field; did you mean total_amount_cents?",
        amount_cents=1000,
    ),
    invoice("nothing to invoice", "line_items is required.", without="line_items"),
    invoice("no line", "line_items must not be empty.", line_items=[]),
    invoice(
        "no customer", "customer_id or customer_external_id is required.", without="customer_id"
    ),
    invoice("two faults", "1 more field is wrong.", due_date="2026-08-01", memo=5),
    wrong("nobody", CUSTOMERS, "individual_name or company_name is required."),
    wrong(
        "an address that is none",
        CUSTOMERS,
        "email must be an email address.",
        company_name="Bakery",
        email="bakery",
    ),
    # Amounts.
    invoice(
        "pounds with pence",
        "line_items.0.unit_price must be an integer in minor units: 10.50 is 1050.",
        line_items=[{**LINE, "unit_price": 10.5}],
    ),
    payment(
        "an amount as text",
        "total_amount_cents must be an integer in minor units: 10.50 is 1050.",
        total_amount_cents="10.50",
    ),
    payment(
        "an amount below zero", "total_amount_cents must be at least 1.", total_amount_cents=-5
    ),
    invoice(
        "nothing of it",
        "line_items.0.quantity must be at least 0.000001.",
        line_items=[{**LINE, "quantity": 0}],
    ),
    filtered(
        "a filter in pounds",
        "min_amount=10.50",
        "min_amount must be an integer in minor units: 10.50 is 1050.",
    ),
    # Days, moments, ids and choices.
    payment(
        "a day as people write it",
        "payment_date must be a date between 1900 and 2199, such as 2025-01-31.",
        payment_date="01/07/2026",
    ),
    invoice(
        "a day for a moment",
        "sent_at must be a date and time with an offset, such as 2025-01-31T12:00:00Z.",
        sent_at="2026-07-01",
    ),
    payment(
        "a method that is not listed",
        "payment_method must be one of: bank_transfer,",
        payment_method="card",
    ),
    invoice("an id of another system", "customer_id must be a UUID, such as", customer_id="cus_17"),
    get("a number for an id", "invoices/17/", 400, "validation_error", "invoice_id must be a UUID"),
    # Lists.
    filtered(
        "a filter of another name",
        "state=sent",
        "state is not a known parameter; did you mean status?",
    ),
    filtered(
        "a slip of the pen",
        "page_sise=50",
        "page_sise is not a known parameter; did you mean page_size?",
    ),
    filtered("a status that is none", "status=open", "status.0 must be one of: draft, sent,"),
    filtered("page nought", "page=0", "page must be at least 1."),
    filtered("a page that is too large", "page_size=500", "page_size must be at most 100."),
    filtered("a sort that is none", "sort=date", "sort must be one of: sent_at,"),
    filtered("a cursor made by hand", "cursor=abc", "cursor is not a cursor of this list"),
    filtered("a filter twice", "page=1&page=2", "page is given more than once."),
    # Addresses and bodies.
    get("an address with a slip", "custommers/", 404, "route_not_found", "did you mean customers?"),
    post_content(
        "another content type",
        "unsupported_media_type",
        "must be sent as application/json.",
        b"a=1",
        **{"content-type": "text/plain"},
    ),
    post_content(
        "a key twice",
        "malformed_json",
        "has the same key twice",
        b'{"email": "a@b.co", "email": "c@d.co"}',
        **JSON,
    ),
    post_content("no body", "validation_error", "body is required.", b"", **JSON),
    post_content(
        "a list for an object", "validation_error", "body must be an object.", b"[1]", **JSON
    ),
    # Credentials.
    credentials(
        "an API key as Bearer", "invalid_token", "This is an API key, not a token", "Bearer {key}"
    ),
    Mistake(
        "a business token for a partner's work",
        "PATCH",
        "",
        403,
        "permission_denied",
        "requires a partner's API key or a partner token, but",
        json={"lock_date": "2026-06-30"},
    ),
    # Rules.
    settling(
        "more than is owed",
        422,
        "allocation_exceeds_outstanding",
        "allocations.0: At most 600 of the invoice can be settled, in minor units.",
        "{invoice}",
        700,
    ),
    settling(
        "an invoice that is not there", 422, "reference_not_found", "names an invoice", NOBODY, 1
    ),
    Mistake(
        "deleting what is sent",
        "DELETE",
        "invoices/{invoice}/",
        409,
        "invalid_state_transition",
        "Only a draft can be deleted.",
    ),
    post(
        "giving back more than came",
        "invoices/refunds/",
        422,
        "refund_exceeds_refundable",
        "At most 400 can be refunded.",
        invoice_id="{invoice}",
        amount_cents=5000,
    ),
    # The other side, banks and the ledger.
    wrong(
        "a bill of nobody",
        "bills/",
        "vendor_id or vendor_external_id is required.",
        line_items=[LINE],
    ),
    post(
        "a bill of a customer",
        "bills/",
        422,
        "reference_not_found",
        "names a vendor that does not exist in this business",
        vendor_id="{customer}",
        bill_date="2026-07-01",
        line_items=[LINE],
    ),
    wrong(
        "a vendor without a name",
        "vendors/",
        "name is not a known field; did you mean",
        name="Mill",
        vendor_type="company",
    ),
    wrong(
        "a bank account without a name",
        "bank-accounts/",
        "name is not a known field; did you mean display_name?",
        name="Current",
    ),
    wrong(
        "the number of a bank account",
        "bank-accounts/",
        "iban must be an IBAN.",
        display_name="Current",
        iban="GB00",
    ),
    invoice(
        "an account by another word",
        "account_identifier.type must be one of: AccountId,",
        line_items=[{**LINE, "account_identifier": {"type": "code", "value": "4000"}}],
    ),
    # Money once more.
    invoice(
        "a rate with its sign",
        "tax_rate must be from 0 to 100 with up to four digits after",
        line_items=[{**LINE, "tax_rate": "20%"}],
    ),
    invoice(
        "a rate above all",
        "line_items.0.tax_rate must be at most 100.",
        line_items=[{**LINE, "tax_rate": 120}],
    ),
    invoice(
        "an amount of no money",
        "unit_price must be at most 99999999999999.",
        line_items=[{**LINE, "unit_price": 10**15}],
    ),
    payment(
        "an invoice twice",
        "allocations.1.invoice_id repeats the invoice of an earlier item.",
        allocations=[{"invoice_id": "{invoice}", "amount_cents": 1}] * 2,
    ),
    wrong(
        "a refund of nothing named",
        "invoices/refunds/",
        "exactly one of invoice_id, payment_id and credit_id, or of their external ids,"
        " is required.",
        amount_cents=5,
    ),
    # Texts and headers.
    wrong(
        "a name that is too long",
        CUSTOMERS,
        "company_name must have at most 255 characters.",
        company_name="x" * 300,
    ),
    wrong(
        "a country in full",
        CUSTOMERS,
        "country must have at most 2 characters.",
        company_name="x",
        country="Spain",
    ),
    wrong("no name", CUSTOMERS, "individual_name or company_name is required.", company_name=None),
    Mistake(
        "a version for an ETag",
        "PATCH",
        "customers/{customer}/",
        400,
        "validation_error",
        "If-Match must be one ETag as returned by the server, or *.",
        json={"notes": "x"},
        headers={"if-match": "1"},
    ),
    filtered(
        "a moment in words",
        "updated_at_from=yesterday",
        "updated_at_from must be a date and time with an offset, such as 2025-01-31T12:00:00Z.",
    ),
    filtered("yes for true", "is_overdue=yes", "is_overdue must be true or false."),
    post_content(
        "a text with U+0000",
        "malformed_json",
        "has the character U+0000 in a text.",
        b'{"company_name": "a\\u0000b"}',
        **JSON,
    ),
    post_content(
        "a number for a text, beyond all",
        "validation_error",
        "notes must be a string.",
        b'{"company_name": "Bakery", "notes": 99999999999999999}',
        **JSON,
    ),
    post_content(
        "brackets without an end",
        "malformed_json",
        "nested deeper than 32 levels.",
        b'{"metadata":' + b"[" * 40 + b"]" * 40 + b"}",
        **JSON,
    ),
    # Numbers beyond all.
    invoice(
        "an amount beyond all",
        "line_items.1.unit_price must be at most 99999999999999.",
        line_items=[LINE, {**LINE, "unit_price": 10**17}],
    ),
    wrong(
        "a number beyond all in free JSON",
        CUSTOMERS,
        "metadata.orders.1 must be from -9007199254740991 to 9007199254740991.",
        company_name="Bakery",
        metadata={"orders": [1, 10**17]},
    ),
    filtered(
        "a filter beyond all",
        f"min_amount={10**30}",
        "min_amount must be at most 9007199254740991.",
    ),
    # Records that are not there, in lists.
    unknown(
        "an account of an entry that is not there",
        ENTRIES,
        "lines.1.account: The business has no such account.",
        **ENTRY,
    ),
    unknown(
        "an account of a line that is not there",
        INVOICES,
        "line_items.1.account_identifier.code: The business has no such account.",
        **{**INVOICE, "line_items": [LINE, {**LINE, "account_identifier": OTHERS}]},
    ),
    unknown(
        "an account of an opening that is not there",
        "opening-balances/",
        "accounts.0.account: The business has no such account.",
        date="2024-12-31",
        accounts=[{"account": "9999", "debit_amount": 5}],
    ),
    unknown(
        "a tax code that is not there",
        INVOICES,
        "line_items.1.tax_code: The business has no such tax code.",
        **{**INVOICE, "line_items": [LINE, {**LINE, "tax_code": "VAT20"}]},
    ),
    unknown(
        "a payment of a payout that is not there",
        "payouts/",
        "payment_ids.0: The request names a payment that does not exist in this business.",
        processor="stripe",
        paid_out_amount_cents=100,
        currency="GBP",
        payment_ids=[NOBODY],
    ),
    wrong(
        "a number of another system among ids",
        "payouts/",
        "payment_ids.1 must be a UUID, such as",
        processor="stripe",
        paid_out_amount_cents=100,
        currency="GBP",
        payment_ids=[NOBODY, "ch_17"],
    ),
    wrong(
        "both sides of a line",
        ENTRIES,
        "lines.1: exactly one of debit_amount and credit_amount must be above 0.",
        **{**ENTRY, "lines": [DEBIT, {**DEBIT, "credit_amount": 5}]},
    ),
    # Names of other APIs.
    filtered("a limit", "limit=50", "limit is not a known parameter; did you mean page_size?"),
    filtered("an offset", "offset=50", "offset is not a known parameter; did you mean page?"),
    filtered("a cursor's other name", "starting_after=x", "did you mean cursor?"),
    filtered(
        "an order", "order_by=due_at", "order_by is not a known parameter; did you mean sort?"
    ),
    filtered("a question", "q=INV-000001", "q is not a known parameter; did you mean search?"),
    filtered(
        "a bound in brackets",
        "created_at[gte]=2026-07-01",
        "created_at[gte] is not a known parameter; did you mean created_at_from?",
    ),
    get(
        "a day of a balance",
        "reports/balance-sheet/?end_date=2026-07-31",
        400,
        "validation_error",
        "end_date is not a known parameter; did you mean as_of_date?",
    ),
    invoice(
        "lines by another name",
        "lines is not a known field; did you mean line_items? 1 more field is wrong.",
        lines=[LINE],
        without="line_items",
    ),
    invoice(
        "a client",
        "client_id is not a known field; did you mean customer_id?",
        client_id=NOBODY,
        without="customer_id",
    ),
    invoice(
        "an account of a line by its code",
        "line_items.0.account_code is not a known field; did you mean account_identifier?",
        line_items=[{**LINE, "account_code": "4000"}],
    ),
    payment(
        "the invoice of a payment",
        "invoice_id is not a known field; did you mean allocations?",
        invoice_id="{invoice}",
    ),
    payment(
        "a reference of a payment",
        "reference is not a known field; did you mean payment_reference?",
        reference="ORDER-17",
    ),
    wrong(
        "a line of an entry without a side",
        ENTRIES,
        "lines.0.amount is not a known field; did you mean debit_amount?",
        **{**ENTRY, "lines": [{"account": "1100", "amount": 5}, DEBIT]},
    ),
    invoice(
        "terms of payment",
        "payment_terms is not a known field; did you mean due_at?",
        payment_terms=30,
    ),
    invoice("notes of an invoice", "notes is not a known field; did you mean memo?", notes="Hi"),
    wrong(
        "a supplier",
        "bills/",
        "supplier_id is not a known field; did you mean vendor_id?",
        supplier_id=NOBODY,
        line_items=[LINE],
    ),
    wrong(
        "the number on a bill",
        "bills/",
        "invoice_number is not a known field; did you mean vendor_bill_number?",
        vendor_id=NOBODY,
        invoice_number="GBI-2207",
        line_items=[LINE],
    ),
    wrong(
        "an amount of a credit in cents",
        "customer-credits/",
        "line_items.0.amount_cents is not a known field; did you mean amount?",
        customer_id="{customer}",
        line_items=[{"amount_cents": 500}],
    ),
    wrong(
        "a telephone",
        CUSTOMERS,
        "phone_number is not a known field; did you mean office_phone?",
        company_name="Bakery",
        phone_number="+442079460123",
    ),
    wrong(
        "a country that is known by another code",
        CUSTOMERS,
        "country is not a country code in ISO 3166-1; did you mean GB?",
        company_name="Bakery",
        country="UK",
    ),
    # Rules of the books.
    post(
        "an invoice in a currency without a rate",
        INVOICES,
        422,
        "exchange_rate_missing",
        "There is no exchange rate for MYR on 2012-07-31, nor in the 7 days before.",
        **{
            **INVOICE,
            "currency": "MYR",
            "issue_date": "2012-07-31",
            "sent_at": "2012-07-31T09:00:00Z",
        },
    ),
    post(
        "an entry on receivables",
        ENTRIES,
        422,
        "control_account",
        "lines.1.account: Only the system posts to this account. Choose another account.",
        **{**ENTRY, "lines": [DEBIT, {"account": "1200", "credit_amount": 5}]},
    ),
    # Addresses.
    Mistake(
        "a whole record where a part is sent",
        "PUT",
        "customers/{customer}/",
        405,
        "method_not_allowed",
        "This address allows only GET, HEAD, PATCH.",
        json={"company_name": "Bakery"},
    ),
    get(
        "payments without their side",
        "payments/",
        404,
        "route_not_found",
        "did you mean invoices/payments?",
    ),
    get(
        "credit notes",
        "credit-notes/",
        404,
        "route_not_found",
        "did you mean customer-credits?",
    ),
    Mistake(
        "an invoice to cancel",
        "POST",
        "invoices/{invoice}/cancel/",
        404,
        "route_not_found",
        "did you mean void?",
    ),
    get(
        "a list of another place",
        "journal-entries/",
        404,
        "route_not_found",
        "did you mean general-ledger/journal-entries?",
    ),
    get(
        "a business left out",
        "/v1/platform/invoices/",
        404,
        "route_not_found",
        "did you mean businesses/{business_id}/invoices?",
    ),
    # Credentials and JSON.
    Mistake(
        "a client's secret in the body",
        "POST",
        TOKEN,
        401,
        "authentication_required",
        "Send the partner id and the API key as HTTP Basic in the Authorization header",
        json={"grant_type": "client_credentials", "client_id": NOBODY, "client_secret": "{key}"},
        headers={"authorization": ""},
    ),
    credentials(
        "a variable without its value",
        "invalid_token",
        "Send the whole access_token of a token endpoint.",
        "Bearer $TOKEN",
    ),
    Mistake(
        "a token that only reads",
        "POST",
        CUSTOMERS,
        403,
        "permission_denied",
        "This token only reads. Request one without `access` `read`",
        json={"company_name": "Bakery"},
        headers={"authorization": "Bearer {reader}"},
    ),
    post_content(
        "a comma too many",
        "malformed_json",
        "The body is not valid JSON at line 2, column 1.",
        b'{"company_name": "Bakery",\n}',
        **JSON,
    ),
)
