"""What Schemathesis cannot read from the contract: which texts a format means, and who calls."""

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
from tests.fuzz.forms import FORM, MULTIPART, is_right_as_text, read_as_texts
from tests.fuzz.sowing import seeds, sow
from tests.fuzz.ties import tie
from tools.verify.formats import teach

# ── Formats ────────────────────────────────────────────────────────────────────────────────────

teach()
schemathesis.openapi.format("byte", files.base64_text)
schemathesis.openapi.format("binary", files.binary)


@schemathesis.deserializer("application/pdf")
def read_pdf(_context: Any, response: Any) -> str:
    """Read a PDF as the text of its bytes, which the contract says that it is."""
    if not response.content.startswith(b"%PDF-"):
        raise ValueError("no PDF")
    return str(response.content.decode("latin-1"))


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
    answer = requests.post(os.environ["FUZZ_URL"] + address, timeout=60, **request)
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


def write_multipart(context: SerializationContext, value: Any) -> dict[str, Any]:
    """Write a multipart form as Schemathesis does, with files as bytes."""
    name = context.case.operation.definition.raw["operationId"]
    written: dict[str, Any] = multipart_serializer(context, files.on_the_wire(name, value))
    return written


register_serializer(write_multipart, MULTIPART)


# ── What is no failure ─────────────────────────────────────────────────────────────────────────


@schemathesis.hook
def filter_failure(_context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Let pass what a form cannot say, and let be read what stays after its DELETE.

    As the contract has it, accounts and tax codes are archived by that until they are changed back,
    and a refund is cancelled.
    """
    if isinstance(failure, AcceptedNegativeData):
        return not is_right_as_text(case)
    if not isinstance(failure, UseAfterFree):
        return True
    operation = str(failure.operation)
    if "/chart-of-accounts/" in operation or "/tax-codes/" in operation:
        return False
    return "/invoices/refunds/" not in operation or response.json().get("status") != "cancelled"


# ── Walks ──────────────────────────────────────────────────────────────────────────────────────

mutate = ConjectureRunner.generate_mutations_from


def mutate_unless_walking(runner: Any, data: Any) -> None:
    """Let no walk be walked again with a change in it.

    Hypothesis expects the same answers as before on the way to the change, and books have moved on:
    an invoice that was sent is refused to be sent again. It would take that for a fault of the walk
    and end the phase after a few, without a word.
    """
    if runner._test_function.__self__.test.__name__ != "run_state_machine":
        mutate(runner, data)


ConjectureRunner.generate_mutations_from = mutate_unless_walking


# ── Every request ──────────────────────────────────────────────────────────────────────────────


@schemathesis.hook
def before_call(_context: Any, case: Any, kwargs: dict[str, Any]) -> None:
    """Lead a case to what is there, and tie up one that is meant to be valid."""
    if case.meta is None:
        return
    name = case.operation.definition.raw["operationId"]
    if case.media_type == MULTIPART and isinstance(case.body, dict):
        read_as_texts(case.body)
    sow(name, case)
    if case.meta.generation.mode.is_positive:
        tie(name, case)
