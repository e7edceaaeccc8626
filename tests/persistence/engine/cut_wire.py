"""A proxy between server and database that breaks the connection during COMMIT."""

import re
import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self

from psycopg.conninfo import conninfo_to_dict

from tests.partner import PATIENCE_SECONDS

COMMITTED = b"C\x00\x00\x00\x0bCOMMIT\x00"  # The database's message that it has committed.
# The server prepares COMMIT under this name.
PREPARED = re.compile(rb"P.{4}(\w+)\x00COMMIT\x00", re.DOTALL)


class Wire:
    """A proxy that forwards everything until it is told to cut, once, at the next COMMIT.

    `before`: the message never reaches the database. `after`: the database has committed, and its
    answer never reaches the server. Of more than `most` connections each is closed immediately.
    """

    def __init__(self, database_url: str, most: int = 1_000) -> None:
        self.most = most
        parts = conninfo_to_dict(database_url)
        self.target = f"{parts['host']}/.s.PGSQL.{parts.get('port', 5432)}"
        self.listener = socket.create_server(("127.0.0.1", 0))
        port = self.listener.getsockname()[1]
        login = f"{parts['user']}@127.0.0.1:{port}/{parts['dbname']}"
        self.url = f"postgresql://{login}?sslmode=disable&gssencmode=disable"
        self.cut: str | None = None
        self.cuts = 0
        self.lock = threading.Lock()
        self.sockets: list[socket.socket] = []
        self.threads = [threading.Thread(target=self._accept, daemon=True)]

    def __enter__(self) -> Self:
        self.threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in self.sockets:
            close(each)
        for thread in self.threads:
            thread.join(timeout=PATIENCE_SECONDS)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            self.most -= 1
            if self.most < 0:
                close(near)
                continue
            far = socket.socket(socket.AF_UNIX)
            far.connect(self.target)
            self.sockets += [near, far]
            for source, sink, place in ((near, far, "before"), (far, near, "after")):
                pump = threading.Thread(target=self._pump, args=(source, sink, place), daemon=True)
                self.threads.append(pump)
                pump.start()

    def _pump(self, source: socket.socket, sink: socket.socket, place: str) -> None:
        signs = {COMMITTED} if place == "after" else set()
        while True:
            try:
                data = source.recv(65_536)
                if place == "before":
                    signs |= {b"\x00" + name + b"\x00" for name in PREPARED.findall(data)}
                if not data or self._cuts_here(place, any(sign in data for sign in signs)):
                    break
                sink.sendall(data)
            except OSError:
                break
        close(source)
        close(sink)

    def _cuts_here(self, place: str, seen: bool) -> bool:
        with self.lock:
            if not seen or self.cut != place:
                return False
            self.cut = None
            self.cuts += 1
            return True


def close(wire: socket.socket) -> None:
    with suppress(OSError):
        wire.shutdown(socket.SHUT_RDWR)
    wire.close()
