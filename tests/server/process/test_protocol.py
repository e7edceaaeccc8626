"""Requests over real sockets, with limits small enough to wait for."""

import asyncio
import json
import select
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
import uvicorn

from server.http.drain import DrainState
from server.process.connections import ConnectionsPerAddress, bound_readers
from server.process.protocol import GuardedProtocol
from tests.partner import PATIENCE_SECONDS, within

HOST = b"Host: test\r\n"
BEARER = b"Authorization: Bearer a\r\n"
CHUNKED = b"Transfer-Encoding: chunked\r\n"
UPGRADE = b"Connection: Upgrade\r\n"
LARGE = 10_000_000  # More than the buffers of any system.
SIZES = {"/large": LARGE, "/page": 60_000}  # Of a page, the buffers of a connection hold two.


class Patient(GuardedProtocol):
    """A protocol with small limits of size, and enough time for a slow machine."""

    head_seconds = body_seconds = linger_seconds = PATIENCE_SECONDS
    url_limit_bytes = 200
    headers_limit_bytes = 1000
    fields_limit = 10


class Impatient(Patient):
    head_seconds = 0.2
    body_seconds = 0.3


class Brisk(Patient):
    reading_seconds = 1.0


class Few(Patient):
    addresses = ConnectionsPerAddress(2)


async def application(scope: Any, receive: Any, send: Any) -> None:
    if scope["path"] == "/named":
        scope["request_id"] = "known-inside"
    if scope["path"] == "/slow":
        await asyncio.sleep(0.4)
    body = b""
    more = scope["path"] != "/deaf"
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        body += message["body"]
        more = message["more_body"]
    seen = [name.decode() for name, _ in scope["headers"]]
    facts = {"path": scope["path"], "bytes": len(body), "headers": seen}
    if scope["path"] in SIZES:
        facts["more"] = "x" * SIZES[scope["path"]]
    answer = json.dumps(facts).encode()
    length = (b"content-length", b"%d" % len(answer))
    await send({"type": "http.response.start", "status": 200, "headers": [length]})
    await send({"type": "http.response.body", "body": answer})


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: dict[str, Any]


class Wire:
    """A connection to the server."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self.file = self.socket.makefile("rb")

    def send(self, *parts: bytes, every_seconds: float = 0.0) -> "Wire":
        for part in parts:
            try:
                self.socket.sendall(part)
            except OSError:
                break
            time.sleep(every_seconds)
        return self

    def trickle(self, part: bytes) -> "Wire":
        """Send a part repeatedly until an answer arrives."""
        answer = select.poll()
        answer.register(self.socket, select.POLLIN)
        with suppress(OSError):
            while not answer.poll(40):
                self.socket.sendall(part)
        return self

    def reply(self) -> Reply:
        status = int(self.file.readline().split()[1])
        headers = {}
        while (line := self.file.readline().strip()) != b"":
            name, _, value = line.decode().partition(": ")
            headers[name] = value
        if status == 100:
            return Reply(status, headers, {})
        return Reply(status, headers, json.loads(self.file.read(int(headers["content-length"]))))

    def is_closed(self) -> bool:
        return self.file.read(1) == b""

    def close(self) -> None:
        self.file.close()
        self.socket.close()


@contextmanager
def serving(
    protocol: type[GuardedProtocol], keep_alive: int, reader_seconds: float = PATIENCE_SECONDS
) -> Iterator[tuple[uvicorn.Server, int]]:
    """Run a server on a free port."""
    listener = socket.create_server(("127.0.0.1", 0))
    bound_readers(listener, reader_seconds)
    config = uvicorn.Config(
        application,
        http=protocol,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        timeout_keep_alive=keep_alive,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        yield server, listener.getsockname()[1]
    finally:
        server.should_exit = server.force_exit = True
        thread.join()
        listener.close()


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    with serving(Patient, 60) as (_, port):
        yield port


@pytest.fixture(scope="module")
def impatient() -> Iterator[int]:
    with serving(Impatient, 1, reader_seconds=1) as (_, port):
        yield port


@pytest.fixture
def wire(port: int) -> Iterator[Wire]:
    with closing(Wire(port)) as wire:
        yield wire


@pytest.fixture
def hurried(impatient: int) -> Iterator[Wire]:
    with closing(Wire(impatient)) as wire:
        yield wire


def refused(wire: Wire, status: int, code: str) -> Reply:
    reply = wire.reply()
    assert (reply.status, reply.body["error_code"]) == (status, code)
    assert set(reply.body) >= {"error_code", "message", "detail", "request_id", "doc_url"}
    assert reply.headers["x-request-id"] == reply.body["request_id"]
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["x-content-type-options"] == "nosniff"
    assert reply.headers["connection"] == "close"
    assert "server" not in reply.headers
    assert wire.is_closed()
    return reply


def get(path: bytes = b"/", *lines: bytes) -> bytes:
    return b"GET " + path + b" HTTP/1.1\r\n" + HOST + b"".join(lines) + b"\r\n"


def post(path: bytes, *lines: bytes, body: bytes = b"") -> bytes:
    return b"POST " + path + b" HTTP/1.1\r\n" + HOST + b"".join(lines) + b"\r\n" + body


def length(size_bytes: int) -> bytes:
    return b"Content-Length: %d\r\n" % size_bytes


class TestDeadlines:
    def test_a_silent_connection_is_told_so(self, hurried: Wire) -> None:
        refused(hurried, 408, "request_timeout")

    def test_headers_that_trickle_do_not_move_the_deadline(self, hurried: Wire) -> None:
        hurried.send(b"GET / HTTP/1.1\r\n").trickle(b"A: b")
        refused(hurried, 408, "request_timeout")

    def test_a_body_that_trickles_does_not_move_the_deadline(self, hurried: Wire) -> None:
        hurried.send(post(b"/", length(99_999))).trickle(b"x")
        refused(hurried, 408, "request_timeout")

    def test_a_slow_handler_is_never_touched(self, hurried: Wire) -> None:
        reply = hurried.send(post(b"/slow", length(2), body=b"{}")).reply()
        assert (reply.status, reply.body["bytes"]) == (200, 2)

    def test_a_body_which_the_server_does_not_yet_read_is_not_late(self, hurried: Wire) -> None:
        body = b"x" * 400_000
        reply = hurried.send(post(b"/slow", length(400000), body=body)).reply()
        assert (reply.status, reply.body["bytes"]) == (200, 400_000)

    def test_blank_lines_after_an_answer_do_not_keep_the_connection(self, hurried: Wire) -> None:
        assert hurried.send(get()).reply().status == 200
        hurried.send(b"\r\n", b"\r\n")
        refused(hurried, 408, "request_timeout")

    def test_an_idle_connection_is_closed_without_a_word(self, hurried: Wire) -> None:
        assert hurried.send(get()).reply().status == 200
        assert hurried.is_closed()

    def test_a_late_body_after_the_answer_closes_without_a_second_answer(
        self, hurried: Wire
    ) -> None:
        hurried.send(post(b"/deaf", length(9), body=b"1"))
        assert hurried.reply().status == 200
        assert hurried.is_closed()

    def test_a_token_endpoint_gets_the_words_of_oauth_too(self, hurried: Wire) -> None:
        path = b"/v1/platform/oauth2/token/?a=b"
        hurried.send(post(path, length(9), b"X-Request-ID: mine\r\n"))
        reply = refused(hurried, 408, "request_timeout")
        assert reply.body["error"] == "invalid_request"
        assert reply.body["request_id"] == "mine"

    def test_the_answer_has_the_id_that_is_known_inside(self, hurried: Wire) -> None:
        hurried.send(post(b"/named", length(9)))
        assert refused(hurried, 408, "request_timeout").body["request_id"] == "known-inside"


class TestSizes:
    def test_a_long_address_is_414(self, wire: Wire) -> None:
        wire.send(get(b"/" + b"a" * 200))
        refused(wire, 414, "uri_too_long")

    @pytest.mark.parametrize(
        "sent",
        [get(b"/", *[b"A: b\r\n"] * 10), get(b"/", *[b"A: " + b"x" * 500 + b"\r\n"] * 2)],
        ids=["many", "large"],
    )
    def test_many_or_large_headers_are_431(self, wire: Wire, sent: bytes) -> None:
        refused(wire.send(sent), 431, "headers_too_large")

    @pytest.mark.parametrize(
        "sent",
        [get(b"/" + b"a" * 199), get(b"/", *[b"A: b\r\n"] * 9)],
        ids=["address", "headers"],
    )
    def test_a_request_at_the_limit_is_served(self, wire: Wire, sent: bytes) -> None:
        assert wire.send(sent).reply().status == 200

    def test_a_header_without_an_end_is_431_before_it_ends(self, wire: Wire) -> None:
        wire.send(b"GET / HTTP/1.1\r\nA: ", *[b"x" * 300] * 6, every_seconds=0.01)
        refused(wire, 431, "headers_too_large")

    def test_the_answer_survives_what_is_still_being_sent(self, wire: Wire) -> None:
        wire.send(get(b"/", b"A: " + b"x" * 2_000_000 + b"\r\n"))
        refused(wire, 431, "headers_too_large")


class TestWhatIsNoRequest:
    @pytest.mark.parametrize(
        "sent",
        [
            pytest.param(b"HELLO\r\n\r\n", id="no-http"),
            pytest.param(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", id="http-2"),
            pytest.param(b"CONNECT a:443 HTTP/1.1\r\nHost: a\r\n\r\n", id="tunnel"),
            pytest.param(b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", id="raw-byte-in-path"),
            pytest.param(get(b"/", b"Bad Name: b\r\n"), id="bad-header-name"),
            pytest.param(b"GET / HTTP/1.1\r\n\r\n", id="no-host"),
            pytest.param(get(b"/", HOST), id="two-hosts"),
            pytest.param(get(b"/", BEARER, BEARER), id="two-credentials"),
            pytest.param(post(b"/", length(1), length(2)), id="two-lengths"),
            pytest.param(post(b"/", length(1), CHUNKED), id="length-and-chunks"),
            pytest.param(
                post(b"/", CHUNKED, body=b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0"),
                id="chunks-in-http-1.0",
            ),
            pytest.param(post(b"/", length(-1)), id="negative-length"),
            pytest.param(post(b"/", CHUNKED, body=b"3\r\nabcXX"), id="broken-chunk"),
            pytest.param(get(b"/", UPGRADE, b"Upgrade: websocket\r\n"), id="websocket"),
            pytest.param(
                post(b"/", UPGRADE, b"Upgrade: h2c\r\n", length(1)), id="upgrade-with-a-body"
            ),
        ],
    )
    def test_a_malformed_request_is_400_in_the_body_of_the_contract(
        self, wire: Wire, sent: bytes
    ) -> None:
        wire.send(sent)
        refused(wire, 400, "bad_request")

    def test_an_offer_of_another_protocol_is_ignored(self, wire: Wire) -> None:
        reply = wire.send(get(b"/", UPGRADE, b"Upgrade: h2c\r\n")).reply()
        assert (reply.status, reply.headers["connection"]) == (200, "close")
        assert wire.is_closed()


class TestWhatStillWorks:
    def test_several_requests_use_one_connection(self, wire: Wire) -> None:
        for _ in range(3):
            assert wire.send(post(b"/", length(2), body=b"{}")).reply().status == 200

    def test_pipelined_requests_are_answered_in_order(self, wire: Wire) -> None:
        wire.send(get(b"/slow") + post(b"/2", length(2), body=b"{}") + get(b"/3"))
        assert [wire.reply().body["path"] for _ in range(3)] == ["/slow", "/2", "/3"]

    def test_a_chunked_body_arrives_whole(self, wire: Wire) -> None:
        chunks = b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
        reply = wire.send(post(b"/", CHUNKED, body=chunks)).reply()
        assert (reply.status, reply.body["bytes"]) == (200, 5)

    def test_a_trailer_of_a_chunked_body_is_no_header(self, wire: Wire) -> None:
        chunks = b"3\r\nabc\r\n0\r\nX-Forwarded-Proto: https\r\n\r\n"
        reply = wire.send(post(b"/", CHUNKED, body=chunks)).reply()
        assert reply.body["headers"] == ["host", "transfer-encoding"]

    def test_a_client_may_wait_for_leave_to_send(self, wire: Wire) -> None:
        wire.send(post(b"/slow", b"Expect: 100-continue\r\n", length(2)))
        assert wire.reply().status == 100
        assert wire.send(b"{}").reply().body["bytes"] == 2


class TestProbes:
    @pytest.mark.parametrize("version", [b"1.0", b"1.1"])
    def test_a_probe_may_omit_the_host(self, wire: Wire, version: bytes) -> None:
        wire.send(b"GET /health/ready HTTP/" + version + b"\r\n\r\n")
        assert wire.reply().body["path"] == "/health/ready"
        assert version == b"1.1" or wire.is_closed()


class TestDeparture:
    """A server that is about to stop: each answer closes its connection."""

    def test_an_answer_ends_its_connection_once_that_is_announced(self) -> None:
        class DrainingProtocol(Patient):
            draining = DrainState()

        with serving(DrainingProtocol, 60) as (_, port):
            early, late = Wire(port), Wire(port)
            assert "connection" not in early.send(get()).reply().headers
            DrainingProtocol.draining.begun = True
            for wire in (early, late):
                assert wire.send(get()).reply().headers["connection"] == "close"
                assert wire.is_closed()
                wire.close()


class TestShutdown:
    def test_a_connection_in_use_gets_a_moment_for_the_request_on_its_way(self) -> None:
        with serving(Patient, 60) as (server, port):
            wire = Wire(port)
            assert wire.send(get()).reply().status == 200
            server.should_exit = True
            assert within(PATIENCE_SECONDS, lambda: refuses(port))
            assert wire.send(get()).reply().headers["connection"] == "close"
            assert wire.is_closed()
            wire.close()


def refuses(port: int) -> bool:
    """Return whether no server listens on a port."""
    try:
        socket.create_connection(("127.0.0.1", port)).close()
    except OSError:
        return True
    return False


class TestReaders:
    @pytest.mark.parametrize("lines", [(), (b"Connection: close\r\n",)])
    def test_the_connection_of_a_client_that_reads_nothing_is_reset(
        self, hurried: Wire, lines: Any
    ) -> None:
        hurried.send(get(b"/large", *lines))
        time.sleep(3)
        with pytest.raises(ConnectionResetError):
            hurried.file.read()

    @pytest.mark.parametrize(
        "asked",
        [
            [b"/large"],
            [b"/large", b"Connection: close\r\n"],
            [b"/page", b"Connection: close\r\n"],
            [b"/page"],
        ],
    )
    def test_the_connection_of_a_client_that_reads_slowly_is_reset(self, asked: Any) -> None:
        with serving(Brisk, 1) as (_, port), closing(socket.socket()) as reader:
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", port))
            reader.sendall(get(asked[0]) + get(*asked))

            def is_reset() -> bool:
                try:
                    assert reader.recv(100)
                except ConnectionResetError:
                    return True
                return False

            assert within(PATIENCE_SECONDS, is_reset, every=0.02)

    def test_a_client_that_reads_late_gets_the_whole_answer(self, wire: Wire) -> None:
        wire.send(get(b"/large"))
        time.sleep(1)
        assert len(wire.reply().body["more"]) == LARGE

    def test_an_address_has_only_so_many_connections(self) -> None:
        with serving(Few, 60) as (_, port):
            first, second, third = Wire(port), Wire(port), Wire(port)
            assert first.send(get()).reply().status == 200
            assert refused(third, 429, "rate_limited").headers["retry-after"] == "1"
            assert second.send(get(b"/", b"Connection: close\r\n")).reply().status == 200
            assert second.is_closed()
            fourth = Wire(port)
            assert fourth.send(get()).reply().status == 200
            for wire in (first, second, third, fourth):
                wire.close()


class TestRequestsBeforeTheFaultyOne:
    def test_requests_before_a_malformed_request_are_answered(self, wire: Wire) -> None:
        wire.send(get(b"/slow") + get(b"/2") + b"HELLO\r\n")
        assert [wire.reply().body["path"] for _ in range(2)] == ["/slow", "/2"]
        assert wire.is_closed()

    def test_a_faulty_body_in_the_queue_does_not_stop_the_first_answer(self, wire: Wire) -> None:
        faulty = post(b"/2", CHUNKED, body=b"zz\r\n")
        wire.send(get(b"/slow") + faulty)
        assert wire.reply().body["path"] == "/slow"
        assert wire.is_closed()

    def test_a_late_head_behind_a_slow_handler_leaves_its_answer_alone(self, hurried: Wire) -> None:
        hurried.send(get(b"/slow") + b"GET /2 HT")
        assert hurried.reply().body["path"] == "/slow"
        assert hurried.is_closed()

    def test_the_deadline_of_a_queued_body_starts_with_its_turn(self, impatient: int) -> None:
        for _ in range(5):  # A busy machine may pause for longer.
            wire = Wire(impatient)
            wire.send(get(b"/slow") + post(b"/2", length(3), body=b"a"))
            first, second = wire.reply(), wire.send(b"bc").reply()
            wire.close()
            if second.status == 200:
                break
        assert (first.body["path"], second.body["bytes"]) == ("/slow", 3)
