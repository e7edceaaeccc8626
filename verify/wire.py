"""How a deployment is called: every answer is judged, and no secret is told."""

import re
from typing import Final

import httpx

from verify.answers import Answers
from verify.report import Fault

TELLING: Final = 2_000  # Characters of a body.
TOLD_HEADERS: Final = (  # None holds a credential.
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
    """What must not be told, and writes it as `***`."""

    def __init__(self, *known: str) -> None:
        self._known = [text for text in known if text]

    def masked(self, text: str) -> str:
        """Leave out all secrets, and whatever is a token."""
        for secret in self._known:
            text = text.replace(secret, "***")
        return _TOKEN.sub("***", _BEARER.sub(r"\1***", text))


class Wire:
    """Sends requests to one deployment, and notes what is wrong with the answers.

    `faults` are those since the check began, `last` is the answer that came last.
    """

    def __init__(self, http: httpx.Client, answers: Answers, secrets: Secrets) -> None:
        self.http = http
        self._answers = answers
        self._secrets = secrets
        self.faults: list[Fault] = []
        self.last: httpx.Response | httpx.Request | None = None

    def begin(self) -> None:
        """Forget what the check before has found."""
        self.faults = []
        self.last = None

    def send(self, request: httpx.Request) -> httpx.Response:
        """Send a request and judge the answer; raises httpx.RequestError where none comes."""
        self.last = request
        response = self.http.send(request)
        self.last = response
        judgement = self._answers.judge(response)
        for what in judgement.faults if judgement else ():
            self.blame(what)
        return response

    def blame(self, what: str) -> None:
        """Note a fault of the last answer."""
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
