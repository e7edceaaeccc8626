"""Receivers of webhooks: real HTTP servers that keep what they are sent."""

import asyncio
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from time import monotonic
from typing import Any

from standardwebhooks import Webhook

from libraries.outbound.tests.receivers import read_request
from tests.contract.webhooks import check_webhook

Answer = tuple[int, dict[str, str], str]
"""A status, headers and a body; status 0 never answers."""

OK: Answer = (200, {}, "ok")
YOUNG_SECONDS = 240.0  # The library refuses a timestamp that is five minutes old.


@dataclass(frozen=True)
class Request:
    """A request as it arrived."""

    path: str
    headers: dict[str, str]
    body: str
    at: float

    @property
    def event(self) -> dict[str, Any]:
        """The event in the body."""
        data: dict[str, Any] = json.loads(self.body)["data"]
        return data

    def verify(self, secret: str) -> None:
        """Verify the signature as a receiver does, and that the contract describes the request.

        A request of a long run is too old for the library by then: only its signature is verified.
        """
        webhook = Webhook(secret)
        if monotonic() - self.at < YOUNG_SECONDS:
            webhook.verify(self.body, self.headers)
        else:
            sent = datetime.fromtimestamp(int(self.headers["webhook-timestamp"]), UTC)
            signature = webhook.sign(self.headers["webhook-id"], sent, self.body)
            assert signature in self.headers["webhook-signature"].split()
        check_webhook(self.headers, json.loads(self.body))


@dataclass
class Receiver:
    """A receiver on loopback; `answer` decides about each request, by its path by default 200."""

    answer: Callable[[Request], Answer] = lambda _: OK
    requests: list[Request] = field(default_factory=list)
    port: int = 0
    open: int = 0
    most_open: int = 0

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def to(self, path: str) -> list[Request]:
        """Return the requests to one path."""
        return [each for each in self.requests if each.path == path]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        try:
            request = await read(reader)
            self.requests.append(request)
            status, headers, body = self.answer(request)
            if not status:
                await reader.read()
                return
            told = {"Content-Length": str(len(body.encode())), **headers}
            lines = "".join(f"{name}: {value}\r\n" for name, value in told.items())
            writer.write(f"HTTP/1.1 {status} Said\r\n{lines}\r\n{body}".encode())
            await writer.drain()
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.open -= 1
            writer.close()


async def read(reader: asyncio.StreamReader) -> Request:
    head, body = (await read_request(reader)).split(b"\r\n\r\n", 1)
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
    return Request(first.split(" ")[1], headers, body.decode(), monotonic())


@contextmanager
def receiving(answer: Callable[[Request], Answer] = lambda _: OK) -> Iterator[Receiver]:
    """Run a receiver in a thread of its own."""
    receiver = Receiver(answer)
    started = threading.Event()
    loop = asyncio.new_event_loop()
    ended = asyncio.Event()

    async def run() -> None:
        server = await asyncio.start_server(receiver.serve, "127.0.0.1", 0, backlog=512)
        receiver.port = server.sockets[0].getsockname()[1]
        started.set()
        await ended.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for each in others:
            each.cancel()
        await asyncio.gather(*others, return_exceptions=True)
        await asyncio.sleep(0.1)  # Closed connections are released in later rounds.

    def work() -> None:
        asyncio.set_event_loop(loop)
        loop.run_until_complete(run())
        loop.close()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield receiver
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(10)
