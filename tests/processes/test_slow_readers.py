"""Clients that request large answers and read hardly anything."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from statistics import quantiles
from threading import Event, Thread

import httpx
import pytest

from tests.builders.files import PDF, upload
from tests.partner import PATIENCE_SECONDS, client, within
from tests.processes.server_process import Server

READERS = 500
MOST_FACTOR = 3
LITTLE_SECONDS = 0.02  # Shorter answers delay no request noticeably.
MOST_MEGABYTES = 100
LARGE_FILE = PDF + bytes(2_000_000)


@pytest.fixture(scope="module")
def server(lived_in: Path) -> Iterator[Server]:
    with Server(
        lived_in,
        *("--development", "--workers", "2"),
        ACCOUNTING_ANSWER_SECONDS="1",
        ACCOUNTING_CONNECTIONS_PER_ADDRESS="0",
    ) as server:
        server.wait_for_workers(2)
        # The pages may be written anew first, and each new connection may reach the other worker.
        assert within(PATIENCE_SECONDS, lambda: all(has_pages(server) for _ in range(20)))
        yield server


def has_pages(server: Server) -> bool:
    """Return whether a worker serves the largest page."""
    return server.get("/openapi.json").status_code == 200


@contextmanager
def slow_readers(server: Server, path: str, times: int, bytes_read: int) -> Iterator[None]:
    """Open 500 connections that send a request some times, and read so many bytes each 0.5 s."""
    asked = f"GET {path} HTTP/1.1\r\nHost: slow\r\n\r\n".encode() * times
    ended = Event()

    def read(readers: list[socket.socket]) -> None:
        while not ended.wait(0.5):
            for reader in readers:
                with suppress(OSError):  # Nothing has arrived, or the server closed the connection.
                    reader.recv(bytes_read)

    with ExitStack() as opened:
        readers = []
        for _ in range(READERS):
            reader = opened.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", server.port))
            reader.sendall(asked)
            reader.setblocking(False)
            readers.append(reader)
        reading = Thread(target=read, args=(readers if bytes_read else [],))
        reading.start()
        try:
            yield
        finally:
            ended.set()
            reading.join()


def slowest_seconds(caller: httpx.Client) -> float:
    """Return the seconds within which 99 of 100 answers arrive."""
    taken = []
    for _ in range(1000):
        began = time.perf_counter()
        assert caller.get("/health/ready").status_code == 200
        taken.append(time.perf_counter() - began)
    return quantiles(taken, n=100)[-1]


def megabytes(server: Server) -> float:
    """Return the memory of both workers."""
    statuses = [Path(f"/proc/{pid}/status").read_text() for pid in server.workers]
    lines = [line for status in statuses for line in status.splitlines() if "VmRSS" in line]
    return sum(int(line.split()[1]) for line in lines) / 1024


def closed_readers(server: Server) -> int:
    """Count the connections that the server has closed because of slow reading."""
    return len(server.events("slow_reader_closed"))


class TestSlowReaders:
    @pytest.mark.parametrize(
        ("path", "times", "bytes_read"),
        [
            ("/openapi.yaml", 3, 0),
            ("/openapi.json", 1, 10),
            ("/openapi.json", 3, 10),
        ],
    )
    def test_they_delay_nobody_and_cost_no_memory(
        self, server: Server, path: str, times: int, bytes_read: int
    ) -> None:
        with client(server.url, timeout=PATIENCE_SECONDS) as caller:
            before, logged = megabytes(server), len(server.events("request"))
            for _ in range(3):  # The machine may be busy with other tests.
                most = max(slowest_seconds(caller) * MOST_FACTOR, LITTLE_SECONDS)
                with slow_readers(server, path, times, bytes_read):
                    during = slowest_seconds(caller)
                    assert megabytes(server) < before + MOST_MEGABYTES
                if during < most:
                    break
        assert during < most
        assert "Traceback" not in server.log
        assert {event["level"] for event in server.events("request")[logged:]} == {"info"}

    def test_a_reader_below_the_least_rate_is_closed(self, server: Server) -> None:
        closed = closed_readers(server)
        with slow_readers(server, "/openapi.json", 1, 10):
            assert within(PATIENCE_SECONDS, lambda: closed_readers(server) == closed + READERS)

    def test_files_that_they_do_not_read_cost_little_memory(self, server: Server) -> None:
        path = upload(server.partner().business(), content=LARGE_FILE).json()["url"]
        assert server.get(path).content == LARGE_FILE
        before, closed = megabytes(server), closed_readers(server)
        with slow_readers(server, path, 3, 10):
            # Two workers hold twelve of these files each.
            assert within(PATIENCE_SECONDS, lambda: closed_readers(server) > closed + READERS - 30)
            assert server.get(path).content == LARGE_FILE
            most = before + MOST_MEGABYTES
            assert within(PATIENCE_SECONDS, lambda: megabytes(server) < most)
