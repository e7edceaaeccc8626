"""Clients that request much and read hardly anything."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median

import httpx
import pytest

from tests.partner import PATIENCE_SECONDS, client, within
from tests.processes.server_process import Server

READERS = 500
ASKED = b"GET /openapi.yaml HTTP/1.1\r\nHost: slow\r\n\r\n" * 3
MOST_FACTOR = 3
LITTLE_SECONDS = 0.01  # Shorter answers delay no request noticeably.


@pytest.fixture
def server(lived_in: Path) -> Iterator[Server]:
    with Server(
        lived_in,
        *("--development", "--workers", "2"),
        ACCOUNTING_ANSWER_SECONDS="1",
        ACCOUNTING_CONNECTIONS_PER_ADDRESS="0",
    ) as server:
        yield server


@contextmanager
def slow_readers(server: Server) -> Iterator[None]:
    """Open 500 connections that request the largest page three times and read nothing."""
    with ExitStack() as opened:
        for _ in range(READERS):
            reader = opened.enter_context(socket.socket())
            reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            reader.connect(("127.0.0.1", server.port))
            reader.sendall(ASKED)
        yield


def usual_seconds(caller: httpx.Client) -> float:
    """Return the median seconds of an answer; other load delays only the slowest ones."""
    taken = []
    for _ in range(400):
        began = time.perf_counter()
        assert caller.get("/health/ready").status_code == 200
        taken.append(time.perf_counter() - began)
    return median(taken)


class TestSlowReaders:
    def test_they_keep_nobody_waiting_and_are_no_fault_of_ours(self, server: Server) -> None:
        with client(server.url, timeout=PATIENCE_SECONDS) as caller:
            for _ in range(3):  # The machine may be busy with other tests.
                most = max(usual_seconds(caller) * MOST_FACTOR, LITTLE_SECONDS)
                with slow_readers(server):
                    during = usual_seconds(caller)
                if during < most:
                    break
        assert during < most
        assert within(PATIENCE_SECONDS, lambda: server.events("request"))
        assert "Traceback" not in server.log
        assert {event["level"] for event in server.events("request")} == {"info"}
