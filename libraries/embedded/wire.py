"""A minimal client of PostgreSQL's protocol, to check readiness and to run one statement.

Over a unix socket with trust authentication this needs two kinds of message. It avoids a dependency
on `psql`, which is not in every set of programs, and on a driver.
"""

import socket
import struct
import sys
from contextlib import closing
from pathlib import Path
from typing import BinaryIO, Final

from libraries.embedded.errors import EmbeddedError
from libraries.embedded.places import SUPERUSER

PROTOCOL_3: Final = 196608
ANSWER_LIMIT_SECONDS: Final = 60.0


class RefusalError(EmbeddedError):
    """An error that the server answered; `code` is its SQLSTATE."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"PostgreSQL says: {message} ({code})")
        self.code = code


def run_statement(path: Path, statement: str = "") -> None:
    """Connect to the server and run one statement; an empty one only checks readiness.

    Raises RefusalError for an error of the server, and OSError if no server listens.
    """
    with closing(_connect(path)) as connection, connection.makefile("rb") as answers:
        words = f"user\0{SUPERUSER}\0database\0postgres\0\0".encode()
        connection.sendall(struct.pack("!ii", 8 + len(words), PROTOCOL_3) + words)
        _await_ready(answers)
        if statement:
            connection.sendall(_message(b"Q", statement.encode() + b"\0"))
            _await_ready(answers)
        connection.sendall(_message(b"X", b""))


def listener_pid(path: Path) -> int | None:
    """Return the process id of the listener of a socket, from the kernel; None if there is none.

    PostgreSQL's children close the listening socket, so this is always the postmaster.
    """
    try:
        with closing(_connect(path)) as connection:
            if sys.platform == "linux":
                peer = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
                pid = int(struct.unpack("iII", peer)[0])
            else:  # SOL_LOCAL and LOCAL_PEERPID of macOS, which Python does not name.
                pid = connection.getsockopt(0, 2)
            return pid
    except OSError:
        return None


def _connect(path: Path) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.settimeout(ANSWER_LIMIT_SECONDS)
        connection.connect(str(path))
    except BaseException:
        connection.close()
        raise
    return connection


def _message(kind: bytes, body: bytes) -> bytes:
    return kind + struct.pack("!i", 4 + len(body)) + body


def _await_ready(answers: BinaryIO) -> None:
    """Read until the server is ready, and then raise the error that it sent before, if any."""
    refusal: RefusalError | None = None
    while True:
        header = answers.read(5)
        if len(header) < 5:
            raise refusal or ConnectionResetError("PostgreSQL closed the connection")
        kind, length = header[:1], struct.unpack("!i", header[1:])[0]
        body = answers.read(length - 4)
        if kind == b"E":
            refusal = _refusal(body)
        if kind == b"R" and body[:4] != b"\0\0\0\0":
            raise EmbeddedError("PostgreSQL asks for a password on its own socket")
        if kind == b"Z":
            if refusal is not None:
                raise refusal
            return


def _refusal(body: bytes) -> RefusalError:
    fields = {part[:1]: part[1:].decode(errors="replace") for part in body.split(b"\0") if part}
    return RefusalError(fields.get(b"C", "?????"), fields.get(b"M", "no message"))
