"""The bare peer, without framework, token or database: the cost of HTTP for an equal body."""

from collections.abc import Awaitable, Callable
from typing import Any

ANSWER = b'{"customer":"' + b"x" * 1085 + b'"}'
HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(ANSWER)),
]
Application = Callable[[dict[str, Any], Any, Any], Awaitable[None]]


def create_app() -> Application:
    """Return the application."""
    return _answer


async def _answer(scope: dict[str, Any], _receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
        await send({"type": "http.response.body", "body": ANSWER})
