"""Two servers over one database: one does the upkeep; if it ends, the other takes over."""

import shutil
import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.builders.files import PDF
from tests.partner import PATIENCE_SECONDS, within
from tests.processes.conftest import make_folder
from tests.processes.server_process import Server, remove

EVERY = 2.0
STOPS_SECONDS = 5.0  # Far less than a round may take, or than the server waits for requests.


@pytest.fixture(scope="module")
def servers(migrated: Path) -> Iterator[tuple[Server, Server]]:
    """A pair of servers over one folder of their own."""
    folder = make_folder()
    shutil.copytree(migrated, folder, dirs_exist_ok=True)
    settings = {"ACCOUNTING_UPKEEP_SECONDS": str(int(EVERY)), "ACCOUNTING_LOG_FORMAT": "json"}
    with ExitStack() as both:
        yield tuple(both.enter_context(Server(folder, **settings)) for _ in range(2))
    remove(folder)


def rounds(*servers: Server) -> int:
    return sum(len(server.events("upkeep_done")) for server in servers)


class TestTwoServers:
    def test_one_does_it_and_the_other_goes_on_where_that_is_killed(
        self, servers: tuple[Server, Server]
    ) -> None:
        one, other = servers
        for server in servers:
            server.wait_for_workers()
        shop = one.partner().business()
        stray = one.folder / "documents" / shop.id / "stray"
        stray.parent.mkdir(parents=True)
        stray.write_bytes(PDF)
        began, before = time.monotonic(), rounds(*servers)
        assert within(PATIENCE_SECONDS, lambda: rounds(*servers) >= before + 3)
        # All four workers check, and one of them does each round.
        assert rounds(*servers) - before <= (time.monotonic() - began) / EVERY + 1
        assert stray.exists()  # It is younger than an hour.
        sealed = [each for server in servers for each in server.events("upkeep_done")]
        assert sum(each["records"] for each in sealed) > 0
        assert {each["failures"] for each in sealed} == {0}

        one.kill(one.process.pid, *one.workers)
        seen = rounds(other)
        assert within(PATIENCE_SECONDS, lambda: rounds(other) >= seen + 2), other.log

    def test_a_signal_ends_it_at_once(self, servers: tuple[Server, Server]) -> None:
        one = next(server for server in servers if not server.ended)
        seen = rounds(*servers)
        assert within(PATIENCE_SECONDS, lambda: rounds(*servers) > seen)
        one.process.send_signal(signal.SIGTERM)
        began = time.monotonic()
        assert one.process.wait(PATIENCE_SECONDS) == 0
        assert time.monotonic() - began < STOPS_SECONDS
        assert [each for each in one.events("upkeep_interrupted")] == []
