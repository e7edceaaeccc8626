"""Tools of the journeys: callers, checks and expectations."""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final
from uuid import uuid4

import httpx

from tools.verify.contract import Contract, Node
from tools.verify.report import Check, Report
from tools.verify.wire import Wire

V1: Final = "/v1/platform/"
KEY: Final = "Idempotency-Key"


class UnexpectedAnswer(Exception):
    """A failed expectation; the message describes it."""


class JourneyStopped(Exception):
    """The end of a journey, because a failed check leaves nothing to continue with."""


@dataclass(frozen=True, slots=True)
class Caller:
    """A client for the paths below `base`, with one credential.

    It sends each write with a new `Idempotency-Key`.
    """

    wire: Wire
    base: str
    authorization: str | httpx.Auth | None

    def call(
        self,
        method: str,
        path: str,
        *,
        expected: int,
        headers: Mapping[str, str] | None = None,
        **options: Any,
    ) -> httpx.Response:
        """Send one request; raises Unexpected if the answer has another status."""
        sent = {KEY: str(uuid4())} if method in ("POST", "PUT", "PATCH") else {}
        auth = self.authorization
        if isinstance(auth, str):
            sent["Authorization"] = auth
        sent.update(headers or {})
        http = self.wire.http
        request = http.build_request(method, f"{self.base}{path}", headers=sent, **options)
        if isinstance(auth, httpx.Auth):
            request = next(auth.auth_flow(request))
        response = self.wire.send(request)
        if response.status_code != expected:
            raise UnexpectedAnswer(
                f"Status {expected} was expected, and {response.status_code} came."
            )
        return response

    def get(self, path: str, *, expected: int = 200, **query: Any) -> Node:
        """Read a JSON object."""
        return _object(self.call("GET", path, expected=expected, params=query or None))

    def post(
        self, path: str, body: Node | None = None, *, expected: int = 201, **more: Any
    ) -> Node:
        """Create a record, or perform an action; return the JSON of the answer."""
        sent = {} if body is None else {"json": body}
        return _object(self.call("POST", path, expected=expected, **sent, **more))

    def refused(self, method: str, path: str, expected: int, code: str, **options: Any) -> Node:
        """Send a request that must be rejected with this status and code; return the error."""
        refusal = _object(self.call(method, path, expected=expected, **options))
        same("error_code", refusal["error_code"], code)
        return refusal

    def walk(self, path: str, **query: Any) -> list[Node]:
        """Return all items of a list, page by page with cursors."""
        found: list[Node] = []
        cursor: str | None = None
        while True:
            asked = {**query, **({"cursor": cursor} if cursor else {})}
            page = self.get(path, **{"page_size": 100, **asked})
            found += page["results"]
            cursor = page["page_info"]["next_cursor"]
            if cursor is None:
                return found


@dataclass(frozen=True, slots=True)
class Story:
    """A run: the partner, the two businesses that it created, and the report."""

    wire: Wire
    contract: Contract
    report: Report
    partner: Caller
    books: Caller
    neighbour: Caller
    stranger: Caller  # Without credentials.

    @contextmanager
    def check(self, journey: str, name: str) -> Iterator[None]:
        """Record the faults of the block as a check; raises Stopped if an expectation fails."""
        with checked(self.wire, self.report, journey, name):
            yield


@contextmanager
def checked(wire: Wire, report: Report, journey: str, name: str) -> Iterator[None]:
    """Record the faults of the block as a check; raises Stopped if an expectation fails."""
    wire.begin()
    begun = time.monotonic()
    stopped = True
    try:
        yield
        stopped = False
    except UnexpectedAnswer as error:
        wire.blame(str(error))
    except httpx.RequestError as error:
        wire.blame(str(no_answer(error)))
    except (KeyError, IndexError, TypeError, ValueError) as error:
        wire.blame(f"The answer has not what was looked for in it: {type(error).__name__}: {error}")
    report.add(Check(journey, name, round(time.monotonic() - begun, 3), tuple(wire.faults)))
    if stopped:
        raise JourneyStopped


def no_answer(error: httpx.RequestError) -> UnexpectedAnswer:
    """Return the failed expectation for a request without an answer."""
    return UnexpectedAnswer(f"No answer came: {type(error).__name__}: {error}")


def same(what: str, found: object, expected: object) -> None:
    """Raise Unexpected if a value is not the expected one."""
    if found != expected:
        raise UnexpectedAnswer(f"{what}: {expected!r} was expected, and {found!r} came.")


def _object(response: httpx.Response) -> Node:
    body = response.json()
    if not isinstance(body, dict):
        raise UnexpectedAnswer("The answer is no JSON object.")
    return body
