"""Dumps between versions of PostgreSQL, and recovery to a moment from the archived log."""

import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from uuid import UUID

import psycopg
import pytest

from libraries.embedded import binaries
from libraries.embedded.binaries import Programs
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.archives.backups import back_up, opened_backup, restore_database, rows_in
from persistence.archives.dumps import write_dump
from persistence.archives.roles import Sight
from persistence.database.migrate import migrate
from persistence.engine.database_errors import UnusableDatabase
from persistence.files.blobs import Folder
from tests.api_server import ApiServer, Databases
from tests.builders.files import PDF, upload
from tests.builders.sales import sent
from tests.partner import within
from tests.persistence.integrity.book_faults import faults_in

PARTNER = "INSERT INTO partner VALUES (gen_random_uuid(), 'Ada', now(), NULL, now())"


def unheard(_step: str) -> None:
    """Ignore a step."""


@pytest.fixture
def older(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    """The machine's own PostgreSQL, if it is older than the bundled one."""
    newest = binaries.find_programs().major
    for folder in Path("/").glob("usr/lib/postgresql/*/bin"):
        programs = binaries.inspect(folder)
        if programs is not None and programs.major < newest:
            with EmbeddedPostgres(tmp_path / "older", TEST_SETTINGS, programs=programs) as postgres:
                yield postgres
            return
    pytest.skip("no second version of PostgreSQL is installed here")


class TestOlderServer:
    def test_is_dumped_and_restored_by_newer_programs(
        self, older: EmbeddedPostgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(binaries, "SYSTEM_FOLDERS", ())
        monkeypatch.setenv("PATH", "/nowhere")
        older.create_database()
        migrate(older.url())
        with psycopg.connect(older.url()) as connection:
            connection.execute(PARTNER)
        storage = Folder(tmp_path / "documents")
        made = back_up(older.url(), storage, tmp_path / "kept", "1.0.0", unheard)
        assert made.programs_major > made.server_major
        older.create_database("again")
        restore_database(older.url("again"), tmp_path / "kept", opened_backup(tmp_path / "kept"),
                         unheard)  # fmt: skip
        with psycopg.connect(older.url("again")) as connection:
            assert rows_in(connection) == made.rows
        assert made.rows["partner"] == 1

    def test_takes_no_backup_of_a_newer_one(
        self, older: EmbeddedPostgres, databases: Databases, tmp_path: Path
    ) -> None:
        url = databases.clone("backed_up")
        made = back_up(url, Folder(tmp_path / "documents"), tmp_path / "kept", "1.0.0", unheard)
        older.create_database("again")
        with pytest.raises(UnusableDatabase, match="as new or newer"):
            restore_database(older.url("again"), tmp_path / "kept", made, unheard)


class TestPassword:
    def test_is_not_among_the_words_that_everybody_can_see(self, tmp_path: Path) -> None:
        program = tmp_path / "pg_dump"
        program.write_text(
            f'#!/bin/sh\necho "$@" > {tmp_path}/words\necho "no, $PGPASSWORD" >&2\nexit 1\n'
        )
        program.chmod(0o755)
        url = "postgresql://owner:s3cret@127.0.0.1:5432/books"
        with pytest.raises(UnusableDatabase, match="pg_dump failed: no, s3cret"):
            write_dump(Programs(tmp_path, "99.1"), url, tmp_path / "dump", "moment", Sight())
        words = (tmp_path / "words").read_text()
        assert "user=owner" in words
        assert "s3cret" not in words


class TestPointInTime:
    """The recovery of docs/operations.md: a base backup, an archived log, a moment."""

    def test_what_was_there_at_the_moment_is_there_and_nothing_later(self, tmp_path: Path) -> None:
        archive, base = tmp_path / "archive", tmp_path / "base"
        archive.mkdir()
        archiving = {
            "archive_mode": "on",
            "archive_command": f"test ! -f {archive}/%f && cp %p {archive}/%f.part"
            f" && sync {archive}/%f.part && mv {archive}/%f.part {archive}/%f && sync {archive}",
        }
        with EmbeddedPostgres(tmp_path / "first", {**TEST_SETTINGS, **archiving}) as first:
            first.create_database()
            migrate(first.url())
            basebackup(first, base)
            with ApiServer(first.url()) as server:
                shop = server.partner("Owner").business()
                customer = shop.customer()
                sent(shop, customer, 2_500)
                document = upload(shop, PDF).json()
                [(moment,)] = server.query("SELECT clock_timestamp()::text")
                time.sleep(0.1)
                for _ in range(3):
                    sent(shop, customer, 9_900)
                assert len(shop.api.get("invoices/").json()["results"]) == 4
                [(last,)] = server.query("SELECT pg_walfile_name(pg_switch_wal())")
                assert within(20, (archive / last).exists)
                files = shutil.copytree(server.folder, tmp_path / "files")
        second = recovered(tmp_path / "second", base, archive, moment)
        with second, ApiServer(second.url(), documents=Folder(files)) as server:
            assert server.query("SELECT count(*), max(total_amount) FROM invoice") == [(1, 2_500)]
            assert server.query("SELECT id FROM stored_document") == [(UUID(document["id"]),)]
            assert faults_in(server, shop) == set()
            assert server.query("SELECT pg_is_in_recovery()") == [(False,)]
            [(partner_id, business)] = server.query("SELECT partner_id, id FROM business")
            assert (partner_id, str(business)) == (shop.partner.partner_id, shop.id)


def basebackup(postgres: EmbeddedPostgres, target: Path) -> None:
    program = binaries.find_programs().folder / "pg_basebackup"
    address = postgres.url("postgres")
    subprocess.run(
        [program, "--pgdata", target, "--dbname", address, "--checkpoint=fast", "--no-sync"],
        check=True,
        capture_output=True,
    )


def recovered(home: Path, base: Path, archive: Path, moment: str) -> EmbeddedPostgres:
    """Start a server over the base backup; it replays the archive up to a moment."""
    data = home / f"pg{binaries.find_programs().major}"
    home.mkdir(mode=0o700)
    shutil.move(base, data)
    (data / "recovery.signal").touch()
    return EmbeddedPostgres(
        home,
        {
            **TEST_SETTINGS,
            "restore_command": f"cp {archive}/%f %p",
            "recovery_target_time": moment,
            "recovery_target_action": "promote",
        },
    )
