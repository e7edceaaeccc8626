"""Failures to connect to a database, reported immediately where waiting would not help."""

import threading
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from libraries.embedded import places, wire
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.database.migrate import migrate
from persistence.engine import connections
from persistence.engine.connections import connect
from persistence.engine.database_errors import DatabaseAway, UnusableDatabase
from tests.api_server import Databases
from tests.partner import PATIENCE_SECONDS, within
from tests.ports import free_port
from tests.standbys.standby import promote


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    """A server that accepts no connection yet, like one that recovers from a crash."""
    home = tmp_path / "postgres"
    with EmbeddedPostgres(home, TEST_SETTINGS) as postgres:
        postgres.create_database()
        [data] = home.glob("pg*")
    (data / "standby.signal").touch()
    unready = EmbeddedPostgres(home, {**TEST_SETTINGS, "hot_standby": "off"})
    starter = threading.Thread(target=unready.start)
    starter.start()
    assert within(PATIENCE_SECONDS, lambda: wire.listener_pid(places.socket_path(home)) is not None)
    yield unready
    starter.join(PATIENCE_SECONDS)
    assert not starter.is_alive()
    unready.stop()


def lets_in(url: str) -> bool:
    try:
        connect(url).close()
    except DatabaseAway:
        return False
    return True


class TestConnect:
    def test_a_refused_connection_is_database_away(self) -> None:
        url = f"postgresql://books@127.0.0.1:{free_port()}/books"
        with pytest.raises(DatabaseAway, match=r"cannot be reached: .*Connection refused$"):
            connect(url)

    def test_a_starting_server_is_database_away_until_it_accepts(
        self, starting: EmbeddedPostgres
    ) -> None:
        url = starting.url()
        with pytest.raises(DatabaseAway, match=r"cannot be reached: .*the database system is"):
            connect(url)
        promote(starting)
        assert within(PATIENCE_SECONDS, lambda: lets_in(url))

    @pytest.mark.parametrize(
        ("change", "why"),
        [
            (("/template_ready?", "/nowhere?"), 'database "nowhere" does not exist'),
            (("//accounting@", "//stranger_to_all@"), 'role "stranger_to_all" does not exist'),
        ],
    )
    def test_a_server_that_rejects_the_login_is_unusable(
        self, databases: Databases, change: tuple[str, str], why: str
    ) -> None:
        url = databases.postgres.url("template_ready").replace(*change)
        with pytest.raises(UnusableDatabase, match=why) as told:
            connect(url)
        assert not isinstance(told.value, DatabaseAway)
        assert "\n" not in str(told.value)

    @pytest.mark.parametrize("use", [connect, migrate])
    def test_a_server_that_is_too_old_is_refused_with_its_version(
        self, databases: Databases, monkeypatch: pytest.MonkeyPatch, use: object
    ) -> None:
        assert callable(use)
        url = databases.postgres.url("postgres")
        with psycopg.connect(url) as connection:
            found = connection.info.parameter_status("server_version")
        monkeypatch.setattr(connections, "OLDEST_MAJOR", 99)
        with pytest.raises(UnusableDatabase) as told:
            use(url)
        assert f"is PostgreSQL {found}; 99 or newer is needed" in str(told.value)
