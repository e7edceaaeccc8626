"""Ties: constraints between values of one request that a schema cannot express.

A cursor must fit its sort, a legal form its country, an old name of a filter its new one. Only
cases that should be valid are tied; invalid ones are sent unchanged. Three in four also fulfil the
preconditions in the books (`preconditions`), so that the code behind the refusals is tried too.
"""

import re
from typing import Any
from uuid import uuid4
from zlib import crc32

from schemathesis.generation.meta import TestPhase

from accounting.books.businesses import ENTITY_TYPES
from accounting.tax.codes import CHARGED, UNTAXED, Direction, Treatment
from accounting.trade.parties import CODES
from tests.contract.document import named
from tests.fuzz.dictionaries import seeds
from tests.fuzz.files import put_real_ones
from tests.fuzz.preconditions import lead

LARGEST_INTEGER = 2**53 - 1
ETAG = re.compile(r'\*|(W/)?"[0-9]{1,19}"')
# Lists that accept several customers or vendors.
OF_MANY = {
    **dict.fromkeys(("list_invoices", "list_invoice_refunds", "list_customer_credits"), "customer"),
    **dict.fromkeys(("list_bills", "list_vendor_refunds", "list_vendor_credits"), "vendor"),
}

# Reports of at most a few years.
SHORT_REPORTS = ("get_financial_summary", "get_vat_summary", "list_vat_summary_entries")

ALLOCATED_TO = ("invoice_id", "bill_id", "bill_payment_id")
NAMED_ACCOUNTS = ("revenue_account_identifier", "expense_account_identifier")


def tie(name: str, case: Any) -> None:
    """Make a case of an operation valid."""
    # Derived from the case, not random: a repeated case must get the same answer.
    headers = {**case.headers, "Authorization": None}
    drawn = repr((case.path_parameters, case.query, headers, case.body)).encode()
    lot = crc32(drawn)
    mostly = case.meta.phase.name is TestPhase.EXAMPLES or lot % 4 > 0
    tie_headers(case.headers, mostly=mostly)
    tie_query(name, case.query or {}, mostly=mostly)
    # A preview stores nothing, so no walk over links can start from it.
    if case.meta.phase.name is TestPhase.STATEFUL and case.query:
        case.query.pop("preview", None)
    if isinstance(case.body, dict):
        case.body = storable(case.body)
        put_real_ones(name, case.body, lot)
        TIES.get(name, leave)(case, case.body)
        if mostly:
            lead(name, case)


def tie_headers(headers: Any, *, mostly: bool) -> None:
    """Set a key of its own and any version in most requests.

    The others repeat a key, or name a version that may be outdated.
    """
    if "Idempotency-Key" in headers and mostly:
        headers["Idempotency-Key"] = f"key-{uuid4()}"
    # The coverage phase sends a bare 0 in place of a quoted version and expects success.
    if "If-Match" in headers and (mostly or not ETAG.fullmatch(headers["If-Match"])):
        headers["If-Match"] = "*"


def tie_query(name: str, query: dict[str, Any], *, mostly: bool) -> None:
    """Set the cursor of the list and sort, and complete a period of year and month.

    An old name of a parameter gets the value of the new one. Where a list accepts several customers
    or vendors, most requests name two existing ones.
    """
    party = OF_MANY.get(name)
    if f"{party}_id" in query and mostly:
        query[f"{party}_id"] = ",".join(seeds().pools[f"{party}s"][:2])
    tie_report(name, query)
    if "cursor" in query:
        query["cursor"] = seeds().cursors[name][query.get("sort", "")]
    if "period_year" in query or "period_month" in query:
        query.setdefault("period_year", "2026")
        query.setdefault("period_month", "7")
    for parameter in named(name).parameters:
        old, new = parameter["name"], parameter.get("x-deprecated", {}).get("instead")
        if old in query and new in query:
            query[old] = query[new]


def tie_report(name: str, query: dict[str, Any]) -> None:
    """Order the days of a report and limit it to 60 columns.

    Remove `untagged` beside a tag, and any cursor of the general ledger.
    """
    if "tag" in query:
        query.pop("untagged", None)
    if name == "get_general_ledger":
        query.pop("cursor", None)
    asked = sorted(query[word] for word in ("start_date", "end_date") if word in query)
    if asked and any(each["name"] == "end_date" for each in named(name).parameters):
        query["start_date"], query["end_date"] = asked[0], asked[-1]
        if {"interval", "granularity"} & query.keys() or name in SHORT_REPORTS:
            query["start_date"] = max(asked[0], f"{asked[-1][:4]}-01-01")


def storable(value: Any) -> Any:
    """Return a JSON value without the values that no schema accepts: 2**53 and U+0000."""
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
    """Leave a body without constraints unchanged."""


def tie_partner(_case: Any, body: dict[str, Any]) -> None:
    """Set the caller's own client ID."""
    if "client_id" in body:
        body["client_id"] = seeds().partner_id


def tie_tolerance(body: dict[str, Any]) -> None:
    """Limit a tolerance to 5 units: at most 5.00, also of a currency without decimals."""
    if "matching_tolerance_cents" in body:
        body["matching_tolerance_cents"] %= 6


def tie_new_business(_case: Any, body: dict[str, Any]) -> None:
    """Set a legal form of the country."""
    tie_tolerance(body)
    forms = sorted(ENTITY_TYPES.get(body.get("country", "").upper(), ()))
    if forms:
        body["entity_type"] = forms[len(body["entity_type"]) % len(forms)]


def tie_business(case: Any, body: dict[str, Any]) -> None:
    """Set the legal form of seeded businesses, if the request has one.

    Other businesses may be in any country, so the legal form is left out.
    """
    tie_tolerance(body)
    pools = seeds().pools
    planted = {*pools["other_businesses"], *pools["closing_businesses"], *pools["businesses"]}
    form = body.pop("entity_type", None)
    if form is not None and (case.path_parameters or {}).get("business_id") in planted:
        body["entity_type"] = "limited"


def tie_country(_case: Any, body: dict[str, Any]) -> None:
    """Set a country that exists in place of two letters."""
    country = body.get("country")
    if isinstance(country, str) and re.fullmatch("[A-Za-z]{2}", country):
        body["country"] = sorted(CODES)[sum(country.encode()) % len(CODES)]


def tie_party(case: Any, body: dict[str, Any]) -> None:
    """Keep one of the two names when the other one is removed."""
    tie_country(case, body)
    if None in (body.get("company_name", ""), body.get("individual_name", "")):
        body["company_name"] = "Blue Door Bakery"


def tie_allocations(_case: Any, body: dict[str, Any]) -> None:
    """Remove repeated targets from allocations; credits have no target."""
    if "allocations" in body:
        once = {}
        for place, part in enumerate(body["allocations"]):
            named = (part[name] for name in ALLOCATED_TO if name in part)
            once[next(named, place)] = part
        body["allocations"] = list(once.values())


def tie_lines(_case: Any, body: dict[str, Any]) -> None:
    """Keep one of the ways to state tax, and no account or code beside a source line."""
    for line in body.get("line_items", ()):
        if "source_line_id" in line:
            for name in ("tax_code", *NAMED_ACCOUNTS):
                line.pop(name, None)
        if "tax_code" in line:
            line.pop("tax_rate", None)


def tie_changes(_case: Any, body: dict[str, Any]) -> None:
    """Keep one change of each line."""
    if "line_items" in body:
        once = {line.get("id"): line for line in body["line_items"]}
        body["line_items"] = list(once.values())


def tie_credit(case: Any, body: dict[str, Any]) -> None:
    """Remove source lines from a credit without a source, then tie lines and allocations."""
    if not body.keys() & {"source_invoice_id", "source_bill_id"}:
        for line in body.get("line_items", ()):
            line.pop("source_line_id", None)
    tie_lines(case, body)
    tie_allocations(case, body)


def tie_tax_code(_case: Any, body: dict[str, Any]) -> None:
    """Set one rate, and a direction, a treatment and a default that fit together.

    A change sets all three: a request does not tell the present values of the code.
    """
    if body.keys() & {"direction", "treatment", "rates", "is_default"}:
        body.setdefault("treatment", Treatment.STANDARD)
        body.setdefault("rates", [{"rate": 20}])
        body["direction"] = Direction.PURCHASES
        body["rates"] = [{**body["rates"][0], "valid_from": None, "valid_to": None}]
        if body["treatment"] in UNTAXED:
            body["rates"][0]["rate"] = 0
        if body["treatment"] not in CHARGED:
            body["is_default"] = False


def tie_tax_return(_case: Any, body: dict[str, Any]) -> None:
    """Set the last day to the end of the year of the first day."""
    start = body.get("start_date")
    if isinstance(start, str) and "end_date" in body:
        body["end_date"] = max(start, f"{start[:4]}-12-31")


def tie_refund(_case: Any, body: dict[str, Any]) -> None:
    """Remove lines from a refund without an invoice."""
    if "invoice_id" not in body:
        body.pop("lines", None)


def tie_payout(_case: Any, body: dict[str, Any]) -> None:
    """Set small amounts with the sign of their type, and an account only for an adjustment."""
    for item in body.get("other_items", ()):
        lowers = item["type"] in ("chargeback", "dispute_fee", "reserve_hold")
        item["amount_cents"] = (1 + item["amount_cents"] % 100) * (-1 if lowers else 1)
        if item["type"] != "adjustment":
            item.pop("account", None)


def tie_target(_case: Any, body: dict[str, Any]) -> None:
    """Remove the account beside a target."""
    if "target_id" in body:
        body.pop("bank_account_id", None)


def tie_parts(_case: Any, body: dict[str, Any]) -> None:
    """Remove the parts beside an account."""
    if "account" in body:
        body.pop("splits", None)


def tie_account(_case: Any, body: Any) -> None:
    """Remove the cash flow of accounts of profit and loss."""
    if body.get("account_type") not in ("asset", "liability", "equity"):
        body.pop("cash_flow", None)


def tie_items(_case: Any, body: dict[str, Any]) -> None:
    """Make each item a valid request under a key of its own: its schema is that of its operation.

    Without this nearly all batches would be refused because of one item.
    """
    path = {"customer_id": seeds().pools["customers"][0]}
    line = {"quantity": 1, "unit_price": 1}
    valid = (
        {"operation": "create_customer", "body": {"company_name": "Batch Ltd"}},
        {"operation": "create_vendor", "body": {"company_name": "Batch Ltd"}},
        {"operation": "update_customer", "body": {"city": "Bath"}, "path": path},
        {"operation": "create_invoice", "body": {**path, "line_items": [line]}},
        {"operation": "void_invoice", "path": {"invoice_id": path["customer_id"]}},
    )
    for place, item in enumerate(body["items"]):
        chosen = valid[len(item["key"]) % len(valid)]
        body["items"][place] = {**chosen, "key": f"{item['key'][:250]}{place}"}


TIES = {
    "run_batch": tie_items,
    "create_account": tie_account,
    "create_child_account": tie_account,
    "update_account": tie_account,
    "create_invoice": tie_lines,
    "replace_invoice": tie_lines,
    "update_invoice": tie_changes,
    "create_bill": tie_lines,
    "replace_bill": tie_lines,
    "update_bill": tie_changes,
    "create_tax_return": tie_tax_return,
    "create_tax_code": tie_tax_code,
    "update_tax_code": tie_tax_code,
    "issue_partner_token": tie_partner,
    "create_business": tie_new_business,
    "update_business": tie_business,
    "match_bank_transaction": tie_target,
    "categorize_bank_transaction": tie_parts,
    "create_customer": tie_country,
    "create_vendor": tie_country,
    "update_customer": tie_party,
    "update_vendor": tie_party,
    "create_invoice_payment": tie_allocations,
    "replace_invoice_payment": tie_allocations,
    "update_invoice_payment": tie_allocations,
    "create_customer_credit": tie_credit,
    "replace_customer_credit": tie_credit,
    "update_customer_credit": tie_changes,
    "create_bill_payment": tie_allocations,
    "update_bill_payment": tie_allocations,
    "create_vendor_credit": tie_credit,
    "replace_vendor_credit": tie_credit,
    "update_vendor_credit": tie_changes,
    "create_invoice_refund": tie_refund,
    "create_payout": tie_payout,
    "create_vendor_refund": tie_allocations,
    "create_vendor_refund_payment": tie_allocations,
    "update_vendor_refund_payment": tie_allocations,
}
