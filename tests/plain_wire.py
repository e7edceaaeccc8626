"""HTTP/1.1 over plain sockets for the tests' clients; httpx's own transport is slow.

It is also stricter: an answer has one length, and no bytes follow it.
"""

import contextlib
import re
import select
import socket
from collections import deque

import httpx

HEAD = re.compile(
    rb"HTTP/1\.1 ([2-5]\d\d) ([ -~]*)\r\n((?:[!#$%&'*+.^`|~\w-]+: [^\r\n\0]*\r\n)+)\r\n"
)
LINE = re.compile(rb"([^:]+): ([^\r\n]*)\r\n")
WITHOUT_BODY = frozenset({204, 304})


class PlainWire(httpx.BaseTransport):
    """Connections to one server, kept for later requests; threads may share them."""

    def __init__(self) -> None:
        self.idle: deque[socket.socket] = deque()

    def close(self) -> None:
        """Close the idle connections."""
        while self.idle:
            self.idle.pop().close()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request and read its whole answer."""
        connection = self.connection(request)
        try:
            send(connection, request)
            response = read(connection, request)
        except BaseException as error:
            connection.close()
            if isinstance(error, TimeoutError):
                raise httpx.ReadTimeout(str(error)) from error
            if isinstance(error, OSError):
                raise httpx.ReadError(str(error)) from error
            raise
        if response.headers.get("connection") == "close":
            connection.close()
        else:
            self.idle.append(connection)
        return response

    def connection(self, request: httpx.Request) -> socket.socket:
        """Return a kept connection that the server has not closed, else a new one."""
        limits = request.extensions["timeout"]
        with contextlib.suppress(IndexError):  # None is left.
            while True:
                connection = self.idle.pop()
                if is_silent(connection):
                    connection.settimeout(limits["read"])
                    return connection
                connection.close()
        address = (request.url.host, request.url.port or 80)
        try:
            connection = socket.create_connection(address, limits["connect"])
        except OSError as error:
            raise httpx.ConnectError(str(error)) from error
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(limits["read"])
        return connection


def is_silent(connection: socket.socket) -> bool:
    """Return whether no bytes have arrived since the last answer, and no end."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return not poll.poll(0)


def send(connection: socket.socket, request: httpx.Request) -> None:
    """Send a request; a server that refuses it early may stop reading."""
    lines = [b"%s %s HTTP/1.1" % (request.method.encode(), request.url.raw_path)]
    lines += [b"%s: %s" % line for line in request.headers.raw]
    head = b"\r\n".join([*lines, b"", b""])
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        if "transfer-encoding" not in request.headers:
            connection.sendall(head + request.read())
            return
        connection.sendall(head)
        assert isinstance(request.stream, httpx.SyncByteStream)
        for chunk in request.stream:
            connection.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        connection.sendall(b"0\r\n\r\n")


def read(connection: socket.socket, request: httpx.Request) -> httpx.Response:
    data = b""
    while (end := data.find(b"\r\n\r\n") + 4) < 4:
        data += more(connection)
    found = HEAD.fullmatch(data, 0, end)
    if found is None:
        raise httpx.RemoteProtocolError(f"This is no head of an answer: {data[:end]!r}")
    status, lines = int(found[1]), LINE.findall(found[3])
    lengths = [int(value) for name, value in lines if name.lower() == b"content-length"]
    if status not in WITHOUT_BODY and len(lengths) != 1:
        raise httpx.RemoteProtocolError(f"An answer has one length, this one {lengths}.")
    has_body = status not in WITHOUT_BODY and request.method != "HEAD"
    body = [data[end:]]
    missing = (lengths[0] if has_body else 0) - len(body[0])
    while missing > 0:
        body.append(more(connection))
        missing -= len(body[-1])
    if missing < 0:
        raise httpx.RemoteProtocolError(f"{-missing} bytes come behind the answer.")
    told = {"http_version": b"HTTP/1.1", "reason_phrase": found[2]}
    return httpx.Response(status, headers=lines, content=b"".join(body), extensions=told)


def more(connection: socket.socket) -> bytes:
    """Return the next bytes. Raises RemoteProtocolError at the end."""
    data = connection.recv(65_536)
    if not data:
        raise httpx.RemoteProtocolError("The server has hung up.")
    return data
