"""The load: a closed loop over kept-alive connections, in a process of its own.

Raw sockets and a C parser, so that it costs a fraction of any server under it.
"""

import asyncio
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing import get_context
from time import perf_counter
from typing import Any

import httptools
import uvloop

GRACE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Load:
    """What was driven through one server: latencies in seconds, in ascending order."""

    seconds: float
    latencies: tuple[float, ...]

    @property
    def requests(self) -> int:
        return len(self.latencies)

    @property
    def median_ms(self) -> float:
        return self.slower_than(0.5) * 1000

    def slower_than(self, share: float) -> float:
        """The latency that this share of all requests kept within, in seconds."""
        return self.latencies[min(int(self.requests * share), self.requests - 1)]


class UnexpectedAnswer(Exception):
    """A server answered something else than it was asked for: its cost would mean nothing."""


class Client(asyncio.Protocol):
    """One connection, which sends its next request when the last one is answered."""

    def __init__(self, drive: "Drive") -> None:
        self.drive = drive
        self.body = b""
        self.began = 0.0
        self.done = False
        self.transport: Any
        self.parser = httptools.HttpResponseParser(self)

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.send_next()

    def send_next(self) -> None:
        request = self.drive.next_request()
        if request is None:
            self.done = True
            self.transport.close()
            return
        self.began = perf_counter()
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self.body += body

    def on_message_complete(self) -> None:
        self.drive.latencies.append(perf_counter() - self.began)
        status = self.parser.get_status_code()
        if status != self.drive.expected:
            self.drive.fail(f"{status}, not {self.drive.expected}: {self.body[:500]!r}")
        self.body = b""
        self.parser = httptools.HttpResponseParser(self)
        self.send_next()

    def connection_lost(self, _error: Exception | None) -> None:
        if not self.done:
            self.drive.fail("the connection was closed")
        self.drive.lost()


class Drive:
    """One run of the load against one port of this machine."""

    def __init__(self, requests: Iterator[bytes], expected: int, seconds: float) -> None:
        self.requests = requests
        self.expected = expected
        self.seconds = seconds
        self.latencies: list[float] = []
        self.until = 0.0
        self.open = 0
        self.ended: asyncio.Future[None]

    async def run(self, port: int, connections: int) -> Load:
        """Send until the time is up or the requests are, and until the last one is answered."""
        loop = asyncio.get_running_loop()
        self.ended = loop.create_future()
        self.open = connections
        began = perf_counter()
        self.until = began + self.seconds
        for _ in range(connections):
            await loop.create_connection(lambda: Client(self), "127.0.0.1", port)
        async with asyncio.timeout(self.seconds + GRACE_SECONDS):
            await self.ended
        return Load(perf_counter() - began, tuple(sorted(self.latencies)))

    def next_request(self) -> bytes | None:
        """Give out a request; None when there is to be no other."""
        if self.ended.done() or perf_counter() >= self.until:
            return None
        return next(self.requests, None)

    def fail(self, why: str) -> None:
        """End the run with an error."""
        if not self.ended.done():
            self.ended.set_exception(UnexpectedAnswer(why))

    def lost(self) -> None:
        """Count a connection out; the run is over with the last."""
        self.open -= 1
        if not self.open and not self.ended.done():
            self.ended.set_result(None)


def drive(
    port: int,
    requests: Sequence[bytes],
    *,
    expected: int,
    connections: int = 16,
    seconds: float | None = None,
    skipped: int = 0,
) -> Load:
    """Send requests over and over for some seconds, or each of them once without a time.

    The first time round it leaves out as many as are skipped.
    """
    source = iter(requests) if seconds is None else islice(cycle(requests), skipped, None)
    run = Drive(source, expected, 600 if seconds is None else seconds)
    return uvloop.run(run.run(port, connections))


class Driver:
    """The process that drives."""

    def __init__(self) -> None:
        self._pool = ProcessPoolExecutor(1, mp_context=get_context("spawn"))

    def drive(self, port: int, requests: Sequence[bytes], **options: Any) -> Load:
        """As `drive`, elsewhere; raises UnexpectedAnswer."""
        return self._pool.submit(drive, port, requests, **options).result()

    def close(self) -> None:
        """Let the process go."""
        self._pool.shutdown()


def get(path: str, token: str) -> bytes:
    """Write a GET."""
    return _head("GET", path, token) + b"\r\n"


def post(path: str, token: str, body: bytes, *, key: str | None = None) -> bytes:
    """Write a POST of JSON, with an Idempotency-Key where one is given."""
    named = f"Idempotency-Key: {key}\r\n" if key else ""
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    return _head("POST", path, token) + named.encode() + length.encode() + body


def _head(method: str, path: str, token: str) -> bytes:
    lines = [
        f"{method} {path} HTTP/1.1",
        "Host: 127.0.0.1",
        "Accept: application/json",
        "User-Agent: bench",
        f"Authorization: Bearer {token}",
    ]
    return "".join(f"{line}\r\n" for line in lines).encode()
