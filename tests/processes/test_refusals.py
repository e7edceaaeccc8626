"""Faults that prevent the start of a server: a readable message, exit code 2, no leftovers."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from libraries.embedded.postgres import EmbeddedPostgres
from server.process.startup import listen
from tests.command_line import CommandLine, CommandResult
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port
from tests.processes.server_process import Server, all_gone


def serve(folder: Path, *words: str, **settings: str) -> CommandResult:
    """Start a server that cannot start."""
    return CommandLine(folder).run("serve", "--port", str(free_port()), *words, **settings)


def assert_refused(done: CommandResult, *messages: str) -> None:
    """Check that the operator gets a message without a traceback."""
    assert done.code == 2, done.err
    assert "Traceback" not in done.err
    told = done.err.partition("accounting: ")[2]
    for message in messages:
        assert message in told, done.err


@pytest.fixture(scope="module")
def named(lived_in: Path) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres(lived_in / "postgres") as postgres:
        yield postgres


@pytest.fixture(scope="module")
def schema(named: EmbeddedPostgres, lived_in: Path) -> str:
    """Return the name of a database with the newest schema, to copy."""
    url = made(named, "with_schema")
    CommandLine(lived_in).did("migrate", DATABASE_URL=url)
    return "with_schema"


def copied(postgres: EmbeddedPostgres, schema: str, name: str, *statements: str) -> str:
    """Copy a database and change it; return its address."""
    with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {schema}")
    return made(postgres, name, *statements)


def made(postgres: EmbeddedPostgres, name: str, *statements: str) -> str:
    """Create a database and change it; return its address."""
    postgres.create_database(name)
    with psycopg.connect(postgres.url(name), autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)
    return postgres.url(name)


class TestSettings:
    def test_everything_wrong_is_told_at_once(self, fresh_folder: Path) -> None:
        done = serve(
            fresh_folder,
            *("--host", "0.0.0.0", "--tls-key", __file__),
            ACCOUNTING_ALLOWED_ORIGINS="app.example.com",
            ACCOUNTING_FORWARDED_ALLOW_IPS="the-proxy",
            DATABASE_URL="mysql://books",
        )
        assert_refused(
            done,
            "--tls-cert and --tls-key go together",
            "ACCOUNTING_ALLOWED_ORIGINS",
            "ACCOUNTING_FORWARDED_ALLOW_IPS",
            "ACCOUNTING_SECRET_KEYS",
            "DATABASE_URL",
        )
        assert list(fresh_folder.iterdir()) == []

    def test_a_port_that_is_taken(self, fresh_folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            done = CommandLine(fresh_folder).run("serve", "--development", "--port", str(port))
        assert_refused(done, f"Cannot listen on 127.0.0.1 port {port}", "in use")
        assert_refused(done, "with --port, or with PORT= for make")
        assert all_gone(fresh_folder)
        assert not (fresh_folder / "postgres").exists()

    def test_a_port_that_becomes_free_is_waited_for(self) -> None:
        # As that of a killed master, which its workers hold until they have ended.
        former = socket.create_server(("127.0.0.1", 0))
        port = former.getsockname()[1]
        threading.Timer(0.5, former.close).start()
        with listen("127.0.0.1", port) as listener:
            assert listener.getsockname()[1] == port

    def test_a_port_for_metrics_that_is_taken(self, fresh_folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            taken = str(listener.getsockname()[1])
            words = ("serve", "--development", "--port", str(free_port()))
            done = CommandLine(fresh_folder).run(*words, ACCOUNTING_METRICS_PORT=taken)
        assert_refused(done, f"Cannot listen on 127.0.0.1 port {taken}", "ACCOUNTING_METRICS_PORT")


class TestDatabases:
    def test_one_that_was_never_migrated(self, fresh_folder: Path, named: EmbeddedPostgres) -> None:
        url = made(named, "empty")
        assert_refused(
            serve(fresh_folder, "--development", DATABASE_URL=url),
            "The database has no schema yet. Run `accounting migrate` first.",
        )
        assert all_gone(fresh_folder)

    def test_one_that_is_away_is_waited_for(self, fresh_folder: Path) -> None:
        url = f"postgresql://books@127.0.0.1:{free_port()}/books"
        server = Server(fresh_folder, "--development", DATABASE_URL=url).start()
        assert within(PATIENCE_SECONDS, lambda: bool(server.events("waiting")))
        assert "Connection refused" in server.events("waiting")[0]["reason"]
        assert server.events("waiting")[0]["seconds_left"] == 60
        assert within(PATIENCE_SECONDS, lambda: len(server.events("waiting")) > 1)
        assert 50 <= server.events("waiting")[1]["seconds_left"] <= 55
        server.stop()
        assert server.process.returncode == 0
        assert all_gone(fresh_folder)

    def test_one_that_turns_the_login_down_is_told_at_once(
        self, fresh_folder: Path, named: EmbeddedPostgres
    ) -> None:
        """Check that the database's own message ends the start, so that a supervisor sees it."""
        made(named, "locked", "DROP ROLE IF EXISTS locked_out", "CREATE ROLE locked_out LOGIN")
        with psycopg.connect(named.url("locked"), autocommit=True) as connection:
            [rules] = connection.execute("SHOW hba_file").fetchone() or [""]
            wanted = "local all locked_out scram-sha-256\n"
            Path(rules).write_text(wanted + Path(rules).read_text())
            connection.execute("SELECT pg_reload_conf()")
        url = named.url("locked").replace("//accounting@", "//locked_out:secret@")
        done = serve(fresh_folder, "--development", DATABASE_URL=url)
        assert_refused(done, "The database cannot be used: ", "password authentication failed")
        assert '"event":"waiting"' not in done.err
        assert "secret" not in done.err

    def test_one_that_is_not_there_is_told_at_once(
        self, fresh_folder: Path, named: EmbeddedPostgres
    ) -> None:
        done = serve(fresh_folder, "--development", DATABASE_URL=named.url("nowhere"))
        assert_refused(done, "The database cannot be used: ", 'database "nowhere" does not exist')
        assert '"event":"waiting"' not in done.err

    def test_one_that_is_not_there_is_refused_before_workers_are_loaded(
        self, fresh_folder: Path, named: EmbeddedPostgres
    ) -> None:
        # Time of processors: 1.7 s alone, 2.1 s beside other tests. To load workers takes longer.
        server = Server(fresh_folder, DATABASE_URL=named.url("nowhere")).start()
        _, status, used = os.wait4(server.process.pid, 0)
        server.process.returncode = os.waitstatus_to_exitcode(status)
        assert server.process.returncode == 2, server.log
        assert used.ru_utime + used.ru_stime < 2.5
        assert all_gone(fresh_folder, 1)

    def test_one_at_another_schema(
        self, fresh_folder: Path, named: EmbeddedPostgres, schema: str
    ) -> None:
        changed = "UPDATE alembic_version SET version_num = '0000'"
        url = copied(named, schema, "older", changed)
        assert_refused(
            serve(fresh_folder, "--development", DATABASE_URL=url),
            "The database stands at 0000 and this server needs ",
        )

    @pytest.mark.parametrize(
        "granted", ["UPDATE ON journal_line", "INSERT ON audit_record"], ids=["journal", "trail"]
    )
    def test_one_where_the_server_may_write_history_itself(
        self, fresh_folder: Path, named: EmbeddedPostgres, schema: str, granted: str
    ) -> None:
        name = f"loose_{granted.rpartition(' ')[2]}"
        url = copied(named, schema, name, f"GRANT {granted} TO accounting_server")
        assert_refused(
            serve(fresh_folder, "--development", DATABASE_URL=url),
            "accounting_server may change posted lines",
        )
        assert all_gone(fresh_folder)

    def test_one_whose_login_may_not_take_the_role(
        self, fresh_folder: Path, named: EmbeddedPostgres, schema: str
    ) -> None:
        login = ("DROP ROLE IF EXISTS stranger", "CREATE ROLE stranger LOGIN")
        mine = copied(named, schema, "strange", *login)
        url = mine.replace("postgresql://accounting@", "postgresql://stranger@")
        assert_refused(
            serve(fresh_folder, "--development", DATABASE_URL=url),
            "may not act as accounting_server",
        )


class TestFiles:
    def test_a_folder_that_cannot_be_written(self, fresh_folder: Path) -> None:
        place = {"ACCOUNTING_DOCUMENTS_DIR": "/proc/nobody/documents"}
        done = serve(fresh_folder, "--development", **place)
        assert_refused(done, "Files cannot be kept in /proc/nobody/documents: No such file")
        assert all_gone(fresh_folder)


class TestWorkers:
    @pytest.mark.parametrize("error", ["ImportError", "RuntimeError"])
    def test_that_cannot_be_loaded(self, fresh_folder: Path, error: str) -> None:
        (fresh_folder / "connexion.py").write_text(f"raise {error}('there is no such thing')\n")
        server = Server(fresh_folder, PYTHONPATH=str(fresh_folder)).start()
        assert server.process.wait(PATIENCE_SECONDS) == 2
        assert f"{error}: there is no such thing" in server.log
        assert server.log.endswith("accounting: A worker could not start; the log says why.\n")
        assert all_gone(fresh_folder)
