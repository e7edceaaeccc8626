"""Hooks of Schemathesis: meanings of formats, credentials, forms, and failures to ignore."""

import base64
import json
import os
from typing import Any
from urllib.parse import urlencode

import requests
import schemathesis
from hypothesis.internal.conjecture.engine import ConjectureRunner
from schemathesis.core.failures import AcceptedNegativeData
from schemathesis.openapi.checks import UseAfterFree
from schemathesis.transport import SerializationContext, register_serializer
from schemathesis.transport.requests import multipart_serializer

from tests.fuzz import files
from tests.fuzz.dictionaries import seeds, sow
from tests.fuzz.forms import (
    FORM,
    MULTIPART,
    is_right_as_text,
    leave_out_nulls,
    read_as_texts,
)
from tests.fuzz.ties import tie
from tools.verify.formats import teach
from tools.verify.omissions import may_omit_fields

# ── Formats ────────────────────────────────────────────────────────────────────────────────────

teach()
schemathesis.openapi.format("byte", files.base64_text)
schemathesis.openapi.format("binary", files.binary)


@schemathesis.deserializer("application/pdf")
def read_pdf(_context: Any, response: Any) -> str:
    """Return a PDF as the text of its bytes, as the contract describes it."""
    if not response.content.startswith(b"%PDF-"):
        raise ValueError("no PDF")
    return str(response.content.decode("latin-1"))


# ── Credentials ────────────────────────────────────────────────────────────────────────────────


def schemes(context: Any) -> set[str]:
    """Return the names of the credentials that an operation accepts."""
    return {name for each in context.operation.definition.raw["security"] for name in each}


def as_partner() -> bool:
    return os.environ["FUZZ_CALLER"] == "partner"


def by_key(context: Any) -> bool:
    """Return whether a partner sends its key: for reads, and where no token is accepted."""
    accepted = schemes(context)
    reads = context.operation.method.upper() == "GET"
    return as_partner() and "PartnerKey" in accepted and (reads or accepted == {"PartnerKey"})


def by_token(context: Any) -> bool:
    return as_partner() and not by_key(context)


def by_business_token(_context: Any) -> bool:
    return not as_partner()


class Bearer:
    """A token in the header, fetched anew long before it expires."""

    def set(self, case: Any, token: str, _context: Any) -> None:
        case.headers = {**(case.headers or {}), "Authorization": f"Bearer {token}"}


@schemathesis.auth(refresh_interval=None).apply_to(by_key)
class PartnerKey:
    """The partner ID and the API key."""

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
    """A token of the business, sent to every address."""

    def get(self, _case: Any, _context: Any) -> str:
        address = f"/v1/platform/{seeds().business_id}/oauth2/token/"
        return token_from(address, headers={"Authorization": f"Bearer {partner_token()}"})


def partner_token() -> str:
    credentials = (seeds().partner_id, seeds().api_key)
    grant = {"grant_type": "client_credentials"}
    return token_from("/v1/platform/oauth2/token/", auth=credentials, data=grant)


def token_from(address: str, **request: Any) -> str:
    answer = requests.post(os.environ["FUZZ_URL"] + address, timeout=60, **request)
    answer.raise_for_status()
    return str(answer.json()["access_token"])


# ── Forms ──────────────────────────────────────────────────────────────────────────────────────


@schemathesis.serializer(FORM)
def write_form(context: Any, value: Any) -> bytes:
    """Encode a form as the contract describes it, with nested values as JSON text.

    Schemathesis spreads an object over several fields in `value`; the body of the case is
    unchanged.
    """
    body = context.case.body if isinstance(context.case.body, dict) else value
    if not isinstance(body, dict):
        return json.dumps(body).encode()
    pairs = [
        (name, part if isinstance(part, str) else json.dumps(part)) for name, part in body.items()
    ]
    return urlencode(pairs).encode()


def write_multipart(context: SerializationContext, value: Any) -> dict[str, Any]:
    """Encode a multipart form as Schemathesis does, with files as bytes."""
    name = context.case.operation.definition.raw["operationId"]
    written: dict[str, Any] = multipart_serializer(context, files.on_the_wire(name, value))
    return written


register_serializer(write_multipart, MULTIPART)


# ── Failures to ignore ─────────────────────────────────────────────────────────────────────────


@schemathesis.hook
def filter_failure(_context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Return whether a failure counts.

    Invalid values that a form cannot express do not count, nor values that omit a field. Neither do
    records that remain readable after their DELETE: it archives accounts and tax codes, and cancels
    a refund.
    """
    if isinstance(failure, AcceptedNegativeData):
        return not (is_right_as_text(case) or may_omit_fields(case.path, case.body))
    if not isinstance(failure, UseAfterFree):
        return True
    operation = str(failure.operation)
    if "/chart-of-accounts/" in operation or "/tax-codes/" in operation:
        return False
    return "/invoices/refunds/" not in operation or response.json().get("status") != "cancelled"


# ── Walks ──────────────────────────────────────────────────────────────────────────────────────

mutate = ConjectureRunner.generate_mutations_from


def mutate_unless_walking(runner: Any, data: Any) -> None:
    """Change an input of Hypothesis, unless it is a walk over links.

    Hypothesis expects the earlier answers up to the change, but the books have moved on: an invoice
    cannot be sent twice. It would report the walk as flaky and end the phase early without a
    message.
    """
    if runner._test_function.__self__.test.__name__ != "run_state_machine":
        mutate(runner, data)


ConjectureRunner.generate_mutations_from = mutate_unless_walking


# ── Every request ──────────────────────────────────────────────────────────────────────────────


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Put existing records into a case, and make a case valid if it should be."""
    if case.meta is None:
        return
    name = case.operation.definition.raw["operationId"]
    if case.media_type == MULTIPART and isinstance(case.body, dict):
        read_as_texts(case.body)
        if case.meta.generation.mode.is_positive:
            leave_out_nulls(case.body)
    sow(name, case)
    if case.meta.generation.mode.is_positive:
        tie(name, case)
