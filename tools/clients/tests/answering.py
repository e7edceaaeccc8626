"""An HTTP server whose answers are given by a function: a script, or what another server says."""

import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

import httpx


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """What is answered."""

    status: int
    body: bytes = b"{}"
    headers: Mapping[str, str] = {"Content-Type": "application/json"}


class Answering:
    """Listens on loopback while it is entered. Where `answer` gives None it hangs up instead."""

    def __init__(self, answer: Callable[[Asked], Answer | None]) -> None:
        self.asked: list[Asked] = []

        def said(asked: Asked) -> Answer | None:
            self.asked.append(asked)
            return answer(asked)

        handler = type("Handler", (Handler,), {"said": staticmethod(said)})
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()


class Handler(BaseHTTPRequestHandler):
    """Answers every method alike."""

    protocol_version = "HTTP/1.1"
    # An answer in two packets is held up for 40 ms.
    wbufsize = -1
    said: Callable[[Asked], Answer | None]

    def handle_any(self) -> None:
        """Answer a request, or hang up."""
        answer = self.said(Asked(self.command, self.path, dict(self.headers), self.body()))
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def body(self) -> bytes:
        """Read what was sent along, whole or in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Find the same way to handle any method: `http.server` looks for do_GET and so on."""
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self.handle_any

    def log_message(self, *words: object) -> None:
        """Say nothing."""


class Between(Answering):
    """Hands all requests on to a server, and its answers back, but for those that `lost` says.

    `lost` is given each request once the server has answered it; `answers` are what it answered.
    """

    def __init__(self, url: str, lost: Callable[[Asked], bool]) -> None:
        self.answers: list[tuple[Asked, Answer]] = []
        self.upstream = httpx.Client(base_url=url, timeout=60)

        def handed_on(asked: Asked) -> Answer | None:
            headers = {
                name: value
                for name, value in asked.headers.items()
                if name.lower() not in ("accept-encoding", "transfer-encoding")
            }
            headers["Accept-Encoding"] = "identity"
            said = self.upstream.request(
                asked.method, asked.path, content=asked.body, headers=headers
            )
            kept = {
                name: value
                for name, value in said.headers.items()
                if name not in ("content-length", "connection", "date", "transfer-encoding")
            }
            answer = Answer(said.status_code, said.content, kept)
            self.answers.append((asked, answer))
            return None if lost(asked) else answer

        super().__init__(handed_on)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        super().__exit__(kind, error, at)
        self.upstream.close()
