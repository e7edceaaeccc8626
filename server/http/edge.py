"""The outermost layer: request id, https only, limits, CORS, one shape of errors, one log line.

All code behind it may simply raise. It passes a request on only once that has an id, came over
https and is small enough.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from time import perf_counter
from typing import Any, Final
from urllib.parse import quote
from uuid import uuid4

import structlog
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from accounting.errors import ApiError, NotAllowed, Outage
from server.config.client_addresses import Network, address_of, is_loopback
from server.http import errors
from server.http.connexion_adapter import routed_operation_id
from server.http.errors import Answer, Headers
from server.http.health import LIVE, READY
from server.http.problems import MethodNotAllowed, PayloadTooLarge, RequestTimeout
from server.http.unsent_answers import PIECE_BYTES, UnsentAnswers
from server.telemetry import logs
from server.telemetry.request_watch import Watch, WatchedRequest

# CORS: the origins whose web pages may call the API, and the headers for browsers.

LOOPBACK_ORIGIN: Final = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?")
METHODS: Final = b"GET, HEAD, POST, PUT, PATCH, DELETE"
ALLOWED_HEADERS: Final = b"Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-ID"
EXPOSED_HEADERS: Final = (
    b"ETag, X-Request-ID, Idempotent-Replayed, Location, Retry-After, Deprecation, Sunset,"
    b" X-Data-As-Of, X-Event-Sequence, RateLimit, RateLimit-Policy"
)
PREFLIGHT_KEPT_SECONDS: Final = 600
VARY: Final = (b"vary", b"Origin")


@dataclass(frozen=True, slots=True)
class Origins:
    """The origins that may call: an explicit list, and in development every loopback origin."""

    allowed: frozenset[str] = frozenset()
    loopback: bool = False

    def allows(self, origin: str) -> bool:
        """Return whether pages of `origin`, written as `https://app.example`, may call."""
        return origin in self.allowed or (self.loopback and is_loopback_origin(origin))


def is_loopback_origin(origin: str) -> bool:
    """Return whether an origin is this machine, on any port."""
    return LOOPBACK_ORIGIN.fullmatch(origin) is not None


def headers_for(origins: Origins, request_headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the CORS headers of every answer to this request; only Vary if it is not allowed."""
    origin = allowed_origin(origins, request_headers)
    if origin is None:
        return [VARY]
    return [
        VARY,
        (b"access-control-allow-origin", origin),
        (b"access-control-expose-headers", EXPOSED_HEADERS),
    ]


def preflight_answer(
    origins: Origins, request_headers: Iterable[tuple[bytes, bytes]]
) -> Answer | None:
    """Return the answer to a preflight request; None if it is not a preflight that we allow."""
    lines = list(request_headers)
    if not any(name == b"access-control-request-method" for name, _ in lines):
        return None
    if allowed_origin(origins, lines) is None:
        return None
    headers = [
        (b"access-control-allow-methods", METHODS),
        (b"access-control-allow-headers", ALLOWED_HEADERS),
        (b"access-control-max-age", b"%d" % PREFLIGHT_KEPT_SECONDS),
    ]
    return Answer(204, headers, b"")


def allowed_origin(origins: Origins, lines: Iterable[tuple[bytes, bytes]]) -> bytes | None:
    """Return the Origin of a request if it is given once and allowed."""
    sent = [value for name, value in lines if name == b"origin"]
    if len(sent) == 1 and origins.allows(sent[0].decode("latin-1")):
        return sent[0]
    return None


# Rules for https: the requests that count as https, and plain requests that are still served.


@dataclass(frozen=True, slots=True)
class HttpsRule:
    """Trust in a TLS socket, in the header of a named proxy, and in loopback during development.

    The server in front of this rule must not rewrite scheme and client on its own: uvicorn runs
    with `proxy_headers=False`, because it would trust the last of several values.
    """

    proxies: tuple[Network, ...] = ()
    development: bool = False

    def is_https(self, scope: Scope) -> bool:
        """Return whether the client used https, to us or to a trusted proxy."""
        if scope.get("scheme") == "https":
            return True
        said = [value for name, value in scope["headers"] if name == b"x-forwarded-proto"]
        if len(said) != 1 or said[0].strip().lower() != b"https":
            return False
        peer = address_of(scope.get("client"))
        return peer is not None and any(peer in proxy for proxy in self.proxies)

    def permits_plain(self, scope: Scope) -> bool:
        """Return whether plain HTTP is served: in development, from loopback to loopback."""
        return (
            self.development
            and is_loopback(scope.get("client"))
            and is_loopback(scope.get("server"))
        )


# The common headers of every answer: the request id and the security headers.


REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
STANDING: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
)
# HTML pages have their own; everything else may be neither cached nor framed.
UNLESS_GIVEN: Final = (
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
HTTPS_ONLY: Final = (b"strict-transport-security", b"max-age=31536000; includeSubDomains")
NEVER_SENT: Final = frozenset({b"server"})


def request_id_of(request_headers: Iterable[tuple[bytes, bytes]]) -> str:
    """Return the `X-Request-ID` of the client if it is valid and given once, else a new id."""
    sent = [value for name, value in request_headers if name == b"x-request-id"]
    if len(sent) == 1 and REQUEST_ID.fullmatch(sent[0]):
        return sent[0].decode("ascii")
    return uuid4().hex


def sealed(headers: Iterable[tuple[bytes, bytes]], request_id: str, *, secure: bool) -> Headers:
    """Return the headers of an answer together with the common headers."""
    lines = [(name, value) for name, value in headers if name.lower() not in NEVER_SENT]
    given = {name.lower() for name, _ in lines}
    lines += [line for line in UNLESS_GIVEN if line[0] not in given]
    lines += STANDING
    lines.append((b"x-request-id", request_id.encode("ascii")))
    if secure:
        lines.append(HTTPS_ONLY)
    return lines


Page = Callable[[Scope], Awaitable[Answer]]
# Takes the path of the request without its trailing slash, and its scope; None if it has no page.
FindPage = Callable[[str, Scope], Awaitable[Page | None]]

API_PATHS: Final = "/v1/"  # All paths of the contract begin with it, and no page does.
PATH_LOGGED_CHARACTERS: Final = 200
# Load balancers and supervisors request these without TLS.
PLAIN: Final = frozenset({LIVE, READY})


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits on the size and arrival time of a body, and on the time to answer.

    The size is that of the largest upload, 10 MiB, with room for the other parts of its form;
    `server/http/validation.py` has smaller limits for JSON and forms. The time to answer starts
    after the headers or the last part of the body, and ends when the answer begins. Requests
    slower than `slow_seconds` are logged as warnings.
    """

    size_bytes: int = 11 * 1024 * 1024
    arrival_seconds: float = 15.0
    answer_seconds: float = 15.0
    slow_seconds: float = 1.0


class Edge:
    """The outermost ASGI layer; `find_page` serves addresses outside the contract, GET only."""

    def __init__(
        self,
        application: ASGIApp,
        *,
        https: HttpsRule,
        origins: Origins | None = None,
        find_page: FindPage | None = None,
        limits: Limits | None = None,
        watch: Watch | None = None,
        log: Any = None,
    ) -> None:
        self.application = application
        self.https = https
        self.origins = origins or Origins()
        self.find_page = find_page or nowhere
        self.limits = limits or Limits()
        self.watch = watch or Watch()
        self.unsent = UnsentAnswers()
        # Bound now: an unbound logger is bound anew for each line.
        self.log = log or structlog.get_logger("accounting.requests").bind()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; pass start-up and shutdown on."""
        if scope["type"] == "http":
            await Exchange(self, scope, receive, send).serve()
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await self.application(scope, receive, send)


class Exchange:
    """A request and its answer."""

    def __init__(self, edge: Edge, scope: Scope, receive: Receive, send: Send) -> None:
        self.edge = edge
        self.method: str = scope["method"]
        # HEAD is GET without a body. The server's own scope keeps the method HEAD.
        self.scope = {**scope, "method": "GET"} if self.method == "HEAD" else scope
        self.request_id = request_id_of(scope["headers"])
        self.scope["request_id"] = self.request_id
        self.secure = edge.https.is_https(scope)
        self.inbound = receive
        self.outbound = send
        self.began = perf_counter()
        self.complete_at: float | None = None  # When all of a large answer was there.
        self.status: int | None = None
        self.error_code: str | None = None
        self.size_bytes = 0
        self.arrived = not has_body(scope)
        self.arriving = False
        self.deadline = asyncio.timeout(edge.limits.answer_seconds)
        # Some answers may take longer: a page that must be rendered first, a feed that waits.
        self.scope["deadline"] = self.deadline

    async def serve(self) -> None:
        """Answer exactly once, whatever fails, and write the log line."""
        logs.request_id.set(self.request_id)
        watched = self.edge.watch.begin(self.request_id, self.scope["headers"])
        failure: Exception | None = None
        try:
            async with self.deadline:
                await self.admit()
        except ClientDisconnect:
            self.lose(watched, self.duration())
            return
        except Exception as error:
            if self.hung_up():
                self.lose(watched, self.duration())
                return
            failure = self.overdue(error) if self.deadline.expired() else error
            if self.status is None:
                await self.refuse(failure)
        self.record(watched, self.duration(), failure)

    def duration(self) -> float:
        """Return the seconds until now or, of a large answer, until the client began to read it."""
        return (self.complete_at or perf_counter()) - self.began

    def hung_up(self) -> bool:
        """Return whether the connection broke during an answer, so that writing it failed."""
        broken: Callable[[], bool] | None = self.scope.get("hung_up")
        return self.status is not None and broken is not None and broken()

    def overdue(self, error: Exception) -> ApiError:
        """Return the error for a missed deadline: of the body, or of our answer."""
        if self.arriving:
            return RequestTimeout(
                "request_timeout", "The body of the request did not arrive in time."
            )
        late = Outage("service_unavailable", "The request took too long.", retry_after_seconds=1)
        late.__cause__ = error
        return late

    async def admit(self) -> None:
        """Check the rules that precede routing, then pass the request on."""
        path = self.scope["path"].rstrip("/")
        if not (self.secure or path in PLAIN or self.edge.https.permits_plain(self.scope)):
            raise NotAllowed("https_required", "This API is available over https only.")
        if declared_bytes(self.scope) > self.edge.limits.size_bytes:
            raise self.too_large()
        if self.method == "OPTIONS":
            preflight = preflight_answer(self.edge.origins, self.scope["headers"])
            if preflight is not None:
                return await self.reply(preflight)
        page = None if path.startswith(API_PATHS) else await self.edge.find_page(path, self.scope)
        if page is None:
            return await self.edge.application(self.scope, self.receive, self.answer)
        if self.scope["method"] != "GET":
            raise MethodNotAllowed(
                "method_not_allowed",
                "This address allows only GET and HEAD.",
                allow=("GET", "HEAD"),
            )
        answer = await page(self.scope)
        self.deadline.reschedule(None)  # server/process/protocol.py limits the time to read it.
        return await self.reply(answer)

    async def receive(self) -> Message:
        """Return the next part of the body, while it is in time and small enough."""
        if self.arrived:
            return await self.inbound()
        if not self.arriving:
            self.arriving = True
            self.allow_from_now(self.edge.limits.arrival_seconds)
        message = await self.inbound()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        self.size_bytes += len(message.get("body", b""))
        if self.size_bytes > self.edge.limits.size_bytes:
            raise self.too_large()
        if not message.get("more_body", False):
            self.arrived, self.arriving = True, False
            self.allow_from_now(self.edge.limits.answer_seconds)
        return message

    def allow_from_now(self, seconds: float) -> None:
        """Set the deadline for the next part of the exchange."""
        self.deadline.reschedule(asyncio.get_running_loop().time() + seconds)

    async def answer(self, message: Message) -> None:
        """Pass on a part of the application's answer; the deadline ends when the answer begins."""
        if message["type"] == "http.response.start":
            self.deadline.reschedule(None)
        await self.send(message)

    async def send(self, message: Message) -> None:
        """Pass on a part of the answer; add the common headers to its head."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            lines = [*message.get("headers", ()), *self.own_lines()]
            message = {**message, "headers": sealed(lines, self.request_id, secure=self.secure)}
        elif self.method == "HEAD":
            message = {**message, "body": b""}
        if len(message.get("body", b"")) > PIECE_BYTES:
            self.complete_at = perf_counter()
            await self.edge.unsent.send(message, self.scope, self.outbound)
        else:
            await self.outbound(message)

    def own_lines(self) -> Headers:
        """Return the headers that depend on the request."""
        lines = headers_for(self.edge.origins, self.scope["headers"])
        lines += self.scope.get("deprecation", ())
        lines += self.scope.get("limits", ())
        # The client still waits for 100 Continue: it may send the body next, or another request.
        waiting = not self.arrived and not self.arriving and expects_continue(self.scope)
        if waiting or self.error_code == "https_required":
            lines.append((b"connection", b"close"))
        return lines

    async def refuse(self, error: Exception) -> None:
        """Answer an error in the format of the contract."""
        path, remedy = self.scope["path"], errors.remedy_of(self.scope)
        await self.reply(errors.answer(error, self.request_id, path, remedy))

    async def reply(self, answer: Answer) -> None:
        """Send a complete answer."""
        self.error_code = answer.error_code
        await self.send(
            {"type": "http.response.start", "status": answer.status, "headers": answer.headers}
        )
        await self.send({"type": "http.response.body", "body": answer.body})

    def too_large(self) -> PayloadTooLarge:
        """Return the error for a body above the size limit."""
        return PayloadTooLarge(
            "payload_too_large",
            "The body is larger than the server accepts.",
            limit_bytes=self.edge.limits.size_bytes,
        )

    def lose(self, watched: WatchedRequest, seconds: float) -> None:
        """Record that the client disconnected."""
        watched.end(routed_operation_id(self.scope), None, seconds)
        self.edge.log.debug("client_gone", **self.facts(watched, seconds))

    def record(self, watched: WatchedRequest, seconds: float, failure: Exception | None) -> None:
        """Count the request and write its log line; a bug is logged with its traceback."""
        self.error_code = self.error_code or self.scope.get("refused")
        watched.end(routed_operation_id(self.scope), self.status, seconds)
        if self.error_code is not None:
            watched.refused(self.error_code, failure, self.status)
        facts = self.facts(watched, seconds)
        if failure is not None and (self.status == 500 or self.error_code is None):
            self.edge.log.error("request", **facts, exc_info=failure)
        elif seconds >= self.edge.limits.slow_seconds:
            self.edge.log.warning("request", **facts, slow=True)
        else:
            self.edge.log.info("request", **facts)

    def facts(self, watched: WatchedRequest, seconds: float) -> dict[str, Any]:
        """Collect the fields to log: never a header, a query or a body."""
        caller = self.scope.get("caller")
        facts = {
            "method": self.method,
            "path": quote(self.scope["path"], errors="replace")[:PATH_LOGGED_CHARACTERS],
            "operation": routed_operation_id(self.scope),
            "status": self.status,
            "error_code": self.error_code,
            "duration_ms": round(seconds * 1000, 2),
            **watched.cost,
            "request_id": self.request_id,
            "partner_id": getattr(caller, "partner_id", None),
        }
        return {name: fact for name, fact in facts.items() if fact is not None}


async def nowhere(_path: str, _scope: Scope) -> None:
    """Return no page, for an application without pages."""


def has_body(scope: Scope) -> bool:
    """Return whether a body follows the headers."""
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


def declared_bytes(scope: Scope) -> int:
    """Return the declared length of the body; 0 if none is declared or it is not a number."""
    for name, value in scope["headers"]:
        if name == b"content-length" and value.isdigit():
            return int(value[:19])  # More digits than any limit has.
    return 0


def expects_continue(scope: Scope) -> bool:
    """Return whether the client waits for 100 Continue before it sends its body."""
    return any(
        name == b"expect" and value.lower() == b"100-continue" for name, value in scope["headers"]
    )
