"""An httpx client that retries requests where that is safe, and raises errors as exceptions."""

import random
import re
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NoReturn
from uuid import uuid4

import httpx

from accounting_sdk.core.api import KEYED
from accounting_sdk.errors import KEY, no_answer, refusal, said

TOKEN_PATH: Final = "/oauth2/token/"
API_PATH: Final = "/v1/platform/"
TAKES_KEY: Final = re.compile("|".join(re.sub(r"{\w+}", "[^/]+", each) for each in KEYED))
# Statuses that leave open whether a write was executed: the service is busy, or a proxy lost its
# connection to it.
UNKNOWN: Final = frozenset({502, 503, 504})
LOST: Final = (
    httpx.TimeoutException,
    httpx.NetworkError,
    httpx.RemoteProtocolError,
    httpx.ProxyError,
)
NEVER_SENT: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)

Outcome = httpx.Response | httpx.TransportError


@dataclass(frozen=True, slots=True)
class Retries:
    """The retry policy: the number of attempts, and the seconds within which they start.

    The wait before a retry is `first_wait` seconds, doubled each time up to `longest_wait`, and
    randomly shortened by up to half. It is longer if `Retry-After` asks for it.
    """

    attempts: int = 5
    seconds: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 8.0

    def wait(self, attempt: int, outcome: Outcome) -> float:
        """Return the seconds to wait after an attempt; the first attempt is 1."""
        usual = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return max(usual / 2, asked_wait(outcome)) + random.uniform(0, usual / 2)


USUAL: Final = Retries()


class Session(httpx.Client):
    """An httpx client that sends each write that takes an `Idempotency-Key` with one, the same for
    all its retries.

    `options` are arguments of httpx.Client. A request with Retries as its extension "retries" has
    these in place of those of the session. Raises AccountingError for an error response or if
    there is no response.
    """

    def __init__(self, retries: Retries, **options: Any) -> None:
        super().__init__(**options)
        self._retries = retries

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request; retry until it succeeds, fails permanently or has no retries left."""
        give_key(request)
        retries: Retries = request.extensions.get("retries", self._retries)
        give_up_at = time.monotonic() + retries.seconds
        attempt = 1
        while True:
            outcome = self._outcome(request, **options)
            if isinstance(outcome, httpx.Response) and not outcome.is_error:
                return outcome
            wait = retries.wait(attempt, outcome)
            spent = attempt >= retries.attempts or time.monotonic() + wait > give_up_at
            if spent or not may_repeat(request, outcome):
                raise_for(request, outcome)
            time.sleep(wait)
            attempt += 1

    def _outcome(self, request: httpx.Request, **options: Any) -> Outcome:
        try:
            response = super().send(request, **options)
            if response.is_error:
                response.read()
        except LOST as error:
            return error
        return response


def give_key(request: httpx.Request) -> None:
    """Set an `Idempotency-Key` on a request that takes one and has none."""
    if takes_key(request):
        request.headers.setdefault(KEY, str(uuid4()))


def takes_key(request: httpx.Request) -> bool:
    """Return whether its operation takes an `Idempotency-Key`; another would ignore it."""
    _, start, rest = request.url.path.partition(API_PATH)
    return TAKES_KEY.fullmatch(f"{request.method} {start}{rest}") is not None


def asks_for_token(request: httpx.Request) -> bool:
    """Return whether a request asks for a token, which is safe to repeat."""
    return request.url.path.endswith(TOKEN_PATH)


def may_repeat(request: httpx.Request, outcome: Outcome) -> bool:
    """Return whether a retry is safe: the request had no effect, or a repeat has none."""
    if isinstance(outcome, NEVER_SENT):
        return True
    if isinstance(outcome, httpx.Response):
        if outcome.status_code == 429 or is_in_progress(outcome):
            return True
        if outcome.status_code not in UNKNOWN:
            return False
    return request.method in ("GET", "HEAD") or takes_key(request) or asks_for_token(request)


def is_in_progress(response: httpx.Response) -> bool:
    """Return whether the response reports that the same write is already in progress."""
    code = said(response).get("error_code") if response.status_code == 409 else None
    return code == "idempotency_in_progress"


def asked_wait(outcome: Outcome) -> float:
    """Return the seconds that `Retry-After` asks for, as a number or as a date; 0 without one."""
    asked = outcome.headers.get("Retry-After", "") if isinstance(outcome, httpx.Response) else ""
    if asked.isdecimal():
        return float(asked)
    try:
        return max(0.0, (parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds())
    except (TypeError, ValueError):
        return 0.0


def raise_for(request: httpx.Request, outcome: Outcome) -> NoReturn:
    """Raise the exception for the last outcome of a call that failed."""
    if isinstance(outcome, httpx.Response):
        raise refusal(request, outcome)
    raise no_answer(request, outcome) from outcome
