"""Start, stop, crash and recovery of one server, and several users of it."""

import os
import shutil
import signal
import time
from pathlib import Path

import psycopg
import pytest

from libraries.embedded import places, reaper, wire
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS

USER = Path(__file__).parent / "embedded_user.py"


def postmaster(home):
    return wire.listener_pid(places.socket_path(home))


class TestStart:
    def test_a_second_start_finds_what_the_first_wrote(self, home, ask):
        with EmbeddedPostgres(home) as postgres:
            postgres.create_database()
            ask(postgres.url(), "CREATE TABLE kept AS SELECT 42 AS answer")
        assert reaper.is_down(home)
        with EmbeddedPostgres(home) as postgres:
            postgres.create_database()
            assert ask(postgres.url(), "SELECT answer FROM kept") == (42,)

    def test_the_default_is_durable_checked_and_closed_to_others(self, home, ask):
        with EmbeddedPostgres(home) as postgres:
            shown = {
                name: ask(postgres.url("postgres"), "SELECT current_setting(%s)", name)[0]
                for name in ("fsync", "full_page_writes", "synchronous_commit", "data_checksums")
            }
            assert set(shown.values()) == {"on"}
            assert ask(postgres.url("postgres"), "SHOW listen_addresses") == ("",)
            assert places.socket_path(home).stat().st_mode & 0o777 == 0o700
            assert home.stat().st_mode & 0o777 == 0o700

    def test_a_client_is_not_led_astray_by_its_environment(self, home, ask, monkeypatch):
        monkeypatch.setenv("PGPORT", "6543")
        monkeypatch.setenv("PGDATA", "/nowhere")
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            assert ask(postgres.url("postgres"), "SHOW port") == ("5432",)

    def test_a_database_is_made_once_in_utf8_whatever_its_name(self, home, ask):
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            for _ in range(2):
                postgres.create_database('Bücher & "mehr"')
            sql = "SELECT current_database(), pg_encoding_to_char(encoding) FROM pg_database"
            row = ask(postgres.url('Bücher & "mehr"'), sql + " WHERE datname = current_database()")
            assert row == ('Bücher & "mehr"', "UTF8")

    def test_a_refusal_of_the_server_comes_back_with_its_code(self, home):
        with (
            EmbeddedPostgres(home, TEST_SETTINGS) as postgres,
            pytest.raises(wire.RefusalError) as raised,
        ):
            postgres.create_database("")
        assert raised.value.code == "42601"

    def test_a_server_that_cannot_start_says_why_and_is_not_held(self, home):
        with pytest.raises(Exception, match="no_such_setting"):
            EmbeddedPostgres(home, {**TEST_SETTINGS, "no_such_setting": "1"}).start()
        with EmbeddedPostgres(home, TEST_SETTINGS):
            assert postmaster(home)

    def test_a_long_log_is_put_aside(self, home):
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            pass
        os.truncate(postgres.log, 9 * 2**20)
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            assert postgres.log.stat().st_size < 100_000
            assert postgres.log.with_name("postgres.log.1").stat().st_size == 9 * 2**20

    def test_a_path_that_no_socket_can_have_serves_as_well(self, open_folder, ask):
        home = open_folder / ("it's, 100% $HOME & höme" + "x" * 90)
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            assert ask(postgres.url("postgres"), "SHOW data_directory")[0].startswith(str(home))
            folder = places.socket_folder(home)
            assert folder != home
            assert folder.stat().st_mode & 0o777 == 0o700


class TestRecovery:
    def test_a_killed_server_comes_back_with_every_commit(self, home, ask):
        with EmbeddedPostgres(home) as postgres:
            ask(postgres.url("postgres"), "CREATE TABLE survived (answer int)")
            ask(postgres.url("postgres"), "INSERT INTO survived VALUES (42)")
            os.kill(postmaster(home), signal.SIGKILL)
            postgres.start()
            assert ask(postgres.url("postgres"), "SELECT answer FROM survived") == (42,)

    def test_the_number_in_an_old_pid_file_may_belong_to_anybody_now(self, home, ask, within):
        with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
            os.kill(postmaster(home), signal.SIGKILL)
            assert within(lambda: reaper.is_down(home))
            pid_file = next(home.glob("pg*/postmaster.pid"))
            lines = pid_file.read_text().splitlines()
            pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]) + "\n")
            places.socket_path(home).with_suffix(".5432.lock").write_text(f"{os.getpid()}\n")
            postgres.start()
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)

    def test_an_interrupted_initdb_is_thrown_away(self, empty_home, ask, processes, within):
        begun = empty_home / "initdb.unfinished" / "PG_VERSION"
        # Kill the first initdb with its starter, then alone: it would finish in the background.
        for kill in (os.killpg, os.kill):
            for _ in range(10):
                shutil.rmtree(begun.parent, ignore_errors=True)
                starter, _ = processes(USER, empty_home, wait=False)
                assert within(lambda: begun.exists() or list(empty_home.glob("pg*")))
                kill(starter.pid, signal.SIGKILL)
                starter.wait()
                done = list(empty_home.glob("pg*"))
                if not done:
                    break
                # initdb finished before the kill: try again.
                assert within(lambda: reaper.is_down(empty_home))
                shutil.rmtree(done[0])
            assert not done
        with EmbeddedPostgres(empty_home, TEST_SETTINGS) as postgres:
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)
        assert not begun.parent.exists()

    def test_a_starter_killed_at_any_moment_leaves_no_server(self, home, processes, within):
        with EmbeddedPostgres(home, TEST_SETTINGS):
            pass
        for moment in range(6):
            starter, _ = processes(USER, home, wait=False)
            time.sleep(0.05 + 0.025 * moment)
            os.kill(starter.pid, signal.SIGKILL)
            assert within(lambda: reaper.is_down(home) and postmaster(home) is None)
        time.sleep(0.5)
        assert reaper.is_down(home)


class TestUsers:
    def test_three_share_one_server_until_the_last_is_killed(self, home, ask, processes, within):
        users = [processes(USER, home, wait=True) for _ in range(3)]
        assert len({report["server"] for _, report in users}) == 1
        url = users[0][1]["url"]
        for process, _ in users[:2]:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        time.sleep(0.5)
        assert ask(url, "SELECT 1") == (1,)
        os.kill(users[2][0].pid, signal.SIGKILL)
        assert within(lambda: reaper.is_down(home))
        with pytest.raises(psycopg.OperationalError):
            ask(url, "SELECT 1")

    def test_three_that_come_at_once_to_an_empty_folder_share_one_server(
        self, empty_home, processes
    ):
        users = [processes(USER, empty_home, wait=False)[0] for _ in range(3)]
        lines = [user.stdout.readline() for user in users]
        assert len({line.partition(",")[0] for line in lines}) == 1
        assert '"server": ' in lines[0]

    def test_leaving_in_good_order_stops_the_server_only_for_the_last(self, home, ask):
        first = EmbeddedPostgres(home, TEST_SETTINGS).start()
        second = EmbeddedPostgres(home, TEST_SETTINGS).start()
        first.stop()
        first.stop()
        assert ask(second.url("postgres"), "SELECT 1") == (1,)
        second.stop()
        assert reaper.is_down(home)

    def test_a_stop_ends_connections_that_are_still_open(self, home):
        postgres = EmbeddedPostgres(home, TEST_SETTINGS).start()
        with psycopg.connect(postgres.url("postgres")) as connection:
            postgres.stop()
            with pytest.raises(psycopg.OperationalError):
                connection.execute("SELECT 1")
