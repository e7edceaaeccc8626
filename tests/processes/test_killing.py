"""SIGKILL of any process of a server: nothing remains, and no answered write is lost."""

import os
import signal
import time
from pathlib import Path

from libraries.embedded import reaper
from libraries.embedded.postgres import EmbeddedPostgres
from server.process.startup import DRAIN_SECONDS, HUNG_SECONDS
from tests.command_line import CommandLine
from tests.partner import PATIENCE_SECONDS, Business, Partner, within
from tests.ports import is_free
from tests.processes.recording_clients import Traffic, traffic_of
from tests.processes.server_process import Server, all_gone, processes_of

# Less than a client waits for a missing answer. A busy machine may add some seconds.
GONE_SECONDS = DRAIN_SECONDS - 5.0
REPLACED_SECONDS = HUNG_SECONDS - 3.0


def sweep_finds(folder: Path, all_traffic: list[Traffic]) -> None:
    """Check that the sweep would remove exactly the files without a record."""
    for path in (folder / "documents").glob("*/*"):
        os.utime(path, (0, 0))  # It skips new files, whose write may be pending.
    swept = CommandLine(folder).did("sweep-documents", "--dry-run").out
    found = {line.rpartition("/")[2] for line in swept.splitlines() if "/" in line}
    assert found == set().union(*(traffic.left_behind for traffic in all_traffic))


def answers_stand(folder: Path, traffic: Traffic) -> None:
    """Check the recorded answers against the books and the storage."""
    traffic.hold(EmbeddedPostgres(folder / "postgres").url(), folder / "documents")
    assert within(
        PATIENCE_SECONDS, lambda: is_proven(traffic.business)
    )  # The proofs may take long.


def is_proven(business: Business) -> bool:
    """Return whether the books of a business are correct; False also if the proofs timed out."""
    answer = business.api.get("integrity/")
    if answer.status_code == 503:
        return False
    assert answer.json()["status"] == "green", answer.text
    return True


def everything_is_gone(server: Server, seconds: float = GONE_SECONDS) -> None:
    """Check that the processes, the port and PostgreSQL are gone in time."""
    assert within(seconds, lambda: is_free(server.port))
    assert all_gone(server.folder, seconds), processes_of(server.folder)
    # An ending process no longer has a command, but for a moment still its locks.
    assert within(seconds, lambda: reaper.is_down(server.folder / "postgres"))


def replaced(server: Server, worker: int) -> bool:
    """Return whether a killed worker is replaced before the master's timeout for a hanging one."""
    return within(REPLACED_SECONDS, lambda: len(set(server.workers) - {worker}) == 2)


class TestKilledWorker:
    def test_another_takes_its_place_while_serving_goes_on(self, served: Server) -> None:
        before = served.wait_for_workers(2)
        served.kill(before[0])
        assert served.get("/health/ready").status_code == 200
        assert replaced(served, before[0]), "slow to replace"
        after = served.wait_for_workers(2)
        assert set(before) & set(after) == {before[1]}
        assert served.get("/health/ready").status_code == 200

    def test_others_take_their_place_when_what_they_are_forked_from_goes(
        self, served: Server
    ) -> None:
        before = served.wait_for_workers(2)
        assert served.forking is not None
        served.kill(served.forking)
        assert within(REPLACED_SECONDS, lambda: not set(before) & set(processes_of(served.folder)))
        served.wait_for_workers(2)
        assert served.get("/health/ready").status_code == 200

    def test_one_that_owes_the_master_an_answer_is_replaced_as_quickly(
        self, served: Server
    ) -> None:
        hung = served.wait_for_workers(2)[0]
        os.kill(hung, signal.SIGSTOP)
        time.sleep(1)
        served.kill(hung)
        assert replaced(served, hung), "slow to replace"


class TestKilledPostgres:
    def test_it_is_started_again_and_no_answer_is_lost_with_it_nor_with_a_worker(
        self, served: Server, lived_in: Path, acme: Partner
    ) -> None:
        victim, _ = served.wait_for_workers(2)
        first = served.postgres()
        with traffic_of(acme.business()) as traffic:
            traffic.wait_for(20)
            served.kill(victim)
            traffic.wait_for(20)
            served.kill(first)
            traffic.wait_for(20)
        assert served.postgres() != first
        assert served.events("postgres_back")
        answers_stand(lived_in, traffic)

    def test_idle_connections_that_broke_are_replaced_unseen(
        self, served: Server, acme: Partner
    ) -> None:
        served.wait_for_workers(2)
        back = len(served.events("postgres_back"))
        served.kill(served.postgres())
        assert within(PATIENCE_SECONDS, lambda: len(served.events("postgres_back")) > back)
        answers = [acme.api.get("/v1/platform/businesses/") for _ in range(20)]
        assert {answer.status_code for answer in answers} == {200}


class TestKilledServer:
    def test_its_master_or_all_of_it_every_answer_stands_and_the_books_hold(
        self, own_folder: Path
    ) -> None:
        with Server(own_folder) as server:
            partner, all_traffic = server.partner(), list[Traffic]()
            for all_of_it in (False, True):
                server.wait_for_workers()
                with traffic_of(partner.business()) as traffic:
                    traffic.wait_for(40)
                    master = server.process.pid
                    server.kill(*(processes_of(own_folder) if all_of_it else [master]))
                server.process.wait()
                everything_is_gone(
                    server, PATIENCE_SECONDS
                )  # PostgreSQL writes a checkpoint first.
                server.start().wait()
                answers_stand(own_folder, traffic)
                all_traffic.append(traffic)
            sweep_finds(own_folder, all_traffic)
            CommandLine(own_folder).did("check-books")
            server.kill(server.process.pid)
            server.process.wait()
            everything_is_gone(server)  # Sooner, because it is idle.

    def test_a_server_that_is_started_as_its_master_dies_takes_its_place(
        self, own_folder: Path
    ) -> None:
        with Server(own_folder) as server:
            for _ in range(3):
                server.wait_for_workers()
                killed = server.process
                server.kill(killed.pid)
                server.start().wait()
                killed.wait()
            CommandLine(own_folder).did("check-books")
