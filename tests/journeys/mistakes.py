"""Mistakes of those who integrate, and what each is told: which field or thing, why, what to do."""

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
    """One request that is wrong, with the status, the code and words of what it is told.

    Texts in braces stand for ids: `customer` owes 600 of the sent `invoice`.
    """

    name: str
    method: str
    path: str
    status: int
    code: str
    told: str
    json: Any = None
    content: bytes | None = None
    headers: dict[str, str] | None = None


def posted(name: str, path: str, status: int, code: str, told: str, /, **json: Any) -> Mistake:
    return Mistake(name, "POST", path, status, code, told, json=json)


def asked(name: str, path: str, status: int, code: str, told: str) -> Mistake:
    return Mistake(name, "GET", path, status, code, told)


def invoice(name: str, told: str, *, without: str = "", **changes: Any) -> Mistake:
    body = {key: value for key, value in {**INVOICE, **changes}.items() if key != without}
    return posted(name, INVOICES, 400, "validation_error", told, **body)


def payment(name: str, told: str, **changes: Any) -> Mistake:
    return posted(name, PAYMENTS, 400, "validation_error", told, **{**PAYMENT, **changes})


def filtered(name: str, query: str, told: str) -> Mistake:
    return asked(name, f"{INVOICES}?{query}", 400, "validation_error", told)


def settling(name: str, status: int, code: str, told: str, invoice: str, cents: int) -> Mistake:
    part = {"invoice_id": invoice, "amount_cents": cents}
    return posted(name, PAYMENTS, status, code, told, **{**PAYMENT, "allocations": [part]})


def sent(name: str, code: str, told: str, content: bytes, **headers: str) -> Mistake:
    status = 415 if code == "unsupported_media_type" else 400
    return Mistake(name, "POST", CUSTOMERS, status, code, told, content=content, headers=headers)


def credentials(name: str, code: str, told: str, authorization: str) -> Mistake:
    headers = {"authorization": authorization}
    return Mistake(name, "GET", INVOICES, 401, code, told, headers=headers)


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
    posted(
        "nobody", CUSTOMERS, 400, "validation_error", "individual_name or company_name is required."
    ),
    posted(
        "an address that is none",
        CUSTOMERS,
        400,
        "validation_error",
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
    asked(
        "a number for an id", "invoices/17/", 400, "validation_error", "invoice_id must be a UUID"
    ),
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
    asked(
        "an address in the singular", "invoice/", 404, "route_not_found", "did you mean invoices?"
    ),
    asked(
        "an address with a slip", "custommers/", 404, "route_not_found", "did you mean customers?"
    ),
    asked("what is not there", f"invoices/{NOBODY}/", 404, "invoice_not_found", "no such invoice"),
    Mistake(
        "a method that is not taken",
        "DELETE",
        CUSTOMERS,
        405,
        "method_not_allowed",
        "This address allows only GET, HEAD, POST.",
    ),
    sent("no content type", "unsupported_media_type", "must be sent as application/json.", b"{}"),
    sent(
        "another content type",
        "unsupported_media_type",
        "must be sent as application/json.",
        b"a=1",
        **{"content-type": "text/plain"},
    ),
    sent("what is no JSON", "malformed_json", "The body is not valid JSON.", b"{a: 1}", **JSON),
    sent(
        "a key twice",
        "malformed_json",
        "has the same key twice",
        b'{"email": "a@b.co", "email": "c@d.co"}',
        **JSON,
    ),
    sent("no body", "validation_error", "body is required.", b"", **JSON),
    sent("a list for an object", "validation_error", "body must be an object.", b"[1]", **JSON),
    # Credentials.
    credentials("none", "authentication_required", "Send an Authorization header", ""),
    credentials(
        "an API key as Bearer", "invalid_token", "This is an API key, not a token", "Bearer {key}"
    ),
    credentials(
        "a token of somewhere else", "invalid_token", "The token is not valid.", "Bearer abc"
    ),
    credentials(
        "a key with a slip",
        "invalid_credentials",
        "The partner id or the API key is wrong.",
        "Basic YTpi",
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
    posted(
        "a customer who is not there",
        INVOICES,
        422,
        "reference_not_found",
        "names a customer that does not exist in this business",
        **{**INVOICE, "customer_id": NOBODY},
    ),
    posted(
        "two names of different customers",
        INVOICES,
        422,
        "reference_mismatch",
        "belong to different parties. Send only one of them.",
        **INVOICE,
        customer_external_id="somebody else",
    ),
    posted(
        "another currency",
        INVOICES,
        422,
        "currency_mismatch",
        "kept in GBP. Send this currency or omit the field.",
        **INVOICE,
        currency="USD",
    ),
    settling(
        "more than is owed",
        422,
        "allocation_exceeds_outstanding",
        "allocations.0: At most 600 of the invoice can be settled, in minor units.",
        "{invoice}",
        700,
    ),
    settling(
        "the invoice of another",
        422,
        "invoice_customer_mismatch",
        "belongs to another customer",
        "{foreign}",
        100,
    ),
    settling(
        "a draft",
        409,
        "invoice_not_open",
        "Only a sent invoice can be settled.",
        "{draft}",
        100,
    ),
    settling(
        "an invoice that is not there", 422, "reference_not_found", "names an invoice", NOBODY, 1
    ),
    posted(
        "the number of another",
        INVOICES,
        409,
        "duplicate_invoice_number",
        "Another invoice of this business has this number.",
        **INVOICE,
        invoice_number="{number}",
    ),
    posted(
        "voiding what is paid in part",
        "invoices/{invoice}/void/",
        409,
        "invoice_has_allocations",
        "Undo that first.",
    ),
    Mistake(
        "deleting what is sent",
        "DELETE",
        "invoices/{invoice}/",
        409,
        "invalid_state_transition",
        "Only a draft can be deleted.",
    ),
    Mistake(
        "archiving who owes",
        "POST",
        "customers/{customer}/archive/",
        409,
        "customer_has_balance",
        "Settle all amounts owed",
    ),
    posted(
        "giving back more than came",
        "invoices/refunds/",
        422,
        "refund_exceeds_refundable",
        "At most 400 can be refunded.",
        invoice_id="{invoice}",
        amount_cents=5000,
    ),
    Mistake(
        "an older copy",
        "PATCH",
        "customers/{customer}/",
        412,
        "precondition_failed",
        "Read it again and repeat the change.",
        json={"notes": "x"},
        headers={"if-match": '"99"'},
    ),
    # The other side, banks and the ledger.
    posted(
        "a bill of nobody",
        "bills/",
        400,
        "validation_error",
        "vendor_id or vendor_external_id is required.",
        line_items=[LINE],
    ),
    posted(
        "a bill of a customer",
        "bills/",
        422,
        "reference_not_found",
        "names a vendor that does not exist in this business",
        vendor_id="{customer}",
        bill_date="2026-07-01",
        line_items=[LINE],
    ),
    posted(
        "the due date of a bill",
        "bills/",
        400,
        "validation_error",
        "due_date is not a known field; did you mean due_at?",
        vendor_id=NOBODY,
        due_date="2026-08-01",
        line_items=[LINE],
    ),
    posted(
        "a vendor without a name",
        "vendors/",
        400,
        "validation_error",
        "name is not a known field; did you mean",
        name="Mill",
        vendor_type="company",
    ),
    posted(
        "a bank account without a name",
        "bank-accounts/",
        400,
        "validation_error",
        "name is not a known field; did you mean display_name?",
        name="Current",
    ),
    posted(
        "the number of a bank account",
        "bank-accounts/",
        400,
        "validation_error",
        "iban must be an IBAN.",
        display_name="Current",
        iban="GB00",
    ),
    posted(
        "a payout of some amount",
        "payouts/",
        400,
        "validation_error",
        "processor is required.",
        amount_cents=1,
    ),
    posted(
        "an entry on another day's field",
        "general-ledger/journal-entries/",
        400,
        "validation_error",
        "entry_date is required.",
        date="2026-07-01",
        lines=[],
    ),
    posted(
        "an account without a kind",
        "general-ledger/chart-of-accounts/",
        400,
        "validation_error",
        "account_type is required.",
        code="1299",
        name="Other",
    ),
    asked(
        "an account that is not there",
        "general-ledger/chart-of-accounts/9999/",
        404,
        "account_not_found",
        "There is no such account.",
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
    posted(
        "more allocated than came",
        PAYMENTS,
        422,
        "allocation_exceeds_total",
        "The allocations exceed the total.",
        **{**PAYMENT, "total_amount_cents": 500},
        allocations=[{"invoice_id": "{invoice}", "amount_cents": 600}],
    ),
    payment(
        "an invoice twice",
        "allocations.1.invoice_id repeats the invoice of an earlier item.",
        allocations=[{"invoice_id": "{invoice}", "amount_cents": 1}] * 2,
    ),
    posted(
        "a refund of nothing named",
        "invoices/refunds/",
        400,
        "validation_error",
        "exactly one of invoice_id, payment_id and credit_id is required.",
        amount_cents=5,
    ),
    posted(
        "sending what is sent",
        "invoices/{invoice}/send/",
        409,
        "invalid_state_transition",
        "The invoice is already sent.",
    ),
    # Texts and headers.
    posted(
        "a name that is too long",
        CUSTOMERS,
        400,
        "validation_error",
        "company_name must have at most 255 characters.",
        company_name="x" * 300,
    ),
    posted(
        "a country in full",
        CUSTOMERS,
        400,
        "validation_error",
        "country must have at most 2 characters.",
        company_name="x",
        country="Spain",
    ),
    posted(
        "null for a name",
        CUSTOMERS,
        400,
        "validation_error",
        "company_name must be a string.",
        company_name=None,
    ),
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
    sent(
        "a text with U+0000",
        "malformed_json",
        "has the character U+0000 in a text.",
        b'{"company_name": "a\\u0000b"}',
        **JSON,
    ),
    sent(
        "a number beyond all",
        "malformed_json",
        "has a number beyond 9007199254740991.",
        b'{"notes": 99999999999999999}',
        **JSON,
    ),
    sent(
        "brackets without an end",
        "malformed_json",
        "nested deeper than 32 levels.",
        b'{"metadata":' + b"[" * 40 + b"]" * 40 + b"}",
        **JSON,
    ),
)
