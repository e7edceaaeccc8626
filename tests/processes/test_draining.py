"""SIGTERM: pending requests are finished, new ones are refused, all processes end."""

import os
import signal
import socket
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import httpx
import psycopg
import pytest

from libraries.embedded import reaper
from libraries.embedded.postgres import EmbeddedPostgres
from server.process.startup import DRAIN_SECONDS
from tests.partner import NOBODY, PATIENCE_SECONDS, Business, Partner, within
from tests.ports import is_free
from tests.processes.server_process import Server, all_gone

# Less than a server waits for a silent client. A busy machine may add some seconds.
SOON_SECONDS = DRAIN_SECONDS - 5.0
EARLY_SECONDS = 10.0  # Half of the longest wait for an event.


class Slowly:
    """A request that waits for a lock, in a thread of its own."""

    def __init__(self, business: Business) -> None:
        self.business = business
        self.answers: list[httpx.Response] = []
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self) -> None:
        body = {"company_name": "Slow Bakery"}
        self.answers.append(self.business.api.post("customers/", json=body))

    def answer(self) -> httpx.Response:
        self.thread.join()
        return self.answers[0]


def refuses(server: Server) -> bool:
    """Return whether a new connection is refused."""
    try:
        server.get("/health/live")
    except httpx.ConnectError:
        return True
    except httpx.TransportError:  # It stopped listening at the same moment.
        return False
    return False


def waits_for_a_lock(connection: psycopg.Connection) -> bool:
    """Return whether a statement waits for a lock."""
    row = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


class Callers:
    """Threads that write, with a new connection for each request, and count the answers.

    One worker has as many database connections, so that no request waits for one.
    """

    def __init__(self, business: Business, count: int = 4) -> None:
        self.business = business
        self.headers = {**business.api.headers, "Connection": "close"}
        self.seen: Counter[int | str] = Counter()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.write) for _ in range(count)]
        for thread in self.threads:
            thread.start()

    def write(self) -> None:
        while not self.stopped.is_set():
            address = f"{self.business.base_url}/customers/"
            body = {"company_name": "Hurried Bakery"}
            try:
                answer = httpx.post(
                    address,
                    json=body,
                    headers=self.headers,
                    timeout=PATIENCE_SECONDS,
                    verify=NOBODY,
                )
                self.seen[answer.status_code] += 1
            except httpx.TransportError as error:
                self.seen[repr(error)] += 1

    def wait_for(self, more: int) -> None:
        """Return after so many more answered requests."""
        target = self.seen[201] + more
        assert within(PATIENCE_SECONDS, lambda: self.seen[201] >= target), self.seen

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()


class TestWorker:
    def test_that_drains_loses_no_request_and_is_replaced(
        self, served: Server, acme: Partner
    ) -> None:
        business = acme.business()
        callers = Callers(business)
        try:
            for _ in range(2):
                told, *_ = served.wait_for_workers(2)
                callers.wait_for(10)
                os.kill(told, signal.SIGTERM)
                assert within(PATIENCE_SECONDS, lambda told=told: told not in served.workers)
                callers.wait_for(10)
        finally:
            callers.stop()
        assert set(callers.seen) == {201}
        assert business.api.get("customers/").json()["count"] == callers.seen[201]


class TestDraining:
    def test_a_slow_request_is_finished_and_new_ones_are_refused(self, own_folder: Path) -> None:
        url = EmbeddedPostgres(own_folder / "postgres").url()
        with Server(own_folder) as server:
            business = server.partner().business()
            server.wait_for_workers()
            with psycopg.connect(url) as lock:
                lock.execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
                slow = Slowly(business)
                assert within(PATIENCE_SECONDS, lambda: waits_for_a_lock(lock))
                server.process.send_signal(signal.SIGTERM)
                assert within(SOON_SECONDS, lambda: refuses(server))
                time.sleep(0.5)
                assert not server.ended
                assert slow.thread.is_alive()
            assert slow.answer().status_code == 201
            assert server.process.wait(SOON_SECONDS) == 0
        assert {event["level"] for event in server.events("closed")} == {"info"}
        assert len(server.events("closed")) == 2
        assert is_free(server.port)
        assert reaper.is_down(own_folder / "postgres")
        assert all_gone(own_folder)

    @pytest.mark.parametrize("leaving_seconds", ["0", "60"])
    def test_requests_that_wait_for_an_event_are_answered(
        self, lived_in: Path, leaving_seconds: str
    ) -> None:
        settings = {"ACCOUNTING_LEAVING_SECONDS": leaving_seconds}
        with Server(lived_in, **settings) as server, ThreadPoolExecutor(1) as pool:
            business = server.partner().business()
            newest = business.api.get("events/").json()["head_sequence"]
            asked = {"after": newest, "wait": 20}
            waiting = pool.submit(business.api.get, "events/", params=asked)
            time.sleep(0.5)
            assert not waiting.done()
            server.process.send_signal(signal.SIGTERM)
            answer = waiting.result(EARLY_SECONDS)
            assert (answer.status_code, answer.json()["results"]) == (200, [])
            if leaving_seconds != "0":
                began = time.monotonic()
                assert business.api.get("events/", params=asked).json()["results"] == []
                assert time.monotonic() - began < EARLY_SECONDS
                server.process.send_signal(signal.SIGTERM)
            assert server.process.wait(SOON_SECONDS) == 0

    def test_it_says_that_it_leaves_while_it_serves_on_and_then_stops(self, lived_in: Path) -> None:
        settings = {"ACCOUNTING_LEAVING_SECONDS": "60"}
        with Server(lived_in, **settings) as server:
            business = server.partner().business()
            server.wait_for_workers()
            assert server.get("/health/ready").status_code == 200
            server.process.send_signal(signal.SIGTERM)
            stopping = {"status": "unavailable", "checks": {"server": "stopping"}}

            def all_say_so() -> bool:
                answers = [server.get("/health/ready") for _ in range(8)]  # By both workers.
                return all(answer.json() == stopping for answer in answers)

            assert within(PATIENCE_SECONDS, all_say_so)
            posted = business.api.post("customers/", json={"company_name": "Late Bakery"})
            assert (posted.status_code, posted.headers["connection"]) == (201, "close")
            assert not server.ended
            server.process.send_signal(signal.SIGTERM)  # A second signal ends the wait.
            assert server.process.wait(SOON_SECONDS) == 0
        assert [event["seconds"] for event in server.events("leaving")] == [60]

    def test_a_late_caller_is_answered_once_and_silent_ones_do_not_delay_the_end(
        self, lived_in: Path
    ) -> None:
        for _ in range(3):  # The server waits only briefly; a busy machine may take longer.
            answer = self.asked_late(lived_in)
            if answer:
                break
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert b"\r\nconnection: close\r\n" in answer

    def asked_late(self, folder: Path) -> bytes:
        """Return the answer to a request on a connection from before the signal to stop."""
        with Server(folder, "--development", "--workers", "1") as server:
            address = ("127.0.0.1", server.port)
            with socket.create_connection(address) as late, socket.create_connection(address):
                server.get("/health/live")  # By now both connections are accepted.
                server.process.send_signal(signal.SIGTERM)
                assert within(SOON_SECONDS, lambda: refuses(server))
                answer = b""
                with suppress(ConnectionError):
                    late.sendall(b"GET /health/live HTTP/1.1\r\nHost: localhost\r\n\r\n")
                    answer = late.makefile("rb").read()
                assert server.process.wait(SOON_SECONDS) == 0
        return answer
