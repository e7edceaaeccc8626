"""The commands in the pages for operators, executed."""

import shlex
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest
import yaml

from libraries.embedded import identity
from libraries.embedded.binaries import find_programs
from libraries.embedded.postgres import EmbeddedPostgres
from tests.operations.pages import DOCS, HEADING, blocks_of, run
from tests.ports import free_port


class TestAlerts:
    def test_each_says_where_the_page_tells_what_to_do(self) -> None:
        rules = yaml.safe_load((DOCS / "ops" / "alerts.yml").read_text(encoding="utf-8"))
        alerts = [rule for group in rules["groups"] for rule in group["rules"]]
        page = (DOCS / "operations.md").read_text(encoding="utf-8")
        told = [name for name in HEADING.findall(page) if name.startswith("Accounting")]
        assert told == [alert["alert"] for alert in alerts]
        for alert in alerts:
            anchor = f"docs/operations.md#{alert['alert'].lower()}"
            assert alert["annotations"]["runbook"] == anchor


class TestOperations:
    @pytest.mark.slow
    def test_each_command_of_the_page_works_in_its_turn(
        self, fresh_folder: Path, cluster: EmbeddedPostgres
    ) -> None:
        where = cluster.url("accounting").partition("@")[2]
        backups = fresh_folder / "backups"
        backups.mkdir()
        assert len(blocks_of("operations.md")) > 12
        run(
            "operations.md",
            fresh_folder,
            DBA_URL=cluster.url("accounting"),
            OWNER_URL=f"postgresql://owner@{where}",
            SERVER_URL=f"postgresql://server@{where}",
            PORT=str(free_port()),
            ACCOUNTING_METRICS_PORT=str(free_port()),
            BACKUPS=str(backups),
            REPLICATION_URL=f"postgresql://archivist@{where}",
        )


@contextmanager
def started_by(folder: Path, standby: Path) -> Iterator[str]:
    """Provide a `pg_ctl` for the page, which starts a second server; stop it in the end.

    In the page the server is on another machine, with the same port. Yields its address.
    """
    runner = identity.choose_identity(folder, find_programs())
    if runner.drops_root:
        pytest.skip("PostgreSQL is no program of this user's, without a user namespace")
    words = runner.command("pg_ctl", "-o", f"-c unix_socket_directories={folder}")
    program = folder / "bin" / "pg_ctl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
    program.chmod(0o755)
    try:
        yield f"postgresql://accounting@/accounting?host={folder}"
    finally:
        stop = [program, "--pgdata", standby, "--mode", "immediate", "stop"]
        subprocess.run(stop, check=False, capture_output=True)


class TestScaling:
    def test_a_standby_follows_is_waited_for_and_is_promoted(
        self, fresh_folder: Path, cluster: EmbeddedPostgres
    ) -> None:
        where = cluster.url("accounting").partition("@")[2]
        standby = fresh_folder / "standby"
        with started_by(fresh_folder, standby) as url:
            run(
                "scaling.md",
                fresh_folder,
                DBA_URL=cluster.url("accounting"),
                REPLICATION_PASSWORD="followed",
                PRIMARY_URL=f"postgresql://replicator@{where}&application_name=standby_a",
                STANDBY_DATA=str(standby),
                STANDBY_URL=url,
            )
            assert "standby_a|quorum" in (fresh_folder / "said.txt").read_text(encoding="utf-8")
            with psycopg.connect(url) as promoted:
                assert promoted.execute("SELECT pg_is_in_recovery()").fetchone() == (False,)
                assert promoted.execute("SHOW synchronous_standby_names").fetchone() == ("",)
