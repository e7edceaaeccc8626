"""What Schemathesis cannot read from the contract: who calls, which texts a format means, and ties.

A tie is what two values of one request owe each other and a schema cannot say: a cursor fits its
sort, a legal form its country. Only cases that are meant to be valid are tied up; what is meant
to be invalid goes out as it was made.
"""

import base64
import json
import os
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import requests
import schemathesis
from hypothesis import strategies
from stdnum import iban

from accounting.businesses import ENTITY_TYPES
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


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Tie up the values of a request that is meant to be valid."""
    if case.meta is not None and case.meta.generation.mode.is_positive:
        tie(case)


def tie(case: Any) -> None:
    name = case.operation.definition.raw["operationId"]
    query = case.query or {}
    if "cursor" in query:
        query["cursor"] = seeds().cursors[name][query.get("sort", "")]
    if isinstance(case.body, dict) and name in TIES:
        TIES[name](case, case.body)


def tie_partner(_case: Any, body: dict[str, Any]) -> None:
    """A client id is the caller's own."""
    if "client_id" in body:
        body["client_id"] = seeds().partner_id


def tie_new_business(_case: Any, body: dict[str, Any]) -> None:
    """A legal form is one of its country."""
    forms = ENTITY_TYPES.get(body.get("country", "GB").upper())
    if forms:
        body["entity_type"] = sorted(forms)[len(body["entity_type"]) % len(forms)]


TIES = {
    "issue_partner_token": tie_partner,
    "create_business": tie_new_business,
}
