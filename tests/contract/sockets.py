"""Requests that no HTTP client sends, over a plain socket; their answers are checked too."""

import socket

import httpx

from tests.contract.responses import check_response
from tests.partner import PATIENCE_SECONDS


def exchanged(url: httpx.URL, method: str, head: bytes, *, chunks: int = 0) -> httpx.Response:
    """Send these bytes, then up to `chunks` chunks of 64 KiB, and return the answer."""
    with socket.create_connection((url.host, url.port), timeout=PATIENCE_SECONDS) as connection:
        connection.sendall(head)
        for _ in range(chunks):
            try:
                connection.sendall(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")
            except (BrokenPipeError, ConnectionResetError):
                break
        return read_answer(connection, httpx.Request(method, url))


def read_answer(connection: socket.socket, request: httpx.Request) -> httpx.Response:
    with connection.makefile("rb") as stream:
        status = int(stream.readline().split()[1])
        headers: list[tuple[str, str]] = []
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.decode("latin-1").partition(": ")
            headers.append((name, value))
        content = stream.read(int(dict(headers)["content-length"]))
    answer = httpx.Response(status, headers=headers, content=content, request=request)
    check_response(answer)
    return answer
