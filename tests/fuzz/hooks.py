"""What Schemathesis cannot read from the contract: who calls, which texts a format means, and ties.

A tie is what two values of one request owe each other and a schema cannot say: a cursor fits its
sort, a legal form its country. Only cases that are meant to be valid are tied up; what is meant
to be invalid goes out as it was made.
"""

import base64
import json
import os
import re
from datetime import date, datetime
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import uuid4

import requests
import schemathesis
from hypothesis import strategies
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


schemathesis.openapi.format(
    "email", strategies.builds("{}@{}.example.com".format, words, words)
)
schemathesis.openapi.format(
    "iban", strategies.one_of(digits.map(german_iban), strategies.just("GB33 BUKB 2020 1555 5555 55"))
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


# ── The contract's story, told with the ids of this house ──────────────────────────────────────


@schemathesis.hook
def before_load_schema(_context: Any, raw_schema: dict[str, Any]) -> None:
    """Put living ids into the contract's examples."""
    text = json.dumps(raw_schema)
    for told, real in seeds().story.items():
        text = text.replace(told, real)
    raw_schema.update(json.loads(text))


# ── Forms ──────────────────────────────────────────────────────────────────────────────────────


@schemathesis.serializer(FORM)
def write_form(_context: Any, value: Any) -> bytes:
    """Write a form as the contract reads it: what is nested is JSON text."""
    if not isinstance(value, dict):
        return json.dumps(value).encode()
    pairs = [(name, part if isinstance(part, str) else json.dumps(part)) for name, part in value.items()]
    return urlencode(pairs).encode()


# ── Ties ───────────────────────────────────────────────────────────────────────────────────────

numbers = count()
LARGEST_INTEGER = 2**53 - 1
ETAG = re.compile(r'\*|(W/)?"[0-9]{1,19}"')
CURRENCY = "GBP"
OF_SANDBOXES = ("update_business", "archive_business", "unarchive_business")


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Tie up the values of a request that is meant to be valid."""
    name = case.operation.definition.raw["operationId"]
    # Whatever is learned from answers: the one business that all others write into stays open.
    if name in OF_SANDBOXES and case.path_parameters.get("business_id") == seeds().business_id:
        case.path_parameters["business_id"] = seeds().pools["sandboxes"][0]
    if case.meta is None or not case.meta.generation.mode.is_positive:
        return
    tie_headers(case.headers)
    tie_query(name, case.query or {})
    if isinstance(case.body, dict):
        case.body = storable(case.body)
        tie_currency(case.body)
        TIES.get(name, leave)(case.body)


def tie_headers(headers: Any) -> None:
    """Most requests have a key of their own; the others repeat one, as a key is meant for."""
    if "Idempotency-Key" in headers and next(numbers) % 4:
        headers["Idempotency-Key"] = f"key-{uuid4()}"
    # Most name any version, the others one that may have passed. What has quotes in it, the
    # coverage phase sends as a bare 0 and calls valid.
    if "If-Match" in headers and (next(numbers) % 4 or not ETAG.fullmatch(headers["If-Match"])):
        headers["If-Match"] = "*"


def tie_query(name: str, query: dict[str, Any]) -> None:
    """A cursor belongs to its list and sort; year and month of a period come together."""
    if "cursor" in query:
        query["cursor"] = seeds().cursors[name][query.get("sort", "")]
    if "period_year" in query or "period_month" in query:
        query.setdefault("period_year", 2026)
        query.setdefault("period_month", 7)


def storable(value: Any) -> Any:
    """A free JSON value without what JSON readers do not agree on: large integers, U+0000."""
    if isinstance(value, dict):
        return {storable(name): storable(part) for name, part in value.items()}
    if isinstance(value, list):
        return [storable(part) for part in value]
    if isinstance(value, str):
        return value.replace("\0", "")
    if isinstance(value, int | float) and abs(value) > LARGEST_INTEGER:
        return LARGEST_INTEGER
    return value


def tie_currency(body: dict[str, Any]) -> None:
    """A business has one currency; now and then a request comes with another one."""
    if "currency" in body and next(numbers) % 4:
        body["currency"] = CURRENCY


def leave(_body: dict[str, Any]) -> None:
    """Nothing in this body hangs on anything else."""


def tie_partner(body: dict[str, Any]) -> None:
    """A client id is the caller's own."""
    if "client_id" in body:
        body["client_id"] = seeds().partner_id


def tie_new_business(body: dict[str, Any]) -> None:
    """A legal form is one of its country."""
    forms = sorted(ENTITY_TYPES.get(body.get("country", "").upper(), ()))
    if forms:
        body["entity_type"] = forms[len(body["entity_type"]) % len(forms)]


def tie_business(body: dict[str, Any]) -> None:
    """Where the country is not in the request, the legal form is one of a sandbox."""
    if "entity_type" in body:
        body["entity_type"] = "limited"


def tie_customer(body: dict[str, Any]) -> None:
    """One of the two names stays when the other one goes."""
    if None in (body.get("company_name", ""), body.get("individual_name", "")):
        body["company_name"] = "Blue Door Bakery"


def tie_allocations(body: dict[str, Any]) -> None:
    """An invoice stands in a list once, and most amounts are small enough."""
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
