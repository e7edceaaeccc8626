"""A plain dump in a fresh cluster, without its roles and their privileges."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from libraries.embedded.binaries import find_programs
from libraries.embedded.postgres import EmbeddedPostgres
from libraries.embedded.settings import TEST_SETTINGS
from persistence.database.checks import refuse_unusable
from persistence.engine.connections import SERVER_ROLE
from persistence.engine.database_errors import UnusableDatabase
from tests.api_server import OWNER, ApiServer, Databases
from tests.builders.sales import paid, part, sent
from tests.cluster.databases import ClusterDatabases
from tests.command_line import CommandLine
from tests.handlers.platform.test_events import feed
from tests.partner import Business, Partner
from tests.poolers.pgbouncer import LOGIN, make_login

NAME = "restored"


@pytest.fixture(scope="module")
def shop(own_server: ApiServer) -> Business:
    shop = own_server.partner("Owner").business()
    buyer = shop.customer()
    invoice = sent(shop, buyer, 100)
    paid(shop, buyer, 60, part(invoice, 60))
    return shop


@pytest.fixture
def fresh(databases: Databases | ClusterDatabases, tmp_path: Path) -> Iterator[EmbeddedPostgres]:
    """A cluster without our databases and roles."""
    if isinstance(databases, ClusterDatabases):
        pytest.skip("a dump of a cluster is not restored")
    with EmbeddedPostgres(tmp_path / "fresh", TEST_SETTINGS) as postgres:
        postgres.create_database(NAME)
        yield postgres


def run(program: str, *words: str) -> str:
    """Run one of PostgreSQL's programs; return its error output."""
    path = str(find_programs().folder / program)
    return subprocess.run([path, *words], capture_output=True, text=True, check=True).stderr


def restored(postgres: EmbeddedPostgres, own_server: ApiServer, *words: str) -> str:
    """Restore a dump of a server's database with `psql`; return the errors."""
    dump = postgres.home / "dump.sql"
    run("pg_dump", *words, "--file", str(dump), own_server.database_url)
    return run("psql", "--no-psqlrc", "--quiet", "--file", str(dump), postgres.url(NAME))


def refuses(url: str) -> str:
    with pytest.raises(UnusableDatabase, match="run `accounting migrate`") as told:
        refuse_unusable(url, durable=False)
    return str(told.value)


def served_as_before(postgres: EmbeddedPostgres, shop: Business, folder: Path) -> None:
    """Check that a server with the server's login has the same books there as here."""
    url = postgres.url(NAME).replace("//accounting@", f"//{LOGIN}@")
    assert "The books of 1 business hold" in CommandLine(folder, url).did("check-books").out
    with ApiServer(url) as server:
        partner = Partner(server.url, shop.partner.partner_id, shop.partner.api_key)
        server.partners.append(partner)
        there = Business(partner, shop.record)
        here = shop.api.get("invoices/").json()
        assert there.api.get("invoices/").json() == here
        assert here["count"] == 1
        told = feed(shop)
        assert feed(there) == told
        sent(there, there.customer(), 50)
        assert there.api.get("invoices/").json()["count"] == 2
        [first, *_] = feed(there, after=told["head_sequence"])["results"]
        assert (first["sequence"], first["type"]) == (told["head_sequence"] + 1, "customer.created")


class TestDumpFirst:
    @pytest.mark.parametrize("words", [(), ("--no-privileges", "--no-owner")])
    def test_a_migration_makes_it_whole(
        self,
        own_server: ApiServer,
        shop: Business,
        fresh: EmbeddedPostgres,
        tmp_path: Path,
        words: tuple[str, ...],
    ) -> None:
        complaints = restored(fresh, own_server, *words)
        assert ('role "accounting_server" does not exist' in complaints) == (words == ())
        url = fresh.url(NAME)
        assert "the role accounting_server is not there" in refuses(url)
        make_login(url)
        assert "may not read them" in refuses(url)
        told = CommandLine(tmp_path, url).did("migrate")
        assert told.out.startswith("The database stands at ")
        served_as_before(fresh, shop, tmp_path)


class TestRolesFirst:
    def test_nothing_is_left_for_a_migration(
        self, own_server: ApiServer, shop: Business, fresh: EmbeddedPostgres, tmp_path: Path
    ) -> None:
        make_login(fresh.url("postgres"))
        with psycopg.connect(fresh.url("postgres")) as administrator:
            administrator.execute(f"CREATE ROLE {OWNER} LOGIN IN ROLE {SERVER_ROLE}")
        assert restored(fresh, own_server) == ""
        refuse_unusable(fresh.url(NAME), durable=False)
        served_as_before(fresh, shop, tmp_path)
