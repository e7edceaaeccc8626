"""Kill -9 of whatever belongs to a server: nothing stays behind, and nothing promised is lost."""

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx

from embedded import reaper
from tests.partnership import Business, Partnership, client
from tests.processes.serving import Server, accounting, is_free, processes_of, within

GONE_SECONDS = 2.0


class Writers:
    """Callers who write as fast as they can and remember what was acknowledged."""

    def __init__(self, business: Business, count: int = 4) -> None:
        self.business = business
        self.customer = business.customer()
        self.acknowledged: list[str] = []
        self.statuses: set[int] = set()
        self.stopped = threading.Event()
        self.threads = [threading.Thread(target=self.write, args=(n,)) for n in range(count)]
        for thread in self.threads:
            thread.start()

    def write(self, number: int) -> None:
        headers = dict(self.business.api.headers)
        with client(self.business.base_url, headers=headers, timeout=30) as caller:
            while not self.stopped.is_set():
                try:
                    answer = caller.post("invoices/", json=self.invoice())
                except httpx.TransportError:
                    continue
                self.statuses.add(answer.status_code)
                if answer.status_code == 201:
                    self.acknowledged.append(answer.json()["id"])

    def invoice(self) -> dict[str, Any]:
        return {
            "customer_id": self.customer["id"],
            "line_items": [{"quantity": 1, "unit_price": 100, "description": "Coffee"}],
            "sent_at": "2026-07-01T09:00:00Z",
        }

    def wait_for(self, more: int) -> None:
        """Return when so many more writes are acknowledged."""
        target = len(self.acknowledged) + more
        assert within(30, lambda: len(self.acknowledged) >= target), self.statuses

    def stop(self) -> None:
        self.stopped.set()
        for thread in self.threads:
            thread.join()


def everything_is_gone(server: Server) -> None:
    """Hold that neither a process nor the port nor PostgreSQL is left, in time."""
    assert within(GONE_SECONDS, lambda: is_free(server.port))
    assert within(GONE_SECONDS, lambda: processes_of(server.folder) == {}), processes_of(
        server.folder
    )
    assert reaper.is_down(server.folder / "postgres")


class TestKilledMaster:
    def test_nothing_stays_behind_and_the_next_start_finds_all(self, fresh_folder: Path) -> None:
        with Server(fresh_folder) as server:
            business = server.partner().business()
            customer = business.customer()
            server.wait_for_workers()
            server.kill(server.process.pid)
            server.process.wait()
            everything_is_gone(server)
            server.start().wait()
            found = business.api.get(f"customers/{customer['id']}/")
            assert found.json() == customer


class TestKilledWorker:
    def test_another_takes_its_place_while_serving_goes_on(self, served: Server) -> None:
        before = served.wait_for_workers(2)
        served.kill(before[0])
        killed_at = time.monotonic()
        assert served.get("/health/ready").status_code == 200
        assert within(1.0, lambda: len(set(served.workers) - {before[0]}) == 2), "slow to replace"
        after = served.wait_for_workers(2)
        assert set(before) & set(after) == {before[1]}
        assert time.monotonic() - killed_at < 10
        assert served.get("/health/ready").status_code == 200

    def test_one_that_owes_the_master_an_answer_is_replaced_as_quickly(
        self, served: Server
    ) -> None:
        hung = served.wait_for_workers(2)[0]
        os.kill(hung, signal.SIGSTOP)
        time.sleep(1)
        served.kill(hung)
        assert within(1.0, lambda: len(set(served.workers) - {hung}) == 2), "slow to replace"


class TestKilledPostgres:
    def test_it_is_started_again_and_requests_are_answered_again(
        self, served: Server, acme: Partnership
    ) -> None:
        served.wait_for_workers(2)
        business = acme.business()
        writers = Writers(business)
        try:
            writers.wait_for(10)
            first = served.postgres()
            served.kill(first)
            writers.wait_for(20)
        finally:
            writers.stop()
        assert writers.statuses <= {201, 503}
        assert served.postgres() != first
        assert served.events("postgres_back")
        for identifier in writers.acknowledged:
            assert business.api.get(f"invoices/{identifier}/").status_code == 200

    def test_idle_connections_that_broke_are_replaced_unseen(
        self, served: Server, acme: Partnership
    ) -> None:
        served.wait_for_workers(2)
        back = len(served.events("postgres_back"))
        served.kill(served.postgres())
        assert within(10, lambda: len(served.events("postgres_back")) > back)
        answers = [acme.api.get("/v1/platform/businesses/") for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200}


class TestKilledEverything:
    def test_every_acknowledged_write_is_there_and_the_books_hold(self, fresh_folder: Path) -> None:
        with Server(fresh_folder) as server:
            business = server.partner().business()
            server.wait_for_workers()
            writers = Writers(business)
            try:
                writers.wait_for(100)
                server.kill(*processes_of(fresh_folder))
            finally:
                writers.stop()
            server.process.wait()
            everything_is_gone(server)
            server.start().wait()
            for identifier in writers.acknowledged:
                assert business.api.get(f"invoices/{identifier}/").status_code == 200
            proven = accounting(fresh_folder, "check-books")
            assert proven.returncode == 0, proven.stdout + proven.stderr
