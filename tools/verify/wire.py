"""The HTTP connection to a deployment: it checks every answer, and masks secrets in reports."""

import re
from typing import Final

import httpx

from tools.verify.answers import Answers
from tools.verify.report import Fault

TELLING: Final = 2_000  # The most characters of a body in a report.
TOLD_HEADERS: Final = (  # None contains a credential.
    "Content-Type",
    "Idempotency-Key",
    "If-Match",
    "ETag",
    "Location",
    "Idempotent-Replayed",
    "Retry-After",
    "X-Request-ID",
)
_TOKEN: Final = re.compile(r"eyJ[\w-]+\.[\w-]+\.[\w-]+")
_BEARER: Final = re.compile(r'("access_token"\s*:\s*")[^"]+')


class Secrets:
    """Secrets that must not appear in reports, where they become `***`."""

    def __init__(self, *known: str) -> None:
        self._known = [text for text in known if text]

    def masked(self, text: str) -> str:
        """Replace all known secrets, and everything that looks like a token, by `***`."""
        for secret in self._known:
            text = text.replace(secret, "***")
        return _TOKEN.sub("***", _BEARER.sub(r"\1***", text))


class Wire:
    """A sender of requests to one deployment, which records the faults of the answers.

    `faults` has those since the check began, `last` the last answer, or the last request if it had
    no answer.
    """

    def __init__(self, http: httpx.Client, answers: Answers, secrets: Secrets) -> None:
        self.http = http
        self._answers = answers
        self._secrets = secrets
        self.faults: list[Fault] = []
        self.last: httpx.Response | httpx.Request | None = None

    def begin(self) -> None:
        """Clear the faults of the previous check."""
        self.faults = []
        self.last = None

    def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request and check the answer; raises httpx.RequestError if there is none."""
        self.last = request
        response = self.http.send(request)
        self.last = response
        judgement = self._answers.judge(response)
        for what in judgement.faults if judgement else ():
            self.blame(what)
        return response

    def blame(self, what: str) -> None:
        """Record a fault, with the last request and answer."""
        told = self._secrets.masked
        last = self.last
        request = last.request if isinstance(last, httpx.Response) else last
        self.faults.append(
            Fault(
                told(what),
                told(_of_request(request)) if request else "",
                told(_of_answer(last)) if isinstance(last, httpx.Response) else "",
            )
        )


def _of_request(request: httpx.Request) -> str:
    return _told(f"{request.method} {request.url}", request.headers, request.content)


def _of_answer(response: httpx.Response) -> str:
    head = f"{response.status_code} {response.reason_phrase}"
    return _told(head, response.headers, response.content)


def _told(head: str, headers: httpx.Headers, body: bytes) -> str:
    text = body.decode("utf-8", "replace")
    kept = text if len(text) <= TELLING else f"{text[:TELLING]} ... ({len(text)} characters)"
    lines = [f"{name}: {headers[name]}" for name in TOLD_HEADERS if name in headers]
    return "\n".join([head, *lines, *([kept] if kept else [])])
