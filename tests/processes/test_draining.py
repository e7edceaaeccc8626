"""SIGTERM: what is under way is finished, whoever comes later is refused, all is stopped."""

import signal
import threading
import time
from pathlib import Path

import httpx
import psycopg

from embedded import reaper
from embedded.postgres import EmbeddedPostgres
from tests.partnership import Business
from tests.processes.serving import Server, is_free, processes_of, within


class Slowly:
    """A request that waits for a lock, in a thread of its own."""

    def __init__(self, business: Business) -> None:
        self.business = business
        self.answers: list[httpx.Response] = []
        self.thread = threading.Thread(target=self.ask)
        self.thread.start()

    def ask(self) -> None:
        body = {"company_name": "Slow Bakery"}
        self.answers.append(self.business.api.post("customers/", json=body, timeout=30))

    def answer(self) -> httpx.Response:
        self.thread.join()
        return self.answers[0]


def refuses(server: Server) -> bool:
    """Whether a new connection is refused outright."""
    try:
        server.get("/health/live")
    except httpx.ConnectError:
        return True
    return False


def waits_for_a_lock(connection: psycopg.Connection) -> bool:
    """Whether some statement stands before a lock."""
    row = connection.execute("SELECT count(*) FROM pg_locks WHERE NOT granted").fetchone()
    return row is not None and row[0] > 0


class TestDraining:
    def test_a_slow_request_is_finished_and_new_ones_are_refused(self, fresh_folder: Path) -> None:
        url = EmbeddedPostgres(fresh_folder / "postgres").url()
        with Server(fresh_folder) as server:
            business = server.partner().business()
            server.wait_for_workers()
            with psycopg.connect(url) as lock:
                lock.execute("LOCK TABLE customer IN ACCESS EXCLUSIVE MODE")
                slow = Slowly(business)
                assert within(10, lambda: waits_for_a_lock(lock))
                server.process.send_signal(signal.SIGTERM)
                assert within(2, lambda: refuses(server))
                time.sleep(0.5)
                assert not server.ended
                assert slow.thread.is_alive()
            assert slow.answer().status_code == 201
            assert server.process.wait(10) == 0
        assert {event["level"] for event in server.events("closed")} == {"info"}
        assert len(server.events("closed")) == 2
        assert is_free(server.port)
        assert reaper.is_down(fresh_folder / "postgres")
        assert within(2, lambda: processes_of(fresh_folder) == {})

    def test_an_interrupted_idle_server_stops_at_once(self, lived_in: Path) -> None:
        with Server(lived_in, "--development", "--workers", "1") as server:
            server.process.send_signal(signal.SIGINT)
            assert server.process.wait(3) == 0
        assert "Traceback" not in server.log
