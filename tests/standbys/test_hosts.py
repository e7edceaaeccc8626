"""An address with several hosts, one of which is gone, silent, or has the wrong role."""

import asyncio
import os
import socket
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

from libraries.embedded import places
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.database.checks import refuse_unusable
from persistence.database.migrate import check, migrate
from persistence.engine import connections, pool
from persistence.engine.connections import connect
from persistence.engine.database_errors import DatabaseAway
from persistence.engine.pool import make_pool
from tests.api_server import Databases
from tests.cluster.databases import ClusterDatabases
from tests.command_line import CommandLine
from tests.ports import free_port

NAME = f"hosts_{os.getpid()}"
WRITES = "?target_session_attrs=read-write"


@pytest.fixture(scope="module")
def here(databases: Databases | ClusterDatabases) -> str:
    if isinstance(databases, ClusterDatabases):
        pytest.skip("a cluster has one coordinator")
    databases.clone(NAME)
    return host_of(databases.postgres)


@pytest.fixture(scope="module")
def read_only(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server that refuses writes, as a standby does."""
    settings = {**TEST_SETTINGS, "default_transaction_read_only": "on"}
    with EmbeddedPostgres(tmp_path_factory.mktemp("read_only"), settings) as postgres:
        with psycopg.connect(postgres.url("postgres"), autocommit=True) as connection:
            connection.execute("SET default_transaction_read_only = off")
            connection.execute(f"CREATE DATABASE {NAME}")
        yield host_of(postgres)


def host_of(postgres: EmbeddedPostgres) -> str:
    return quote(str(places.socket_folder(postgres.home)), safe="")


def gone() -> str:
    """Return a host without a server."""
    return f"127.0.0.1:{free_port()}"


def address(*hosts: str, query: str = "") -> str:
    named = ",".join(host if ":" in host else f"{host}:5432" for host in hosts)
    return f"postgresql://accounting@{named}/{NAME}{query}"


async def ask(url: str) -> str:
    async with make_pool(url, size=1) as lent, lent.connection() as connection:
        row = await (await connection.execute("SELECT current_database() AS name")).fetchone()
        assert row is not None
        return str(row["name"])


WORKS: dict[str, Callable[[str], object]] = {
    "connect": lambda url: connect(url).close(),
    "migrate": migrate,
    "check": check,
    "start": lambda url: refuse_unusable(url, durable=False),
    "pool": lambda url: asyncio.run(ask(url)),
}


class TestHosts:
    @pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
    @pytest.mark.parametrize("first", [True, False])
    def test_one_that_is_gone_is_left(
        self, here: str, first: bool, work: Callable[[str], object]
    ) -> None:
        work(address(gone(), here) if first else address(here, gone()))

    @pytest.mark.parametrize("work", WORKS.values(), ids=WORKS)
    def test_one_that_takes_no_writes_is_left_where_writes_are_wanted(
        self, here: str, read_only: str, work: Callable[[str], object]
    ) -> None:
        work(address(read_only, here, query=WRITES))

    def test_the_command_line_takes_them(self, here: str, tmp_path: Path) -> None:
        told = CommandLine(tmp_path, address(gone(), here, query=WRITES)).did("check-books")
        assert told.out.startswith("The books of 0 businesses hold")

    def test_one_that_is_silent_is_left_after_a_while(
        self, here: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(pool, "CONNECT_SECONDS", 2.0)
        with closing(socket.create_server(("127.0.0.1", 0))) as silent:
            assert asyncio.run(ask(address(f"127.0.0.1:{silent.getsockname()[1]}", here))) == NAME

    def test_where_none_takes_writes_yet_one_may_come(self, read_only: str) -> None:
        connect(address(read_only)).close()
        with pytest.raises(DatabaseAway, match=r"cannot be reached: .*read-only"):
            connect(address(gone(), read_only, query=WRITES))

    def test_where_all_are_gone_one_may_come(self) -> None:
        assert connections.hosts_in(address(gone(), gone())) == 2
        with pytest.raises(DatabaseAway, match="cannot be reached"):
            connect(address(gone(), gone()))
