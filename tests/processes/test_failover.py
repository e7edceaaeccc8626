"""Two workers of a real server, whose primary database is killed under load."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.migrate import migrate
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port
from tests.processes.server_process import Server
from tests.server.telemetry.exposition import counted_by_each
from tests.standbys.failover import fail_over
from tests.standbys.standby import EAGER, either, standby_of, wait_for_each_write

Pair = tuple[EmbeddedPostgres, EmbeddedPostgres]


@pytest.fixture
def pair(fresh_folder: Path) -> Iterator[Pair]:
    """A primary with the durability that a server needs, and a synchronous standby."""
    with EmbeddedPostgres(fresh_folder / "primary", EAGER) as primary:
        primary.create_database("books")
        migrate(primary.url("books"))
        with standby_of(primary, fresh_folder / "standby", **EAGER) as standby:
            wait_for_each_write(primary)
            yield primary, standby


class TestTwoWorkers:
    def test_go_on_with_the_standby_and_lose_nothing_that_was_answered(
        self, pair: Pair, fresh_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        primary, standby = pair
        urls = [each.url("books") for each in pair]
        settings = {
            "DATABASE_URL": either(*urls, target_session_attrs="read-write"),
            "ACCOUNTING_METRICS_PORT": str(free_port()),
            "TMPDIR": str(fresh_folder),
        }
        words = ("--development", "--workers", "2")
        with Server(fresh_folder, *words, **settings) as server:
            assert within(PATIENCE_SECONDS, lambda: len(server.opened) == 2), server.log
            shop = server.partner().business()
            told = fail_over(shop, primary, standby, fresh_folder / "documents")
            assert server.events("worker_gone") == []
            answered = counted_by_each(fresh_folder, "create_invoice")
            assert sum(count > 0 for count in answered) == 2, answered
            proof = server.command_line.did("check-books", **settings)
        assert "hold (" in proof.out
        with capsys.disabled():
            sys.stdout.write(f"\nfailover of two workers: {told}\n")
