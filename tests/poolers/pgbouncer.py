"""A real PgBouncer for the PostgreSQL of a run, over its own Unix sockets."""

import fcntl
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import psycopg
from psycopg.conninfo import conninfo_to_dict

from libraries.embedded import binaries, identity, places
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.rights import script
from tests.partner import PATIENCE_SECONDS, within
from tests.poolers.programs import NEW, pgbouncer

POOLED = "TEST_POOLER"  # The variable with the mode of a PgBouncer for each server of a run.
PORT = 6432
FOLDER = "@folder@"
LOGIN = "pooled_server"  # The server's login, as an administrator creates it.
ENOUGH = {"max_prepared_statements": "200"}


class PgBouncer:
    """A running PgBouncer; logins need no password."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def url(self, database_url: str, login: str = LOGIN) -> str:
        """Return the address of a database through the pooler."""
        name = conninfo_to_dict(database_url)["dbname"]
        return f"postgresql://{login}@/{name}?host={self.folder}&port={PORT}"

    def admin(self, command: str) -> None:
        """Send a command to its console."""
        where = f"postgresql://{LOGIN}@/pgbouncer?host={self.folder}&port={PORT}"
        with psycopg.connect(where, autocommit=True, cursor_factory=psycopg.ClientCursor) as told:
            told.execute(command.encode())


def pooling(
    postgres: EmbeddedPostgres,
    mode: str = "transaction",
    release: str = NEW,
    logins: tuple[str, ...] = (LOGIN,),
    settings: Mapping[str, str] | None = None,
) -> AbstractContextManager[PgBouncer]:
    """Run a PgBouncer for a server. Raises NotToBeHad if it is unavailable."""
    where = f"host={places.socket_folder(postgres.home)} port=5432"
    return pooling_at(where, mode, release, logins, settings)


@contextmanager
def pooling_at(
    where: str,
    mode: str = "transaction",
    release: str = NEW,
    logins: tuple[str, ...] = (LOGIN,),
    settings: Mapping[str, str] | None = None,
) -> Iterator[PgBouncer]:
    """Run a PgBouncer for the databases of a host and port.

    Raises NotToBeHad if it is unavailable.
    """
    users = dict.fromkeys(logins, "")
    chosen = {**(ENOUGH if release == NEW else {}), **(settings or {}), "pool_mode": mode}
    told = (
        "[databases]\n"
        f"* = {where}\n"
        "[pgbouncer]\n"
        f"unix_socket_dir = {FOLDER}\n"
        f"listen_port = {PORT}\n"
        "auth_type = trust\n"
        f"auth_file = {FOLDER}/users.txt\n"
        f"admin_users = {','.join(logins)}\n"
        f"logfile = {FOLDER}/log\n"
        "default_pool_size = 20\n"
        "max_client_conn = 1000\n"
        "server_idle_timeout = 10\n"
        "server_login_retry = 1\n"
        + "".join(f"{name} = {value}\n" for name, value in chosen.items())
    )
    with running(told, users, release) as pooler:
        yield pooler


@contextmanager
def running(told: str, users: Mapping[str, str], release: str = NEW) -> Iterator[PgBouncer]:
    """Run a PgBouncer with a configuration in which FOLDER is replaced by its folder.

    `users` are passwords by login. Raises NotToBeHad if it is unavailable.
    """
    program = pgbouncer(release)
    folder = Path(tempfile.mkdtemp(prefix="pgbouncer-"))
    runner = identity.choose_identity(folder, binaries.find_programs())
    shutil.chown(folder, runner.owner, runner.group)
    known = "".join(f'"{login}" "{password}"\n' for login, password in users.items())
    (folder / "users.txt").write_text(known)
    (folder / "pgbouncer.ini").write_text(told.replace(FOLDER, str(folder)))
    words = [*runner.prefix, *program, "-q", str(folder / "pgbouncer.ini")]
    with (folder / "said").open("wb") as said:
        process = subprocess.Popen(words, stdout=said, stderr=said, **runner.options())
    try:
        assert within(PATIENCE_SECONDS, lambda: listens(folder) or process.poll() is not None)
        assert process.poll() is None, (folder / "said").read_text()
        yield PgBouncer(folder)
    finally:
        process.kill()
        process.wait()
        shutil.rmtree(folder)


def listens(folder: Path) -> bool:
    with socket.socket(socket.AF_UNIX) as caller:
        return caller.connect_ex(str(folder / f".s.PGSQL.{PORT}")) == 0


_before_all: list[PgBouncer] = []


@contextmanager
def before_servers(pooler: PgBouncer) -> Iterator[None]:
    """Use the pooler for the database of every server that starts in a block."""
    _before_all.append(pooler)
    yield
    _before_all.remove(pooler)


@contextmanager
def pooling_all(postgres: EmbeddedPostgres) -> Iterator[None]:
    """Run a PgBouncer for all servers of a run, if the run asks for it."""
    if POOLED not in os.environ:
        yield
        return
    with places.locked(postgres.home / "template.lock", fcntl.LOCK_EX):
        make_login(postgres.url("postgres"))
    with pooling(postgres, os.environ[POOLED]) as pooler, before_servers(pooler):
        yield


def served_url(database_url: str) -> str:
    """Return the address by which a server under test reaches a database."""
    return _before_all[-1].url(database_url) if _before_all else database_url


def make_login(url: str, login: str = LOGIN) -> None:
    """Create a login for the server with the script of `accounting migrate --print-roles`."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(script(login, connection.info.user).encode())
