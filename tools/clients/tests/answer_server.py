"""An HTTP server whose responses come from a function: a script, or another server's responses."""

import threading
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import NamedTuple, Self

import httpx


class ReceivedRequest(NamedTuple):
    """A request as the server received it."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class Answer(NamedTuple):
    """A response to send."""

    status: int
    body: bytes = b"{}"
    headers: Mapping[str, str] = {"Content-Type": "application/json"}


class AnswerServer:
    """An HTTP server on loopback. Where `answer` returns None it disconnects instead."""

    def __init__(self, answer: Callable[[ReceivedRequest], Answer | None]) -> None:
        self.asked: list[ReceivedRequest] = []

        def said(asked: ReceivedRequest) -> Answer | None:
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
    """A handler of all methods."""

    protocol_version = "HTTP/1.1"
    # A response in two packets is delayed by 40 ms.
    wbufsize = -1
    said: Callable[[ReceivedRequest], Answer | None]

    def handle_any(self) -> None:
        """Answer a request, or disconnect."""
        answer = self.said(
            ReceivedRequest(self.command, self.path, dict(self.headers), self.body())
        )
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer.status)
        for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(answer.body)

    def body(self) -> bytes:
        """Read the body of a request, whole or in chunks."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline(), 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Return the same handler for any method: `http.server` looks for do_GET and so on."""
        if not name.startswith("do_"):
            raise AttributeError(name)
        return self.handle_any

    def log_message(self, *words: object) -> None:
        """Discard the log message."""


class Between(AnswerServer):
    """A proxy of a server that drops the responses for which `lost` returns true.

    `lost` is called with each request once the server has answered it; `answers` holds its answers.
    """

    def __init__(self, url: str, lost: Callable[[ReceivedRequest], bool]) -> None:
        self.answers: list[tuple[ReceivedRequest, Answer]] = []
        self.upstream = httpx.Client(base_url=url, timeout=60)

        def handed_on(asked: ReceivedRequest) -> Answer | None:
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
