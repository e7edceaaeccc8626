"""Ties: what two values of one request owe each other and a schema cannot say.

A cursor fits its sort, a legal form its country. Only cases that are meant to be valid are tied
up; what is meant to be invalid goes out as it was made. Three in four are also led past the
refusals that depend on what is in the books, so that what lies behind them is tried as well.
"""

import re
from typing import Any
from uuid import uuid4
from zlib import crc32

from schemathesis.generation.meta import TestPhase

from accounting.businesses import ENTITY_TYPES
from tests.fuzz.files import put_real_ones
from tests.fuzz.sowing import numbers, seeds

LARGEST_INTEGER = 2**53 - 1
LONGEST = {"external_id": 255, "invoice_number": 100, "credit_note_number": 100, "code": 50}
ETAG = re.compile(r'\*|(W/)?"[0-9]{1,19}"')
OF_MANY_CUSTOMERS = {"list_invoices", "list_invoice_refunds", "list_customer_credits"}
CURRENCY = "GBP"


def tie(name: str, case: Any) -> None:
    """Tie up a case of an operation."""
    # By the case and not by lot: drawn again, the same case is to be answered the same.
    headers = {**case.headers, "Authorization": None}
    drawn = repr((case.path_parameters, case.query, headers, case.body)).encode()
    lot = crc32(drawn)
    mostly = case.meta.phase.name is TestPhase.EXAMPLES or lot % 4 > 0
    tie_headers(case.headers, mostly=mostly)
    tie_query(name, case.query or {}, mostly=mostly)
    # A preview keeps nothing, so no walk over links can start from one.
    if case.meta.phase.name is TestPhase.STATEFUL and case.query:
        case.query.pop("preview", None)
    if isinstance(case.body, dict):
        case.body = storable(case.body)
        put_real_ones(name, case.body, lot)
        TIES.get(name, leave)(case, case.body)
        if mostly:
            tie_names(case.body)
            MOSTLY.get(name, leave)(case, case.body)


def tie_headers(headers: Any, *, mostly: bool) -> None:
    """Most requests have a key of their own and change any version.

    The others repeat a key, as a key is meant for, or name a version that may have passed.
    """
    if "Idempotency-Key" in headers and mostly:
        headers["Idempotency-Key"] = f"key-{uuid4()}"
    # What has quotes in it, the coverage phase sends as a bare 0 and calls valid.
    if "If-Match" in headers and (mostly or not ETAG.fullmatch(headers["If-Match"])):
        headers["If-Match"] = "*"


def tie_query(name: str, query: dict[str, Any], *, mostly: bool) -> None:
    """A cursor belongs to its list and sort; year and month of a period come together.

    Where a list takes many customers, most requests ask for two that are there.
    """
    if "customer_id" in query and name in OF_MANY_CUSTOMERS and mostly:
        query["customer_id"] = ",".join(seeds().pools["customers"][:2])
    if "cursor" in query:
        query["cursor"] = seeds().cursors[name][query.get("sort", "")]
    if "period_year" in query or "period_month" in query:
        query.setdefault("period_year", "2026")
        query.setdefault("period_month", "7")


def storable(value: Any) -> Any:
    """A JSON value without what the contract's first page excludes for all: 2**53, U+0000."""
    if isinstance(value, dict):
        return {storable(name): storable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [storable(part) for part in value]
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
        return LARGEST_INTEGER
    return value


def leave(_case: Any, _body: dict[str, Any]) -> None:
    """Nothing in this body hangs on anything else."""


def tie_partner(_case: Any, body: dict[str, Any]) -> None:
    """A client id is the caller's own."""
    if "client_id" in body:
        body["client_id"] = seeds().partner_id


def tie_new_business(_case: Any, body: dict[str, Any]) -> None:
    """A legal form is one of its country."""
    forms = sorted(ENTITY_TYPES.get(body.get("country", "").upper(), ()))
    if forms:
        body["entity_type"] = forms[len(body["entity_type"]) % len(forms)]


def tie_business(_case: Any, body: dict[str, Any]) -> None:
    """Where the country is not in the request, the legal form is one of a sandbox."""
    if "entity_type" in body:
        body["entity_type"] = "limited"


def tie_customer(_case: Any, body: dict[str, Any]) -> None:
    """One of the two names stays when the other one goes."""
    if None in (body.get("company_name", ""), body.get("individual_name", "")):
        body["company_name"] = "Blue Door Bakery"


def tie_allocations(_case: Any, body: dict[str, Any]) -> None:
    """An invoice stands in a list once."""
    if "allocations" in body:
        once = {part["invoice_id"]: part for part in body["allocations"]}
        body["allocations"] = list(once.values())


TIES = {
    "issue_partner_token": tie_partner,
    "create_business": tie_new_business,
    "update_business": tie_business,
    "update_customer": tie_customer,
    "create_invoice_payment": tie_allocations,
    "replace_invoice_payment": tie_allocations,
    "update_invoice_payment": tie_allocations,
    "create_customer_credit": tie_allocations,
    "replace_customer_credit": tie_allocations,
}


# ── What most requests also heed, so that they get behind the refusals ─────────────────────────


def tie_names(body: dict[str, Any]) -> None:
    """One currency, and names that are not taken yet."""
    if "currency" in body:
        body["currency"] = CURRENCY
    for name, longest in LONGEST.items():
        if body.get(name):
            number = str(next(numbers))
            body[name] = body[name][: longest - len(number)] + number


def keep_identity(_case: Any, body: dict[str, Any]) -> None:
    """What is fixed is left out."""
    leave_out(body, "external_id", "country", "base_currency")


def name_customer_once(_case: Any, body: dict[str, Any]) -> None:
    """Two names for one customer would have to agree."""
    if "customer_id" in body:
        leave_out(body, "customer_external_id")


def allocate_little(case: Any, body: dict[str, Any]) -> None:
    """Money goes to an invoice of its customer that is large enough for all of it."""
    pools = seeds().pools
    name_customer_once(case, body)
    if "payment_id" in (case.path_parameters or {}):
        leave_out(body, "customer_id")
        payment = case.path_parameters["payment_id"]
        place = pools["payments"].index(payment) if payment in pools["payments"] else 0
    else:
        known = body.get("customer_id") in pools["customers"]
        place = pools["customers"].index(body["customer_id"]) if known else 0
    owed = pools["owed_invoices"]
    for part in body.get("allocations", ())[:1]:
        amount = 1 + part["amount_cents"] % 50
        invoice = owed[place % len(owed)]
        body["allocations"] = [{"invoice_id": invoice, "amount_cents": amount}]


def keep_kind(_case: Any, body: dict[str, Any]) -> None:
    """An account is of the kind of the one above it, which is an expense here."""
    if "parent_id" in body:
        body |= {"account_type": "expense", "account_subtype": "operating_expenses"}


def take_kind(_case: Any, body: dict[str, Any]) -> None:
    """An account takes its kind from the one above it."""
    leave_out(body, "account_type", "account_subtype")


def give_up_little(_case: Any, body: dict[str, Any]) -> None:
    """Less is given up than is owed."""
    keep_small(body)


def refund_little(_case: Any, body: dict[str, Any]) -> None:
    """Less goes back than can be refunded, and one of the two it can come from is named."""
    keep_small(body)
    leave_out(body, "refund_processing_fee_cents")


def apply_little(case: Any, body: dict[str, Any]) -> None:
    """What is sent goes to an invoice of its customer that is large enough, a draft to none."""
    pools = seeds().pools
    name_customer_once(case, body)
    credit = (case.path_parameters or {}).get("credit_id")
    if credit is None:
        place = place_in(pools["customers"], body.get("customer_id"))
        sent = "sent_at" in body
    else:
        place, sent = place_in(pools["sent_credits"], credit), credit in pools["sent_credits"]
        if sent:
            leave_out(body, "sent_at")
    if "allocations" in body:
        share = {"invoice_id": pools["owed_invoices"][place], "amount": 1}
        body["allocations"] = [share] if sent and body["allocations"] else []
    for line in body.get("line_items", ()):
        line["amount"] = 1 + line["amount"] % 100_000


def void_now(_case: Any, body: dict[str, Any]) -> None:
    """A credit is not voided before it was sent."""
    leave_out(body, "voided_at")


def link_to_its_kind(_case: Any, body: dict[str, Any]) -> None:
    """A document is linked to a thing of the kind that it says."""
    if "linked_type" in body:
        pool = seeds().pools[LINKED[body["linked_type"]]]
        body["linked_id"] = pool[next(numbers) % len(pool)]


def keep_small(body: dict[str, Any]) -> None:
    body["amount_cents"] = 1 + body.get("amount_cents", 0) % 50


def place_in(pool: list[str], value: str | None) -> int:
    return pool.index(value) if value in pool else 0


def leave_out(body: dict[str, Any], *names: str) -> None:
    for name in names:
        body.pop(name, None)


LINKED = {
    "customer": "customers",
    "invoice": "invoices",
    "invoice_refund": "refunds",
    "customer_credit": "credits",
}
MOSTLY = {
    "update_business": keep_identity,
    "create_invoice": name_customer_once,
    "replace_invoice": name_customer_once,
    "create_invoice_payment": allocate_little,
    "replace_invoice_payment": allocate_little,
    "update_invoice_payment": allocate_little,
    "write_off_invoice": give_up_little,
    "create_invoice_refund": refund_little,
    "create_invoice_refund_payment": refund_little,
    "create_customer_credit": apply_little,
    "replace_customer_credit": apply_little,
    "void_customer_credit": void_now,
    "create_document": link_to_its_kind,
    "create_account": keep_kind,
    "create_child_account": take_kind,
}
