"""Mistakes of integrators, and the messages that explain the field, the reason and the remedy.

Messages that the contract has as examples are compared in `tests/contract`.
"""

from dataclasses import dataclass
from typing import Any, Final

NOBODY: Final = "0197f0c6-3d51-7a8b-b1e2-6c4d8e9f0a03"
INVOICES: Final = "invoices/"
PAYMENTS: Final = "invoices/payments/"
CUSTOMERS: Final = "customers/"
JSON: Final = {"content-type": "application/json"}

LINE: Final = {"description": "Beans", "quantity": 1, "unit_price": 1000}
INVOICE: Final = {"customer_id": "{customer}", "line_items": [LINE]}
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

    Texts in braces are replaced by ids: `customer` owes 600 of the sent `invoice`.
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
        "exactly one of invoice_id, payment_id and credit_id is required.",
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
        "a number beyond all",
        "malformed_json",
        "has a number beyond 9007199254740991.",
        b'{"notes": 99999999999999999}',
        **JSON,
    ),
    post_content(
        "brackets without an end",
        "malformed_json",
        "nested deeper than 32 levels.",
        b'{"metadata":' + b"[" * 40 + b"]" * 40 + b"}",
        **JSON,
    ),
)
