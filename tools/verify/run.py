"""A run against one deployment: authentication, journeys, generated requests and clean-up."""

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Final
from uuid import uuid4

import httpx

from tools.verify.answers import Answers
from tools.verify.contract import Contract, Node
from tools.verify.journeys import JOURNEYS, ledger, period_close
from tools.verify.report import Check, Report
from tools.verify.story import V1, Caller, JourneyStopped, Story, checked
from tools.verify.wire import Secrets, Wire

CONTRACT_AT: Final = "/openapi.json"
ANSWER_SECONDS: Final = 30.0
GRANT: Final[Mapping[str, str]] = MappingProxyType({"grant_type": "client_credentials"})


class CannotVerify(Exception):
    """A run that cannot start; the message gives the reason to an operator."""


@dataclass(frozen=True, slots=True)
class Options:
    """The settings of a run.

    `url` is scheme, host and port. Half of the `examples` per operation are valid; with 0 no
    requests are generated. Generating stops after `seconds`.
    """

    url: str
    partner_id: str
    api_key: str
    examples: int = 8
    seconds: float = 75.0


def verify(asked: Options, tell: Callable[[Check], object]) -> Report:
    """Verify a deployment and return the report; raises CannotVerify if it cannot start."""
    with httpx.Client(base_url=asked.url, timeout=ANSWER_SECONDS) as http:
        contract = read_contract(http)
        report = Report(asked.url, contract.version, version("accounting-platform"), tell)
        if contract.version != report.tool_version:
            report.warnings.append(
                f"The deployment serves version {contract.version} of the contract, and this is"
                f" accounting {report.tool_version}: answers are judged by the former, and the"
                " journeys are those of the latter."
            )
        wire = Wire(http, Answers(contract), Secrets(asked.api_key))
        partner = admitted(wire, asked)
        with suppress(JourneyStopped):
            _tell_stories(begin(partner, contract, report), asked)
        return report


def read_contract(http: httpx.Client) -> Contract:
    """Return the contract that a deployment serves; raises CannotVerify if there is none."""
    try:
        answer = http.get(CONTRACT_AT)
        answer.raise_for_status()
        return Contract(answer.json())
    except (httpx.RequestError, httpx.HTTPStatusError) as error:
        raise CannotVerify(f"No contract can be read there: {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CannotVerify(f"What is at {CONTRACT_AT} there is no contract.") from error


def admitted(wire: Wire, asked: Options) -> Caller:
    """Get a partner token for the API key; raises CannotVerify if the key is rejected."""
    key = httpx.BasicAuth(asked.partner_id, asked.api_key)
    request = wire.http.build_request("POST", f"{V1}oauth2/token/", data=dict(GRANT))
    try:
        answer = wire.send(next(key.auth_flow(request)))
        body = answer.json()
    except (httpx.RequestError, ValueError) as error:
        raise CannotVerify(f"No token can be had there: {error}") from error
    if answer.status_code != 200:
        told = body.get("message") if isinstance(body, dict) else None
        raise CannotVerify(f"The credentials are refused with {answer.status_code}: {told}")
    return Caller(wire, V1, f"Bearer {body['access_token']}")


def begin(partner: Caller, contract: Contract, report: Report) -> Story:
    """Create the two businesses of a run; raises Stopped if this fails."""
    wire = partner.wire
    with checked(wire, report, "access", "a business is made, and one beside it"):
        made = [_business(partner, name) for name in ("", ", next door")]
        report.business_ids += [each["id"] for each in made]
        books, neighbour = (_books(partner, each["id"]) for each in made)
    return Story(wire, contract, report, partner, books, neighbour, Caller(wire, V1, None))


def _business(partner: Caller, more: str) -> Node:
    """Create a business with a name that shows its purpose."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.gmtime())
    return partner.post(
        "businesses/",
        {
            "external_id": f"accounting-verify-{uuid4()}",
            "legal_name": f"accounting verify {at}{more}",
            "entity_type": "limited",
            "email": "verify@example.com",
            "country": "GB",
        },
    )


def _books(partner: Caller, business_id: str) -> Caller:
    token: Any = partner.post(f"{business_id}/oauth2/token/", expected=200)["access_token"]
    return Caller(partner.wire, f"{V1}businesses/{business_id}/", f"Bearer {token}")


def _tell_stories(story: Story, asked: Options) -> None:
    """Run all journeys and the generated requests; one that stops does not stop the others."""
    for tell in JOURNEYS.values():
        with suppress(JourneyStopped):
            tell(story)
    if asked.examples:
        from tools.verify.generated import JOURNEY, try_operations

        with suppress(JourneyStopped):
            examples = (asked.examples + 1) // 2
            try_operations(story, examples=examples, seconds=asked.seconds)
            ledger.prove(story, JOURNEY)
    for tell in (period_close.lock, period_close.archive):
        with suppress(JourneyStopped):
            tell(story)
