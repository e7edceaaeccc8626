"""An httpx client that repeats what may be repeated, and raises what is refused."""

import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NoReturn
from uuid import uuid4

import httpx

from accounting_sdk.errors import KEY, no_answer, refusal, said

TOKEN_PATH: Final = "/oauth2/token/"
# Answers that say nothing of what became of a write: the service is busy, or a proxy before it
# has lost its connection.
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
    """How often a call is sent in all, and up to how many seconds after the first time.

    Between two times it waits for `first_wait` seconds, then twice as long each time up to
    `longest_wait`, of which chance takes up to half; longer where `Retry-After` asks for it.
    """

    attempts: int = 5
    seconds: float = 60.0
    first_wait: float = 0.5
    longest_wait: float = 8.0

    def wait(self, attempt: int, outcome: Outcome) -> float:
        """Return the seconds to wait after an attempt, of which the first is 1."""
        usual = min(self.longest_wait, self.first_wait * 2.0 ** (attempt - 1))
        return max(usual / 2, asked_wait(outcome)) + random.uniform(0, usual / 2)


USUAL: Final = Retries()


class Session(httpx.Client):
    """Sends each write with an `Idempotency-Key`, the same one however often it is sent.

    `options` are httpx's. Raises AccountingError for what is refused or never answered.
    """

    def __init__(self, retries: Retries, **options: Any) -> None:
        super().__init__(**options)
        self._retries = retries

    def send(self, request: httpx.Request, **options: Any) -> httpx.Response:
        """Send a request until it is answered, refused for good, or has been sent too often."""
        give_key(request)
        give_up_at = time.monotonic() + self._retries.seconds
        attempt = 1
        while True:
            outcome = self._outcome(request, **options)
            if isinstance(outcome, httpx.Response) and not outcome.is_error:
                return outcome
            wait = self._retries.wait(attempt, outcome)
            spent = attempt >= self._retries.attempts or time.monotonic() + wait > give_up_at
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
    """Give a write a key of its own unless it has one; what asks for a token takes none."""
    if request.method in ("POST", "PUT", "PATCH") and not asks_for_token(request):
        request.headers.setdefault(KEY, str(uuid4()))


def asks_for_token(request: httpx.Request) -> bool:
    """Whether a request asks for a token, of which two do no harm."""
    return request.url.path.endswith(TOKEN_PATH)


def may_repeat(request: httpx.Request, outcome: Outcome) -> bool:
    """Whether a request may go out again: nothing was done, or doing it twice is doing it once."""
    if isinstance(outcome, NEVER_SENT):
        return True
    if isinstance(outcome, httpx.Response):
        if outcome.status_code == 429 or is_in_progress(outcome):
            return True
        if outcome.status_code not in UNKNOWN:
            return False
    return request.method in ("GET", "HEAD") or KEY in request.headers or asks_for_token(request)


def is_in_progress(response: httpx.Response) -> bool:
    """Whether the same write is under way already."""
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
    """Raise what is left of a call that may not or need not go on."""
    if isinstance(outcome, httpx.Response):
        raise refusal(request, outcome)
    raise no_answer(request, outcome) from outcome
