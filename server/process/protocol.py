"""uvicorn's HTTP protocol with limits on how a request arrives.

A request that arrives too slowly, with a head that is too large, or that is not HTTP is answered in
the format of the contract, and its connection is closed. Once a request is here in full, no
deadline runs until its answer is sent, so a slow handler is not affected.

An answer that is read too slowly ends its connection: a client has 15 seconds for each 64 KiB. For
a client that reads nothing, see server/process/connections.py; for large answers,
server/http/unsent_answers.py. The connections of an address are limited.

server/process/uvicorn_adapter.py lists the members of uvicorn's own protocol that it overrides and
reads. tests/server/process/test_protocol.py tests every behaviour over real sockets.
"""

import asyncio
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any, ClassVar, Final

import structlog
from httptools import HttpParserError, HttpParserUpgrade

from accounting.errors import ApiError, TooMany
from server.http import errors
from server.http.drain import DrainState
from server.http.edge import request_id_of, sealed
from server.http.problems import BadRequest, HeadersTooLarge, RequestTimeout, UriTooLong
from server.http.unsent_answers import PIECE_BYTES
from server.process.connections import ConnectionsPerAddress, reset
from server.process.uvicorn_adapter import HttpConnection, RequestResponseCycle
from server.telemetry.request_watch import NO_OPERATION, Counts, NoCounts

# Given twice, we and a proxy in front of us might use different values.
GIVEN_ONCE: Final = (b"authorization", b"content-length", b"content-type", b"host")
COLON_AND_BREAK_BYTES: Final = 4
PROBED: Final = b"/health/"


class GuardedProtocol(HttpConnection):
    """A connection with limits, which are class attributes so that a subclass can lower them."""

    head_seconds = 5.0
    body_seconds = 15.0
    linger_seconds = 1.0
    reading_seconds = 15.0  # For each piece of an answer.
    url_limit_bytes = 8 * 1024
    headers_limit_bytes = 16 * 1024
    fields_limit = 100
    addresses: ClassVar = ConnectionsPerAddress()
    draining: ClassVar = DrainState()
    counts: ClassVar[Counts] = NoCounts()

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.headers = []
        self.url = b""
        self.deadline: asyncio.TimerHandle | None = None
        self.reader_deadline: asyncio.TimerHandle | None = None
        self.running: RequestResponseCycle | None = None
        self.admitted = False
        self.lost = False
        self.in_head = True
        self.in_body = False
        self.discards_input = False
        self.closes_after_next = False  # The server shuts down; one more request may arrive.
        self.shuts_down = False
        self.fault: ApiError | None = None
        self.headers_bytes = 0
        self.unseen_bytes = 0  # Of a header line that is still incomplete.
        self.line_ended = False

    # Deadlines for the arrival of a request.

    # uvicorn narrows the type of the transport too, with the same `type: ignore`.
    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        transport.set_write_buffer_limits(high=PIECE_BYTES)  # With TLS, the default is more.
        self.arm(self.head_seconds, self.head_is_late)
        self.admitted = self.addresses.opened(self.client)
        if not self.admitted:
            self.refuse(
                TooMany(
                    "rate_limited",
                    "There are too many connections from this address.",
                    retry_after_seconds=1,
                )
            )

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True  # The number of its socket may be that of another connection soon.
        self.disarm()
        self.disarm_reader()
        if self.admitted:
            self.addresses.closed(self.client)
        super().connection_lost(exc)

    def arm(self, seconds: float, late: Callable[[], None]) -> None:
        """Start the one deadline of this connection; bytes that trickle in do not extend it."""
        self.disarm()
        self.deadline = self.loop.call_later(seconds, late)

    def disarm(self) -> None:
        """Stop the deadline."""
        if self.deadline is not None:
            self.deadline.cancel()
            self.deadline = None

    def head_is_late(self) -> None:
        """Refuse a request whose headers are not complete in time."""
        self.refuse(RequestTimeout("request_timeout", "The headers did not arrive in time."))

    def body_is_late(self) -> None:
        """Refuse a request whose body is incomplete, unless reading is paused on our side."""
        if self.flow.read_paused or self.cycle.waiting_for_100_continue:
            self.arm(self.body_seconds, self.body_is_late)
        else:
            self.refuse(RequestTimeout("request_timeout", "The body did not arrive in time."))

    def request_starts(self, cycle: RequestResponseCycle) -> None:
        """Start the deadline of a request's body when the request reaches the application."""
        if cycle.more_body:
            self.arm(self.body_seconds, self.body_is_late)
        # For the edge; uvicorn's type of a scope lists only its own keys.
        cycle.scope["hung_up"] = self.transport.is_closing  # type: ignore[typeddict-unknown-key]
        cycle.scope["stops"] = self.stops  # type: ignore[typeddict-unknown-key]
        cycle.scope["reset"] = self.reset  # type: ignore[typeddict-unknown-key]
        self.running = cycle

    # The deadline for a client that reads slowly. It runs while more than a piece waits to be sent
    # and, because closing waits for the client too, from the end of the connection.

    def pause_writing(self) -> None:
        super().pause_writing()
        self.arm_reader()

    def resume_writing(self) -> None:
        super().resume_writing()
        self.disarm_reader()
        if self.transport.is_closing():
            self.arm_reader()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self.arm_reader()

    def timeout_keep_alive_handler(self) -> None:
        if not self.transport.is_closing():
            super().timeout_keep_alive_handler()
            self.arm_reader()

    def arm_reader(self) -> None:
        """Start the deadline, unless it runs already or the connection has ended."""
        if self.reader_deadline is None and not self.lost:
            self.reader_deadline = self.loop.call_later(self.reading_seconds, self.reader_is_slow)

    def disarm_reader(self) -> None:
        """Stop the deadline."""
        if self.reader_deadline is not None:
            self.reader_deadline.cancel()
            self.reader_deadline = None

    def reader_is_slow(self) -> None:
        """Close the connection without sending the rest."""
        unsent = self.transport.get_write_buffer_size()
        structlog.get_logger("accounting.connections").info(
            "slow_reader_closed", reason="the answer was read too slowly", unsent_bytes=unsent
        )
        self.reset()

    def reset(self) -> None:
        """Close the connection immediately, and drop the data that waits to be sent."""
        if not self.lost:
            reset(self.transport)

    # Callbacks of the parser.

    def data_received(self, data: bytes) -> None:
        self.stop_idle_timer()
        if self.discards_input:
            return
        self.line_ended = False
        try:
            self.parser.feed_data(data)
        except HttpParserUpgrade:
            self.close_after(self.cycle)  # We do not switch to the offered protocol.
        except HttpParserError:
            self.refuse(
                self.fault
                or BadRequest("bad_request", "The data sent is not a valid HTTP request.")
            )
        else:
            self.watch(len(data))

    def watch(self, received_bytes: int) -> None:
        """Check the limits on bytes that the parser has taken in and not yet passed on."""
        idle = self.cycle is None or self.cycle.response_complete
        # Blank lines between requests are no request, yet they end uvicorn's idle timer. A head
        # that is complete by now needs no deadline.
        if self.deadline is None and (self.in_head or (not self.in_body and idle)):
            self.arm(self.head_seconds, self.head_is_late)
        if self.in_head and not self.line_ended:
            self.unseen_bytes += received_bytes
            if self.headers_bytes + self.unseen_bytes > self.headers_limit_bytes:
                self.refuse(self.headers_too_large())

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head, self.line_ended = True, True
        self.headers_bytes = self.unseen_bytes = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        self.line_ended = True
        if len(self.url) > self.url_limit_bytes:
            limit = self.url_limit_bytes
            told = f"The address is longer than {limit} bytes."
            raise self.noted(UriTooLong("uri_too_long", told, limit_bytes=limit))

    def on_header(self, name: bytes, value: bytes) -> None:
        self.line_ended = True
        self.unseen_bytes = 0
        self.headers_bytes += len(name) + len(value) + COLON_AND_BREAK_BYTES
        if self.headers_bytes > self.headers_limit_bytes or len(self.headers) >= self.fields_limit:
            raise self.noted(self.headers_too_large())
        if self.in_head:  # Trailers of a chunked body are not headers.
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self.check_headers()
        self.disarm()
        super().on_headers_complete()
        self.in_head, self.in_body = False, True
        if self.parser.should_upgrade() or self.closes_after_next or self.draining.begun:
            self.cycle.keep_alive = False

    def on_message_complete(self) -> None:
        self.disarm()
        self.in_body = False
        self.headers, self.url = [], b""
        super().on_message_complete()

    def check_headers(self) -> None:
        """Refuse ambiguous headers, and upgrades that cannot just be ignored."""
        lines = [name for name, _ in self.headers]
        given = set(lines)
        if len(given) < len(lines) and any(lines.count(name) > 1 for name in GIVEN_ONCE):
            raise self.noted(BadRequest("bad_request", "A header is sent twice."))
        version = self.parser.get_http_version()
        # Probes of load balancers omit it; they are answered, although HTTP requires a refusal.
        if b"host" not in given and version == "1.1" and not self.url.startswith(PROBED):
            raise self.noted(BadRequest("bad_request", "The Host header is missing."))
        if b"transfer-encoding" in given and version != "1.1":
            # A proxy without support for chunks would parse them in another way.
            raise self.noted(BadRequest("bad_request", "Chunks need HTTP/1.1."))
        if self.parser.should_upgrade() and (
            self.offered_protocol() == b"websocket"
            or b"transfer-encoding" in given
            or b"content-length" in given  # The parser would drop the body.
        ):
            raise self.noted(
                BadRequest(
                    "bad_request",
                    "This server supports HTTP/1.1 only. Do not offer another protocol.",
                )
            )

    def noted(self, fault: ApiError) -> ApiError:
        """Store the error by which a callback stops the parser, which does not report it."""
        self.fault = fault
        return fault

    def headers_too_large(self) -> ApiError:
        """Return the error with the limits on headers."""
        return HeadersTooLarge(
            "headers_too_large",
            f"The headers exceed {self.headers_limit_bytes} bytes or {self.fields_limit} fields.",
            limit_bytes=self.headers_limit_bytes,
            limit_fields=self.fields_limit,
        )

    # Shutdown of the server.

    def stops(self) -> bool:
        """Return whether the server stops, or is about to."""
        return self.shuts_down or self.draining.begun

    def shutdown(self) -> None:
        """Close after the current answer; an idle connection first waits a moment for a request.

        A request may be on its way already, and closing would look like a lost answer.
        """
        self.shuts_down = True
        idle = self.running is None or self.running.response_complete
        if idle and not self.in_body and not self.discards_input:
            self.closes_after_next = True
            self.arm(self.linger_seconds, self.transport.close)
        else:
            super().shutdown()

    # ApiError of a request.

    def refuse(self, error: ApiError) -> None:
        """Answer a request that cannot be served, after those before it, and close."""
        self.discards_input = True
        self.disarm()
        cycle = self.cycle
        if self.transport.is_closing():
            return
        if not self.in_body and cycle is not None and not cycle.response_complete:
            self.close_after(cycle)
        elif self.in_body and self.pipeline:
            # The faulty request is the newest in the pipeline; those before it are answered.
            self.pipeline.popleft()
            self.close_after(self.pipeline[0][0] if self.pipeline else self.running)
        elif self.in_body and cycle.response_started:
            self.transport.close()
        else:
            if self.in_body:
                cycle.disconnected = True
                cycle.message_event.set()
            self.answer(error)

    def close_after(self, cycle: RequestResponseCycle | None) -> None:
        """Read no more, and close when the answer to `cycle` is sent."""
        self.discards_input = True
        if cycle is None or cycle.response_complete:
            self.transport.close()
        else:
            cycle.keep_alive = False

    def answer(self, error: ApiError) -> None:
        """Write the answer, and close a moment later.

        Closing immediately with unread bytes makes the client drop an answer that it has not read.
        """
        scope: Mapping[str, Any] = self.cycle.scope if self.in_body else {}
        request_id = scope.get("request_id") or request_id_of(self.headers)
        path = self.url.partition(b"?")[0].decode("latin-1")
        answer = errors.answer(error, request_id, path)
        lines = sealed(
            [*self.server_state.default_headers, *answer.headers, (b"connection", b"close")],
            request_id,
            secure=self.scheme == "https",
        )
        status = HTTPStatus(answer.status)
        head = b"HTTP/1.1 %d %s\r\n" % (status, status.phrase.encode("ascii"))
        head += b"".join(name + b": " + value + b"\r\n" for name, value in lines)
        self.transport.write(head + b"\r\n" + answer.body)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self.flow.resume_reading()
        self.arm(self.linger_seconds, self.transport.close)
        if not self.in_body:  # Otherwise the edge serves the request and counts it.
            self.counts.request(NO_OPERATION, answer.status, 0.0)
        self.counts.refusal(error.code)
        structlog.get_logger("accounting.connections").info(
            "refused", status=answer.status, error_code=answer.error_code, request_id=request_id
        )
