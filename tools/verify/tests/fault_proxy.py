"""A proxy that plants faults in the requests to a server and in its answers."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import orjson

from tests.partner import NOBODY, PATIENCE_SECONDS
from tests.plain_wire import PlainWire

BY_THE_WAY = {"content-length", "connection", "transfer-encoding", "host"}
Headers = dict[str, str]


@dataclass
class Exchange:
    """A request on its way to the server, and its answer."""

    method: str
    path: str
    headers: Headers
    status: int = 0
    answered: Headers = field(default_factory=dict)
    content: bytes = b""

    @property
    def body(self) -> Any:
        return orjson.loads(self.content)

    @body.setter
    def body(self, value: Any) -> None:
        self.content = orjson.dumps(value)


def leave(_passing: Exchange) -> None:
    """Leave an exchange unchanged."""


@dataclass(frozen=True)
class FaultPlan:
    """Changes of requests and of answers."""

    ask: Callable[[Exchange], None] = leave
    answer: Callable[[Exchange], None] = leave


@contextmanager
def spoiled(url: str, spoiling: FaultPlan) -> Iterator[str]:
    """Run a proxy of a server; yield its address."""
    with (
        httpx.Client(
            base_url=url, verify=NOBODY, transport=PlainWire(), timeout=PATIENCE_SECONDS
        ) as http,
        ThreadingHTTPServer(("127.0.0.1", 0), handler(http, spoiling)) as proxy,
    ):
        thread = threading.Thread(target=proxy.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{proxy.server_port}"
        finally:
            proxy.shutdown()
            thread.join()


def handler(http: httpx.Client, spoiling: FaultPlan) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def pass_on(self) -> None:
            headers = {name.lower(): value for name, value in self.headers.items()}
            content = self.rfile.read(int(headers.get("content-length", 0)))
            kept = {name: value for name, value in headers.items() if name not in BY_THE_WAY}
            passing = Exchange(self.command, self.path, {**kept, "accept-encoding": "identity"})
            spoiling.ask(passing)
            answer = http.request(
                passing.method, passing.path, headers=passing.headers, content=content
            )
            passing.status, passing.content = answer.status_code, answer.content
            passing.answered = dict(answer.headers)
            spoiling.answer(passing)
            self.send_response_only(passing.status)
            for name, value in passing.answered.items():
                if name not in BY_THE_WAY:
                    self.send_header(name, value)
            self.send_header("content-length", str(len(passing.content)))
            self.end_headers()
            self.wfile.write(passing.content)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = pass_on  # noqa: N815

        def log_message(self, *_: Any) -> None:
            """Discard the log message."""

    return Handler
