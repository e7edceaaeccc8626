"""A request to an ASGI application without a socket, and every message of the answer."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]


@dataclass
class Reply:
    """The answer of the application; `starts` counts its heads and must be 1."""

    status: int
    lines: list[tuple[str, str]]
    body: bytes
    starts: int
    scope: dict[str, Any]

    def header(self, name: str) -> str | None:
        """Return the value of a header, or None; it must not be repeated."""
        values = [value for key, value in self.lines if key == name]
        assert len(values) <= 1, f"{name} is sent {len(values)} times"
        return values[0] if values else None

    def json(self) -> Any:
        return json.loads(self.body)


def request(
    application: Any,
    method: str = "GET",
    path: str = "/v1/platform/businesses/",
    *lines: tuple[str, str],
    body: list[bytes] | None = None,
    scheme: str = "https",
    client: tuple[str, int] | None = ("203.0.113.9", 4000),
    server: tuple[str, int] | None = ("192.0.2.1", 443),
    then: str = "hang",
) -> Reply:
    """Send one request; `body` is what arrives, piece by piece, and `then` what follows it.

    "hang" waits for ever, "disconnect" hangs up, "end" marks the last piece as the last.
    """
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "scheme": scheme,
        "client": client,
        "server": server,
        "headers": [(name.encode("latin-1"), value.encode("latin-1")) for name, value in lines],
        "extensions": {},
    }
    return asyncio.run(exchange(application, scope, list(body or []), then))


async def exchange(
    application: Any, scope: dict[str, Any], pieces: list[bytes], then: str
) -> Reply:
    """Run the application for a request and return its messages."""
    sent: list[Message] = []

    async def receive() -> Message:
        if pieces:
            piece = pieces.pop(0)
            more = bool(pieces) or then != "end"
            return {"type": "http.request", "body": piece, "more_body": more}
        if then == "disconnect":
            return {"type": "http.disconnect"}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await application(scope, receive, send)
    starts = [message for message in sent if message["type"] == "http.response.start"]
    body = b"".join(
        message.get("body", b"") for message in sent if message["type"] == "http.response.body"
    )
    head = starts[0] if starts else {"status": 0, "headers": []}
    decoded = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in head["headers"]]
    return Reply(head["status"], decoded, body, len(starts), scope)
