"""No framework, no token, no database: what HTTP itself costs with bodies of the same size."""

from typing import Any

ANSWER = b'{"customer":"' + b"x" * 1085 + b'"}'
HEADERS = [
    (b"content-type", b"application/json"),
    (b"content-length", b"%d" % len(ANSWER)),
]


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Read the body, answer the same as ever."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    status = 201 if scope["method"] == "POST" else 200
    await send({"type": "http.response.start", "status": status, "headers": HEADERS})
    await send({"type": "http.response.body", "body": ANSWER})
