"""PgBouncer and the server: supported configurations, and those refused at the start."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from secrets import token_urlsafe
from typing import Any

import psycopg
import pytest

from libraries.embedded import places
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database import poolers
from persistence.database.checks import refuse_unusable
from persistence.database.distribution import distribute
from persistence.database.migrate import migrate
from persistence.database.revisions import HEAD
from persistence.engine.connections import LIMITS, SERVER_ROLE
from persistence.engine.database_errors import DatabaseAway, UnusableDatabase
from persistence.engine.pool import make_pool
from tests.api_server import ApiServer, Databases
from tests.builders.sales import paid, part, sent
from tests.command_line import CommandLine
from tests.concurrency.races import statuses, together
from tests.poolers.pgbouncer import (
    FOLDER,
    LOGIN,
    PgBouncer,
    before_servers,
    make_login,
    pooling,
    running,
)
from tests.poolers.programs import NEW, OLD, NotToBeHad
from tests.processes.conftest import make_folder
from tests.processes.server_process import Server, remove

SAMPLE = Path(__file__).parents[2] / "docs" / "ops" / "pgbouncer.ini"
OWNER = "accounting"
PLAIN = "plain_server"  # A login with only the server's role.
PUT = Callable[..., PgBouncer]

serve = partial(refuse_unusable, durable=False)


@pytest.fixture(scope="module")
def url(own_databases: Databases) -> str:
    url = own_databases.clone("poolers")
    make_login(url)
    return url


@pytest.fixture
def put(own_databases: Databases, url: str) -> Iterator[PUT]:
    """Return a function that runs a PgBouncer for the database."""
    with ExitStack() as stack:

        def put_before(mode: str, release: str = NEW, **settings: str) -> PgBouncer:
            logins = (LOGIN, OWNER, PLAIN)
            begun = pooling(own_databases.postgres, mode, release, logins, settings)
            return stack.enter_context(skipping(begun))

        yield put_before


@contextmanager
def skipping(begun: AbstractContextManager[PgBouncer]) -> Iterator[PgBouncer]:
    """Skip the test if PgBouncer is unavailable."""
    with ExitStack() as stack:
        try:
            pooler = stack.enter_context(begun)
        except NotToBeHad as error:
            pytest.skip(str(error))
        yield pooler


@pytest.fixture
def durable() -> Iterator[EmbeddedPostgres]:
    """A PostgreSQL with the durability that a server requires."""
    folder = make_folder()
    with EmbeddedPostgres(folder / "postgres") as postgres:
        postgres.create_database()
        yield postgres
    remove(folder)


@pytest.fixture
def plain(url: str) -> Iterator[str]:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {PLAIN} LOGIN IN ROLE {SERVER_ROLE}")
        yield PLAIN
        connection.execute(f"DROP ROLE {PLAIN}")


def sessions(url: str) -> list[tuple[str, int]]:
    """Return the number of sessions of each login except the owner in a database."""
    with psycopg.connect(url) as connection:
        found: list[Any] = connection.execute(
            "SELECT usename, count(*) FROM pg_stat_activity"
            " WHERE datname = current_database() AND usename <> %s GROUP BY 1",
            (OWNER,),
        ).fetchall()
        return found


def settings_in(url: str) -> list[str]:
    """Return the role and the limits of a connection of the server's."""

    async def asked() -> list[str]:
        names = ["role", *LIMITS]
        async with make_pool(url, size=1) as pool, pool.connection() as connection:
            shown = [await (await connection.execute(f"SHOW {name}")).fetchone() for name in names]
            return [value for row in shown if row is not None for value in row.values()]

    return asyncio.run(asked())


def own_settings(url: str) -> list[str]:
    """Return the same settings of a session of a login before the server changes them."""
    with psycopg.connect(url) as connection:
        asked = [connection.execute(f"SHOW {name}").fetchone() for name in ("role", *LIMITS)]
        return [row[0] for row in asked if row]


class TestTransactions:
    def test_servers_mix_up_nothing_over_fewer_sessions_than_connections(
        self, own_databases: Databases, url: str, put: PUT
    ) -> None:
        pooler = put("transaction", default_pool_size="3")
        mine = own_databases.clone("mixed")
        with before_servers(pooler), ApiServer(mine) as one, ApiServer(mine) as other:
            shops = [server.partner("Own").business() for server in (one, other) for _ in range(2)]
            buyers = [(shop, shop.customer()) for shop in shops]
            sendings = [partial(sent, shop, buyer, 100) for shop, buyer in buyers]
            invoices = [each() for each in sendings]
            calls = [
                partial(shop.api.get, f"invoices/{invoice['id']}/")
                for (shop, _), invoice in zip(buyers, invoices, strict=True)
            ] + [
                partial(shop.api.post, "customers/", json={"company_name": f"N {n}"})
                for n in range(10)
                for shop in shops
            ]
            assert set(statuses(together(calls))) <= {200, 201}
            for (shop, buyer), invoice in zip(buyers, invoices, strict=True):
                paid(shop, buyer, 60, part(invoice, 60))
                assert shop.api.get("customers/").json()["count"] == 11
                assert one.prover.faults_of(shop.id) == []
            [(login, count)] = sessions(mine)
            assert (login, 1 < count <= 3) == (LOGIN, True)

    def test_role_and_limits_come_along_with_the_login(self, url: str, put: PUT) -> None:
        pooled = put("transaction").url(url)
        serve(pooled)
        wanted = own_settings(pooled)
        assert wanted[0] == SERVER_ROLE
        assert "0" not in wanted
        assert settings_in(pooled) == wanted

    def test_a_login_without_them_is_refused_until_a_migration_has_seen_to_it(
        self, url: str, put: PUT, plain: str
    ) -> None:
        pooler = put("transaction")
        with pytest.raises(UnusableDatabase, match="has to bring role, statement_timeout") as told:
            serve(pooler.url(url, plain))
        assert f'ALTER ROLE "{plain}" SET "lock_timeout" = ' in str(told.value)
        migrate(url)
        pooler.admin("RECONNECT")
        serve(pooler.url(url, plain))

    def test_a_login_that_owns_the_schema_is_refused(self, url: str, put: PUT) -> None:
        with pytest.raises(UnusableDatabase, match="It owns the schema, so give the server a"):
            serve(put("transaction").url(url, OWNER))

    @pytest.mark.parametrize(
        ("release", "settings"), [(NEW, {"max_prepared_statements": "0"}), (OLD, {})]
    )
    def test_one_that_loses_prepared_statements_is_refused_each_time(
        self, url: str, put: PUT, release: str, settings: Mapping[str, str]
    ) -> None:
        pooled = put("transaction", release, **settings).url(url)
        for _ in range(2):
            with pytest.raises(UnusableDatabase, match="max_prepared_statements to 200 or more"):
                serve(pooled)

    @pytest.mark.parametrize("words", [("check-books",), ("serve", "--development")])
    def test_the_command_line_says_so(
        self, url: str, put: PUT, tmp_path: Path, words: tuple[str, ...]
    ) -> None:
        pooled = put("transaction", max_prepared_statements="0").url(url)
        told = CommandLine(tmp_path, pooled).run(*words, ACCOUNTING_LOG_FORMAT="text")
        assert (told.code, told.out) == (2, "")
        assert "accounting: A pooler stands before the database that loses prepared" in told.err

    @pytest.mark.parametrize(("kept", "said"), [(1, True), (150, True), (200, False), (500, False)])
    def test_one_that_keeps_few_prepared_statements_is_told_of(
        self, url: str, put: PUT, kept: int, said: bool
    ) -> None:
        told = serve(put("transaction", max_prepared_statements=str(kept)).url(url))
        assert (f"keeps {kept} prepared statements of each session" in (told or "")) == said
        assert (told is None) != said

    def test_a_server_starts_behind_such_a_one_with_a_warning_and_mixes_up_nothing(
        self, durable: EmbeddedPostgres
    ) -> None:
        url = durable.url()
        migrate(url)
        make_login(url)
        few = {"max_prepared_statements": "3"}
        with skipping(pooling(durable, settings=few)) as pooler:
            settings = {"DATABASE_URL": pooler.url(url)}
            folder = durable.home.parent
            with Server(folder, "--development", "--workers", "1", **settings) as server:
                [told] = [line for line in server.log.split("\n") if "keeps 3 prepared" in line]
                assert json.loads(told)["level"] == "warning"
                shop = server.partner().business()
                buyer = shop.customer()
                invoices = [sent(shop, buyer, 100) for _ in range(3)]
                paid(shop, buyer, 60, part(invoices[0], 60))
                calls = [partial(shop.api.get, f"invoices/{each['id']}/") for each in invoices * 8]
                assert statuses(together(calls)) == {200: 24}

    @pytest.mark.parametrize(
        "work", [migrate, lambda pooled: distribute(pooled, print, dry_run=True)]
    )
    def test_what_holds_a_session_goes_past_it(
        self, url: str, put: PUT, work: Callable[[str], object]
    ) -> None:
        with pytest.raises(UnusableDatabase, match="let ACCOUNTING_ADMIN_DATABASE_URL name"):
            work(put("transaction").url(url, OWNER))

    def test_one_that_lends_statements_is_refused(self, url: str, put: PUT) -> None:
        with pytest.raises(UnusableDatabase, match="The pooler takes no transactions"):
            serve(put("statement").url(url))

    def test_one_that_has_one_session_may_be_busy(
        self, url: str, put: PUT, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(poolers, "LOOKING_SECONDS", 0.5)
        with pytest.raises(DatabaseAway, match="No second connection"):
            serve(put("transaction", default_pool_size="1").url(url))


class TestSample:
    def test_a_server_starts_behind_it_without_a_warning(
        self, own_databases: Databases, url: str
    ) -> None:
        told = SAMPLE.read_text(encoding="utf-8")
        home = places.socket_folder(own_databases.postgres.home)
        for place, other in {
            "accounting = host=database.internal": f"* = host={home}",
            "listen_addr = 127.0.0.1": f"unix_socket_dir = {FOLDER}",
            "/etc/pgbouncer/userlist.txt": f"{FOLDER}/users.txt",
        }.items():
            assert place in told
            told = told.replace(place, other)
        password = token_urlsafe()
        with skipping(running(told, {LOGIN: password})) as pooler:
            named = pooler.url(url)
            with pytest.raises(UnusableDatabase, match="password"):
                serve(named)
            assert serve(named.replace("@", f":{password}@", 1)) is None


class TestSessions:
    @pytest.mark.parametrize("release", [NEW, OLD])
    @pytest.mark.parametrize("login", [LOGIN, OWNER])
    def test_whatever_login_serves_behind_one_that_lends_sessions(
        self, url: str, put: PUT, release: str, login: str
    ) -> None:
        pooled = put("session", release).url(url, login)
        for _ in range(2):  # The second connection reuses the session of the first.
            assert settings_in(pooled)[0] == SERVER_ROLE
        serve(pooled)

    def test_a_migration_holds_its_lock(self, url: str, put: PUT) -> None:
        assert migrate(put("session", OLD).url(url, OWNER)) == HEAD


class TestDirectly:
    @pytest.mark.parametrize("login", [LOGIN, OWNER])
    def test_what_the_login_lacks_is_put_on(self, url: str, login: str) -> None:
        named = url.replace(f"//{OWNER}@", f"//{login}@")
        serve(named)
        assert settings_in(named) == [SERVER_ROLE, *own_settings(url_of_login(url))[1:]]

    def test_a_limit_of_its_own_stays_and_none_is_not_taken(self, url: str, plain: str) -> None:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"ALTER ROLE {plain} SET lock_timeout = '2500ms'")
            connection.execute(f"ALTER ROLE {plain} SET statement_timeout = '1d'")
        role, statement, lock, *_ = settings_in(url.replace(f"//{OWNER}@", f"//{plain}@"))
        assert (role, lock) == (SERVER_ROLE, "2500ms")
        assert statement == own_settings(url_of_login(url))[1]


def url_of_login(url: str) -> str:
    return url.replace(f"//{OWNER}@", f"//{LOGIN}@")
