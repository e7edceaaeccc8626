import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import ip_network
from types import SimpleNamespace
from typing import Any

import pytest
import structlog
from starlette.types import Scope
from structlog.testing import CapturingLogger

from accounting.errors import NotAuthenticated, NotFound
from server.http.edge import Edge, HttpsRule, Limits, Origins, Page
from server.http.errors import Answer
from tests.server.driver import Reply, request

ORIGIN = ("origin", "https://app.example")
PREFLIGHT = ("access-control-request-method", "PATCH")
ALLOWED = Origins(frozenset({"https://app.example"}))


async def read_and_answer(scope: Any, receive: Any, send: Any) -> None:
    body = b""
    more = any(name in (b"content-length", b"transfer-encoding") for name, _ in scope["headers"])
    while more:
        message = await receive()
        assert message["type"] == "http.request"
        body += message["body"]
        more = message["more_body"]
    scope["caller"] = Caller()
    headers = [(b"content-length", b"%d" % len(body)), (b"server", b"theirs")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body or b"{}"})


class Caller:
    partner_id = "the-partner"


def raising(error: BaseException) -> Callable[..., Awaitable[None]]:
    async def application(scope: Any, receive: Any, send: Any) -> None:
        raise error

    return application


def edge(application: Any = read_and_answer, **options: Any) -> Edge:
    options.setdefault("https", HttpsRule())
    return Edge(application, **options)


def logged(application: Any, *arguments: Any, **options: Any) -> list[dict[str, Any]]:
    """Send a request and return the lines of its log."""
    logger = CapturingLogger()
    log = structlog.wrap_logger(logger, processors=[], wrapper_class=structlog.BoundLogger)
    request(edge(application, log=log), *arguments, **options)
    return [{"level": call.method_name, **call.kwargs} for call in logger.calls]


def trusting(*proxies: str) -> HttpsRule:
    return HttpsRule(tuple(ip_network(proxy) for proxy in proxies))


def code(reply: Reply) -> tuple[int, str]:
    return reply.status, reply.json()["error_code"]


class TestRequestId:
    @pytest.mark.parametrize("sent", ["abc", "A-b_c.9", "x" * 64])
    def test_a_sane_one_is_kept(self, sent: str) -> None:
        reply = request(edge(), "GET", "/", ("x-request-id", sent))
        assert (reply.header("x-request-id"), reply.scope["request_id"]) == (sent, sent)

    @pytest.mark.parametrize("sent", ["", "a b", "x" * 65, "é", "a\n", "<script>"])
    def test_any_other_is_replaced(self, sent: str) -> None:
        assert request(edge(), "GET", "/", ("x-request-id", sent)).header("x-request-id") != sent

    def test_two_of_them_are_replaced(self) -> None:
        reply = request(edge(), "GET", "/", ("x-request-id", "a"), ("x-request-id", "b"))
        assert reply.header("x-request-id") not in ("a", "b")

    def test_errors_carry_the_same_in_header_and_body(self) -> None:
        reply = request(edge(raising(NotFound("route_not_found", "No."))))
        assert reply.json()["request_id"] == reply.header("x-request-id")

    def test_two_requests_get_two_ids(self) -> None:
        first, second = request(edge()), request(edge())
        assert first.header("x-request-id") != second.header("x-request-id")


class TestHttps:
    def test_plain_http_is_refused_before_anything_else(self) -> None:
        application = edge(raising(AssertionError()), origins=ALLOWED)
        reply = request(application, "OPTIONS", "/v1/x", ORIGIN, PREFLIGHT, scheme="http")
        assert code(reply) == (403, "https_required")
        assert reply.header("strict-transport-security") is None
        assert reply.header("connection") == "close"

    @pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/health/ready/"])
    def test_health_is_served_over_plain_http(self, path: str) -> None:
        async def found(_path: str, _scope: Scope) -> Page:
            return page

        async def page(_scope: Scope) -> Answer:
            return Answer(200, [], b"{}")

        reply = request(edge(find_page=found), "GET", path, scheme="http")
        assert reply.status == 200
        assert reply.header("strict-transport-security") is None
        reply = request(edge(find_page=found), "POST", path, scheme="http")
        assert code(reply) == (405, "method_not_allowed")
        reply = request(edge(find_page=found), "GET", f"{path.rstrip('/')}x", scheme="http")
        assert code(reply) == (403, "https_required")

    def test_a_tls_socket_is_served_and_told_to_stay_with_https(self) -> None:
        reply = request(edge())
        assert reply.status == 200
        assert reply.header("strict-transport-security") == "max-age=31536000; includeSubDomains"

    @pytest.mark.parametrize("peer", ["10.0.0.7", "10.1.0.99", "::ffff:10.0.0.7"])
    def test_a_named_proxy_may_vouch_for_https(self, peer: str) -> None:
        application = edge(https=trusting("10.0.0.7", "10.1.0.0/16"))
        forwarded = ("x-forwarded-proto", "HTTPS")
        reply = request(application, "GET", "/", forwarded, scheme="http", client=(peer, 9))
        assert reply.status == 200
        assert reply.header("strict-transport-security") is not None

    @pytest.mark.parametrize(
        ("peer", "forwarded"),
        [
            ("10.0.0.8", ["https"]),
            ("127.0.0.1", ["https"]),
            ("10.0.0.7", ["http"]),
            ("10.0.0.7", ["https,http"]),
            ("10.0.0.7", ["https", "https"]),
            ("10.0.0.7", ["http", "https"]),
            ("10.0.0.7", []),
        ],
    )
    def test_nobody_else_and_in_no_other_words(self, peer: str, forwarded: list[str]) -> None:
        lines = [("x-forwarded-proto", value) for value in forwarded]
        application = edge(https=trusting("10.0.0.7"))
        reply = request(application, "GET", "/", *lines, scheme="http", client=(peer, 9))
        assert code(reply) == (403, "https_required")

    def test_a_unix_socket_vouches_for_nothing(self) -> None:
        application = edge(https=trusting("0.0.0.0/0"))
        forwarded = ("x-forwarded-proto", "https")
        assert request(application, "GET", "/", forwarded, scheme="http", client=None).status == 403

    @pytest.mark.parametrize(
        ("client", "server", "status"),
        [
            ("127.0.0.1", "127.0.0.1", 200),
            ("::1", "::1", 200),
            ("203.0.113.9", "192.0.2.1", 403),
            ("127.0.0.1", "192.0.2.1", 403),
            ("203.0.113.9", "127.0.0.1", 403),
        ],
    )
    def test_development_serves_plain_http_on_loopback_only(
        self, client: str, server: str, status: int
    ) -> None:
        reply = request(
            edge(https=HttpsRule(development=True)),
            scheme="http",
            client=(client, 9),
            server=(server, 8000),
        )
        assert reply.status == status


class TestBodies:
    @pytest.mark.parametrize(
        ("line", "pieces"),
        [
            (("content-length", "11"), []),
            (("content-length", "9" * 6000), []),
            (("transfer-encoding", "chunked"), [b"123456"] * 2),
        ],
        ids=["declared", "beyond any number", "counted as it arrives"],
    )
    def test_a_body_over_the_limit_is_refused(
        self, line: tuple[str, str], pieces: list[bytes]
    ) -> None:
        application = edge(limits=Limits(size_bytes=10))
        reply = request(application, "POST", "/v1/x", line, body=pieces)
        assert code(reply) == (413, "payload_too_large")

    def test_a_body_at_the_limit_is_served(self) -> None:
        application = edge(limits=Limits(size_bytes=10))
        length = ("content-length", "10")
        reply = request(application, "POST", "/", length, body=[b"12345"] * 2, then="end")
        assert (reply.status, reply.body) == (200, b"1234512345")

    def test_a_body_that_stops_coming_is_408(self) -> None:
        application = edge(limits=Limits(arrival_seconds=0.05))
        reply = request(application, "POST", "/", ("content-length", "10"), body=[b"12345"])
        assert code(reply) == (408, "request_timeout")

    def test_a_time_out_of_the_application_itself_is_a_bug(self) -> None:
        assert code(request(edge(raising(TimeoutError())))) == (500, "internal_error")

    def test_a_caller_who_hangs_up_is_not_answered(self) -> None:
        length = ("content-length", "10")
        sent: dict[str, Any] = {"body": [b"12345"], "then": "disconnect"}
        assert request(edge(), "POST", "/", length, **sent).starts == 0
        [line] = logged(read_and_answer, "POST", "/", length, **sent)
        assert line["level"] == "debug"

    def test_a_refusal_while_the_caller_waits_to_send_closes_the_connection(self) -> None:
        lines = [("content-length", "9"), ("expect", "100-continue")]
        reply = request(edge(raising(NotFound("route_not_found", "No."))), "POST", "/", *lines)
        assert reply.header("connection") == "close"


class TestTimeToAnswer:
    def test_an_answer_that_takes_too_long_is_503_with_retry_after(self) -> None:
        for call, remedy in (
            (None, "Repeat the request."),
            (
                SimpleNamespace(idempotency_key="k"),
                "Repeat the request with the same Idempotency-Key.",
            ),
        ):

            async def stuck(scope: Any, receive: Any, send: Any, call: Any = call) -> None:
                scope["call"] = call
                await asyncio.Event().wait()

            reply = request(edge(stuck, limits=Limits(answer_seconds=0.05)))
            assert code(reply) == (503, "service_unavailable")
            assert reply.header("retry-after") == "1"
            assert reply.json()["message"] == f"The request took too long. {remedy}"

    def test_the_time_to_answer_counts_from_the_end_of_the_body(self) -> None:
        async def late(scope: Any, receive: Any, send: Any) -> None:
            await receive()
            await asyncio.Event().wait()

        limits = Limits(answer_seconds=0.05, arrival_seconds=60)
        length = ("content-length", "5")
        reply = request(edge(late, limits=limits), "POST", "/", length, body=[b"12345"], then="end")
        assert code(reply) == (503, "service_unavailable")

    def test_a_body_has_its_own_time(self) -> None:
        application = edge(limits=Limits(answer_seconds=0.01, arrival_seconds=0.1))
        reply = request(application, "POST", "/", ("content-length", "10"), body=[b"12345"])
        assert code(reply) == (408, "request_timeout")

    def test_an_answer_that_has_begun_goes_on(self) -> None:
        async def long(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await asyncio.sleep(0.1)
            await send({"type": "http.response.body", "body": b"all of it"})

        reply = request(edge(long, limits=Limits(answer_seconds=0.02)))
        assert (reply.status, reply.body) == (200, b"all of it")


class TestDeprecated:
    @pytest.mark.parametrize("refused", [False, True])
    def test_every_answer_tells_of_what_the_request_used(self, refused: bool) -> None:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            scope["deprecation"] = [(b"deprecation", b"@1767225600")]
            if refused:
                raise NotFound("a_code", "Words.")
            await read_and_answer(scope, receive, send)

        reply = request(edge(application))
        assert reply.status == (404 if refused else 200)
        assert reply.header("deprecation") == "@1767225600"


class TestCors:
    def test_a_preflight_is_answered_before_the_application(self) -> None:
        application = edge(raising(AssertionError()), origins=ALLOWED)
        reply = request(application, "OPTIONS", "/v1/x", ORIGIN, PREFLIGHT)
        assert (reply.status, reply.body) == (204, b"")
        assert reply.header("access-control-allow-origin") == "https://app.example"
        assert reply.header("access-control-allow-headers") == (
            "Authorization, Content-Type, Idempotency-Key, If-Match, X-Request-ID"
        )
        assert "PATCH" in (reply.header("access-control-allow-methods") or "")
        assert reply.header("vary") == "Origin"

    def test_the_preflight_of_another_origin_is_a_request_like_any(self) -> None:
        application = edge(raising(NotFound("route_not_found", "No.")), origins=ALLOWED)
        other = ("origin", "https://evil.example")
        reply = request(application, "OPTIONS", "/v1/x", other, PREFLIGHT)
        assert reply.status == 404
        assert not [name for name, _ in reply.lines if name.startswith("access-control")]

    @pytest.mark.parametrize("kind", [NotAuthenticated, NotFound, RuntimeError])
    def test_errors_carry_the_lines_for_an_allowed_origin(self, kind: Any) -> None:
        application = edge(raising(kind("a_code", "Words.")), origins=ALLOWED)
        reply = request(application, "GET", "/v1/x", ORIGIN)
        assert reply.header("access-control-allow-origin") == "https://app.example"
        assert reply.header("access-control-expose-headers") == (
            "ETag, X-Request-ID, Idempotent-Replayed, Location, Retry-After, Deprecation, Sunset,"
            " X-Data-As-Of, X-Event-Sequence, RateLimit, RateLimit-Policy"
        )

    @pytest.mark.parametrize(
        "origins",
        [
            ["null"],
            ["https://app.example.evil"],
            ["http://app.example"],
            ["https://app.example", "https://app.example"],
            ["http://localhost:3000"],
        ],
    )
    def test_no_other_origin_gets_any(self, origins: list[str]) -> None:
        lines = [("origin", value) for value in origins]
        reply = request(edge(origins=ALLOWED), "GET", "/v1/x", *lines)
        assert reply.header("access-control-allow-origin") is None
        assert reply.header("vary") == "Origin"

    @pytest.mark.parametrize(
        ("origin", "allowed"),
        [
            ("http://localhost:3000", True),
            ("http://127.0.0.1", True),
            ("https://[::1]:8443", True),
            ("http://localhost.evil.example", False),
            ("http://localhost:3000/path", False),
            ("http://user@localhost", False),
            ("file://localhost", False),
        ],
    )
    def test_development_allows_loopback_pages(self, origin: str, allowed: bool) -> None:
        reply = request(edge(origins=Origins(loopback=True)), "GET", "/", ("origin", origin))
        assert reply.header("access-control-allow-origin") == (origin if allowed else None)


class TestStandingHeaders:
    @pytest.mark.parametrize(
        "application", [read_and_answer, raising(NotFound("a_code", "No.")), raising(ValueError())]
    )
    def test_every_answer_has_them(self, application: Any) -> None:
        reply = request(edge(application))
        assert reply.header("x-content-type-options") == "nosniff"
        assert reply.header("referrer-policy") == "no-referrer"
        assert reply.header("cache-control") == "no-store"
        csp = "default-src 'none'; frame-ancestors 'none'"
        assert reply.header("content-security-policy") == csp
        assert reply.header("server") is None


class TestHead:
    def test_an_error_of_head_has_its_length_but_no_body(self) -> None:
        reply = request(edge(raising(NotFound("route_not_found", "No."))), "HEAD")
        assert (reply.status, reply.body) == (404, b"")
        assert int(reply.header("content-length") or 0) > 0


class TestPages:
    @staticmethod
    async def find(path: str, _scope: Scope) -> Page | None:
        return TestPages.page if path == "/docs" else None

    @staticmethod
    async def page(scope: Scope) -> Answer:
        greeting = b"hello again" if (b"cookie", b"seen") in scope["headers"] else b"hello"
        return Answer(200, [(b"cache-control", b"max-age=60")], greeting)

    @pytest.mark.parametrize("path", ["/docs", "/docs/"])
    def test_a_page_is_served_before_the_application(self, path: str) -> None:
        reply = request(edge(raising(AssertionError()), find_page=self.find), "GET", path)
        assert (reply.status, reply.body) == (200, b"hello")
        assert reply.header("cache-control") == "max-age=60"

    def test_a_page_receives_the_headers_of_its_request(self) -> None:
        application = edge(find_page=self.find)
        assert request(application, "GET", "/docs/", ("cookie", "seen")).body == b"hello again"

    def test_a_page_refuses_other_methods_than_get_and_head(self) -> None:
        reply = request(edge(find_page=self.find), "POST", "/docs/")
        assert code(reply) == (405, "method_not_allowed")
        assert reply.header("allow") == "GET, HEAD"

    def test_other_paths_reach_the_application(self) -> None:
        assert request(edge(find_page=self.find), "GET", "/docs/more").body == b"{}"


class TestFailures:
    def test_a_bug_is_a_500_with_nothing_but_the_id(self) -> None:
        reply = request(edge(raising(RuntimeError("a secret"))))
        assert code(reply) == (500, "internal_error")
        assert b"a secret" not in reply.body

    def test_a_bug_after_the_answer_began_makes_no_second_one(self) -> None:
        async def application(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            raise RuntimeError

        reply = request(edge(application))
        assert (reply.status, reply.starts, reply.body) == (200, 1, b"")

    def test_a_websocket_is_turned_away(self) -> None:
        sent = []

        async def send(message: Any) -> None:
            sent.append(message["type"])

        async def receive() -> Any:
            return {"type": "websocket.connect"}

        asyncio.run(edge(raising(AssertionError()))({"type": "websocket"}, receive, send))
        assert sent == ["websocket.close"]


class TestLog:
    def test_each_request_writes_one_line(self) -> None:
        [line] = logged(read_and_answer, "GET", "/v1/a", ("x-request-id", "mine"))
        assert line.pop("duration_ms") >= 0
        assert line == {
            "level": "info",
            "event": "request",
            "method": "GET",
            "path": "/v1/a",
            "status": 200,
            "request_id": "mine",
            "partner_id": "the-partner",
        }

    def test_a_refusal_is_no_failure(self) -> None:
        [line] = logged(raising(NotFound("invoice_not_found", "No.")))
        assert (line["level"], line["status"]) == ("info", 404)
        assert line["error_code"] == "invoice_not_found"

    def test_a_bug_brings_its_traceback(self) -> None:
        error = RuntimeError("words")
        [line] = logged(raising(error))
        assert (line["level"], line["exc_info"]) == ("error", error)

    def test_a_client_that_hangs_up_is_logged_as_debug(self) -> None:
        async def broken(scope: Any, receive: Any, send: Any) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": []})
            scope["hung_up"] = lambda: True
            raise RuntimeError("the handler is closed")

        [line] = logged(broken)
        assert (line["level"], line["event"]) == ("debug", "client_gone")

    def test_credentials_and_bodies_never_stand_in_it(self) -> None:
        lines = [("authorization", "Bearer s3cret"), ("content-length", "6")]
        shown = logged(read_and_answer, "POST", "/", *lines, body=[b"s3cret"], then="end")
        assert "s3cret" not in repr(shown)

    def test_a_path_cannot_break_the_line(self) -> None:
        [line] = logged(read_and_answer, "GET", "/a\r\nb" + "c" * 900)
        assert line["path"].startswith("/a%0D%0Ab")
        assert len(line["path"]) == 200
