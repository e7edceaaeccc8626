"""What Schemathesis cannot read from the contract: who calls, which texts a format means, and ties.

A tie is what two values of one request owe each other and a schema cannot say: a cursor fits its
sort, a legal form its country. Only cases that are meant to be valid are tied up; what is meant
to be invalid goes out as it was made.
"""

import base64
import json
import os
import re
import tomllib
from datetime import date, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4
from zlib import crc32

import requests
import schemathesis
from hypothesis import strategies
from schemathesis.core.parameters import ParameterLocation
from schemathesis.generation.meta import TestPhase
from schemathesis.openapi.checks import UseAfterFree
from stdnum import iban

from accounting.businesses import ENTITY_TYPES
from server.formats import FIRST_YEAR, LAST_YEAR
from tests.fuzz.seed import Seeds

LETTERS = "abcdefghijklmnopqrstuvwxyz"
FORM = "application/x-www-form-urlencoded"


@cache
def seeds() -> Seeds:
    """What the runner planted."""
    return Seeds.read(Path(os.environ["FUZZ_SEEDS"]))


# ── Formats ────────────────────────────────────────────────────────────────────────────────────

words = strategies.text(LETTERS + "0123456789", min_size=1, max_size=20)
digits = strategies.text("0123456789", min_size=18, max_size=18)


def german_iban(account: str) -> str:
    """An IBAN with the right checksum."""
    return f"DE{iban.calc_check_digits(f'DE00{account}')}{account}"


schemathesis.openapi.format("email", strategies.builds("{}@{}.example.com".format, words, words))
schemathesis.openapi.format(
    "iban",
    strategies.one_of(digits.map(german_iban), strategies.just("GB33 BUKB 2020 1555 5555 55")),
)
days = strategies.dates(date(FIRST_YEAR, 1, 1), date(LAST_YEAR, 12, 31))
moments = strategies.datetimes(datetime(FIRST_YEAR, 1, 2), datetime(LAST_YEAR, 12, 30))  # noqa: DTZ001
schemathesis.openapi.format("date", days.map(date.isoformat))
schemathesis.openapi.format(
    "date-time",
    strategies.builds(
        "{}{}".format, moments.map(datetime.isoformat), strategies.sampled_from(["Z", "+02:00"])
    ),
)
# The shape of a cursor; `tie` puts one into its place that belongs to the list and its sort.
schemathesis.openapi.format("cursor", strategies.text(LETTERS, min_size=8, max_size=40))


# ── Who calls ──────────────────────────────────────────────────────────────────────────────────


def schemes(context: Any) -> set[str]:
    """The names of the credentials that an operation takes."""
    return {name for each in context.operation.definition.raw["security"] for name in each}


def as_partner() -> bool:
    return os.environ["FUZZ_CALLER"] == "partner"


def by_key(context: Any) -> bool:
    """A partner reads by key, and writes by token where it can."""
    accepted = schemes(context)
    reads = context.operation.method.upper() == "GET"
    return as_partner() and "PartnerKey" in accepted and (reads or accepted == {"PartnerKey"})


def by_token(context: Any) -> bool:
    return as_partner() and not by_key(context)


def by_business_token(_context: Any) -> bool:
    return not as_partner()


class Bearer:
    """A token in the header; fetched anew long before it expires."""

    def set(self, case: Any, token: str, _context: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}


@schemathesis.auth(refresh_interval=None).apply_to(by_key)
class PartnerKey:
    """The partner id and the API key."""

    def get(self, _case: Any, _context: Any) -> str:
        pair = f"{seeds().partner_id}:{seeds().api_key}"
        return f"Basic {base64.b64encode(pair.encode()).decode()}"

    def set(self, case: Any, header: str, _context: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": header}


@schemathesis.auth(refresh_interval=1800).apply_to(by_token)
class PartnerToken(Bearer):
    """The partner's token."""

    def get(self, _case: Any, _context: Any) -> str:
        return partner_token()


@schemathesis.auth(refresh_interval=1800).apply_to(by_business_token)
class BusinessToken(Bearer):
    """A token of the one business, sent wherever it goes."""

    def get(self, _case: Any, _context: Any) -> str:
        address = f"/v1/platform/{seeds().business_id}/oauth2/token/"
        return token_from(address, headers={"Authorization": f"Bearer {partner_token()}"})


def partner_token() -> str:
    credentials = (seeds().partner_id, seeds().api_key)
    grant = {"grant_type": "client_credentials"}
    return token_from("/v1/platform/oauth2/token/", auth=credentials, data=grant)


def token_from(address: str, **request: Any) -> str:
    answer = requests.post(os.environ["FUZZ_URL"] + address, timeout=10, **request)
    answer.raise_for_status()
    return str(answer.json()["access_token"])


# ── Forms ──────────────────────────────────────────────────────────────────────────────────────


@schemathesis.serializer(FORM)
def write_form(context: Any, value: Any) -> bytes:
    """Write a form as the contract reads it, where what is nested is JSON text.

    Schemathesis spreads an object over the form and hands over what came of it; the body of the
    case is still whole.
    """
    body = context.case.body if isinstance(context.case.body, dict) else value
    if not isinstance(body, dict):
        return json.dumps(body).encode()
    pairs = [
        (name, part if isinstance(part, str) else json.dumps(part)) for name, part in body.items()
    ]
    return urlencode(pairs).encode()


# ── What DELETE means ──────────────────────────────────────────────────────────────────────────


@schemathesis.hook
def filter_failure(_context: Any, failure: Any, _case: Any, response: Any) -> bool:
    """Let an account be read after its DELETE, which archives it, as the specification has it."""
    if not isinstance(failure, UseAfterFree) or "/chart-of-accounts/" not in failure.operation:
        return True
    return "archived_at" not in response.json()


# ── Seeds ──────────────────────────────────────────────────────────────────────────────────────

numbers = count()
OF_SANDBOXES = ("update_business", "archive_business", "unarchive_business")
# The dictionaries reach the other two phases only.
SOWN = (TestPhase.EXAMPLES, TestPhase.COVERAGE)


@cache
def bindings(operation: str) -> dict[str, str]:
    """Which dictionary fills which value of an operation, by schemathesis.toml."""
    config = tomllib.loads(Path("schemathesis.toml").read_text("utf-8"))
    bound = dict(config["parameters"])
    for each in config["operations"]:
        if operation in each["include-operation-id"]:
            bound |= each["parameters"]
    return {place: binding["dictionary"] for place, binding in bound.items()}


def sow(operation: str, case: Any) -> None:
    """Lead what is valid of a case to what is there; each goes to another one."""
    for place, pool in bindings(operation).items():
        location, _, name = place.partition(".")
        part = ParameterLocation(location)
        if is_valid(case, part):
            values = seeds().pools[pool]
            value = values[next(numbers) % len(values)]
            fill(getattr(case, part.container_name), name.replace("[*]", ".*").split("."), value)


def fill(node: Any, path: list[str], value: str) -> None:
    """Put a value where a path such as `allocations.*.invoice_id` leads, if something is there."""
    name, *rest = path
    if name == "*" and isinstance(node, list):
        for part in node:
            fill(part, rest, value)
    elif isinstance(node, dict) and name in node:
        if rest:
            fill(node[name], rest, value)
        else:
            node[name] = value


def is_valid(case: Any, location: ParameterLocation) -> bool:
    """Whether this part of a case is meant to be valid."""
    part = case.meta.components.get(location)
    return part is None or part.mode.is_positive


# ── Ties ───────────────────────────────────────────────────────────────────────────────────────

LARGEST_INTEGER = 2**53 - 1
LONGEST = {"external_id": 255, "invoice_number": 100, "code": 50}
ETAG = re.compile(r'\*|(W/)?"[0-9]{1,19}"')
CURRENCY = "GBP"


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Lead a case to what is there, and tie up one that is meant to be valid."""
    if case.meta is None:
        return
    name = case.operation.definition.raw["operationId"]
    if case.meta.phase.name in SOWN:
        sow(name, case)
    # Whatever is learned from answers: the one business that all others write into stays open.
    if name in OF_SANDBOXES and case.path_parameters["business_id"] == seeds().business_id:
        case.path_parameters["business_id"] = seeds().pools["sandboxes"][0]
    if not case.meta.generation.mode.is_positive:
        return
    # By the case and not by lot: drawn again, the same case is to be answered the same.
    drawn = repr((case.path_parameters, case.query, case.body)).encode()
    mostly = case.meta.phase.name is TestPhase.EXAMPLES or crc32(drawn) % 4 > 0
    tie_headers(case.headers, mostly=mostly)
    tie_query(name, case.query or {})
    if isinstance(case.body, dict):
        case.body = storable(case.body)
        TIES.get(name, leave)(case, case.body)
        if mostly:
            tie_money(case.body)
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


def tie_query(name: str, query: dict[str, Any]) -> None:
    """A cursor belongs to its list and sort; year and month of a period come together."""
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
    if isinstance(value, int | float) and abs(value) > LARGEST_INTEGER:
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
}


# ── What most requests also heed, so that they get behind the refusals ─────────────────────────


def tie_money(body: dict[str, Any]) -> None:
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


def leave_out(body: dict[str, Any], *names: str) -> None:
    for name in names:
        body.pop(name, None)


MOSTLY = {
    "update_business": keep_identity,
    "create_invoice": name_customer_once,
    "replace_invoice": name_customer_once,
    "create_invoice_payment": allocate_little,
    "replace_invoice_payment": allocate_little,
    "update_invoice_payment": allocate_little,
    "create_account": keep_kind,
    "create_child_account": take_kind,
}
