"""`accounting distribute`: a schema, distributed over the machines of a cluster."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from datetime import date
from functools import partial
from pathlib import Path

import psycopg
import pytest
from alembic.migration import MigrationContext
from alembic.operations import Operations
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier
from sqlalchemy import create_engine, make_url

from persistence.database import migrate as migrations
from persistence.database.checks import refuse_unusable
from persistence.database.distribution import SETTINGS, distribute
from persistence.database.revisions import HEAD
from persistence.database.rights import SEE_EVERY_BUSINESS
from persistence.engine.connections import SERVER_ROLE
from persistence.engine.database_errors import UnusableDatabase, broken_constraint
from persistence.migrations.texts import run_texts
from tests.api_server import ApiServer, Databases
from tests.builders.sales import paid, part, sent
from tests.cluster.databases import ClusterDatabases
from tests.command_line import CommandLine
from tests.concurrency.races import statuses, together
from tests.partner import Business, Partner
from tests.persistence.database.test_additive_migrations import FIRST_HELD
from tests.poolers.pgbouncer import before_servers, make_login, pooling_at
from tests.poolers.programs import NotToBeHad

# Typical parts of a migration: a generated column, an index, a trigger.
LATER = """
ALTER TABLE customer ADD COLUMN shoe_size INTEGER GENERATED ALWAYS AS (length(notes)) STORED;
CREATE INDEX customer_business_id_shoe_size_idx ON customer (business_id, shoe_size);
CREATE FUNCTION later() RETURNS trigger LANGUAGE plpgsql AS $later$ BEGIN RETURN NULL; END $later$;
CREATE TRIGGER customer_later AFTER INSERT ON customer FOR EACH ROW EXECUTE FUNCTION later();
"""
JUNE = date(2025, 6, 1)
Connection = psycopg.Connection[tuple[object, ...]]


def left_in(url: str) -> list[str]:
    """Return the remaining steps."""
    told: list[str] = []
    assert distribute(url, told.append, dry_run=True) == len(told)
    return told


class TestOneMachine:
    def test_is_told_that_there_is_no_cluster(
        self, databases: Databases | ClusterDatabases, api_server: ApiServer, tmp_path: Path
    ) -> None:
        if isinstance(databases, ClusterDatabases):
            pytest.skip("this PostgreSQL has Citus")
        told = CommandLine(tmp_path, api_server.database_url).run("distribute")
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith("accounting: This PostgreSQL has no Citus")


@pytest.fixture(scope="module")
def cluster(databases: Databases | ClusterDatabases) -> ClusterDatabases:
    if isinstance(databases, Databases):
        pytest.skip("there is no cluster: make cluster starts one")
    return databases


class TestDistribute:
    def test_it_tells_what_is_left_and_does_it_once(self, cluster: ClusterDatabases) -> None:
        url = cluster.empty(f"spread_{os.getpid()}")
        migrations.migrate(url)
        told = left_in(url)
        assert "copy business to each machine" in told
        assert "spread invoice by business" in told
        assert left_in(url) == told
        done: list[str] = []
        distribute(url, done.append, dry_run=False)
        assert set(told) <= set(done)
        assert left_in(url) == []

    def test_later_migrations_reach_every_machine(
        self, cluster: ClusterDatabases, tmp_path: Path
    ) -> None:
        url = cluster.clone(f"later_{os.getpid()}")
        (tmp_path / "later.sql").write_text(LATER)
        engine = create_engine(make_url(url).set(drivername="postgresql+psycopg"))
        with (
            engine.begin() as connection,
            Operations.context(MigrationContext.configure(connection)),
        ):
            connection.exec_driver_sql(SEE_EVERY_BUSINESS)
            run_texts(str(tmp_path / "later.py"), "later.sql")
        engine.dispose()
        assert left_in(url) == [
            "let later() read on the machine of its row",
            "let later() keep no plan on the machine of its row",
        ]
        assert migrations.migrate(url) == HEAD
        assert left_in(url) == []
        with psycopg.connect(url) as later:
            assert later.execute("SELECT sum(shoe_size) FROM customer").fetchone() == (None,)

    def test_a_cluster_of_before_is_migrated(
        self, cluster: ClusterDatabases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = cluster.empty(f"before_{os.getpid()}")
        upgrade = migrations.command.upgrade
        with monkeypatch.context() as patched:
            patched.setattr(
                migrations.command, "upgrade", lambda config, _: upgrade(config, FIRST_HELD)
            )
            migrations.migrate(url)
        distribute(url, print, dry_run=False)
        assert migrations.migrate(url) == HEAD
        assert left_in(url) == []

    def test_settings_that_a_dump_left_behind_are_told_and_made_again(
        self, cluster: ClusterDatabases
    ) -> None:
        url = cluster.clone(f"restored_{os.getpid()}")
        with psycopg.connect(url, autocommit=True) as connection:
            for setting in SETTINGS:
                connection.execute(
                    SQL("ALTER DATABASE {} RESET {}").format(
                        Identifier(connection.info.dbname), SQL(setting)
                    )
                )
        told = "set citus.propagate_set_commands of the database"
        with pytest.raises(UnusableDatabase, match=told):
            refuse_unusable(url, durable=False)
        migrations.migrate(url)
        refuse_unusable(url, durable=False)

    def test_it_waits_until_the_servers_are_stopped(
        self, cluster: ClusterDatabases, api_server: ApiServer
    ) -> None:
        with pytest.raises(UnusableDatabase, match="A server is at work"):
            distribute(api_server.database_url, print, dry_run=False)


class TestMovingOff:
    def test_a_business_leaves_for_one_machine_with_its_trail(
        self,
        cluster: ClusterDatabases,
        api_server: ApiServer,
        acme: Partner,
        own_databases: Databases,
        tmp_path: Path,
    ) -> None:
        shop = acme.business()
        buyer = shop.customer()
        paid(shop, buyer, 60, part(sent(shop, buyer, 100), 60))
        here = CommandLine(tmp_path, api_server.database_url)
        there = CommandLine(tmp_path, own_databases.clone("left_for"))
        file = str(tmp_path / "left.books")
        files = {"ACCOUNTING_DOCUMENTS_DIR": str(api_server.folder)}
        told = here.did("export-business", shop.id, file, **files).out
        receiver = there.did("partner", "create", "Receiver", "--json").facts["partner_id"]
        taken = there.did("import-business", file, "--partner", receiver).out
        [digest] = [line for line in told.splitlines() if line.startswith("Digest: ")]
        assert digest in taken.splitlines()
        assert "The books of 1 business hold" in there.did("check-books").out


class TestPooler:
    def test_a_server_behind_one_that_lends_transactions_mixes_up_nothing(
        self, cluster: ClusterDatabases, api_server: ApiServer
    ) -> None:
        url = api_server.database_url
        make_login(url)
        where = "host={host} port={port}".format(**conninfo_to_dict(url))
        few = {"default_pool_size": "3"}
        with ExitStack() as stack:
            try:
                pooler = stack.enter_context(pooling_at(where, settings=few))
            except NotToBeHad as error:
                pytest.skip(str(error))
            assert refuse_unusable(pooler.url(url), durable=False) is None
            stack.enter_context(before_servers(pooler))
            both = [stack.enter_context(ApiServer(url)) for _ in range(2)]
            shops = [server.partner("Pooled").business() for server in both for _ in range(2)]
            buyers = [(shop, shop.customer()) for shop in shops]
            invoices = [sent(shop, buyer, 100) for shop, buyer in buyers]
            calls = [
                partial(shop.api.get, path)
                for shop, invoice in zip(shops, invoices, strict=True)
                for path in (f"invoices/{invoice['id']}/", "reports/trial-balance/")
            ] + [
                partial(shop.api.post, "customers/", json={"company_name": f"N {n}"})
                for n in range(5)
                for shop in shops
            ]
            assert set(statuses(together(calls))) <= {200, 201}
            for (shop, buyer), invoice in zip(buyers, invoices, strict=True):
                paid(shop, buyer, 60, part(invoice, 60))
                assert shop.api.get("customers/").json()["count"] == 6
                assert both[0].prover.faults_of(shop.id) == []


@pytest.fixture(scope="module")
def shop(cluster: ClusterDatabases, acme: Partner) -> Business:
    return acme.business()


@pytest.fixture
def server(api_server: ApiServer, shop: Business) -> Iterator[Connection]:
    """A connection with the server's rights in a business, rolled back in the end."""
    with psycopg.connect(api_server.database_url, options=f"-c role={SERVER_ROLE}") as connection:
        connection.execute(f"SET LOCAL app.business_id = '{shop.id}'")
        yield connection
        connection.rollback()


def post(connection: Connection, business: str, on: date) -> None:
    """Insert an entry of two lines without the lines."""
    connection.execute(
        "INSERT INTO journal_entry (business_id, id, version, created_at, sequence_number,"
        " entry_date, posted_at, description, currency, total, stream, created_by, source_type,"
        " source_id, line_count) VALUES (%s, '01900000-0000-7000-8000-000000000001', 1, now(),"
        " 'T-1', %s, now(), 'x', 'GBP', 5, 'main', 'system', 'invoice',"
        " '01900000-0000-7000-8000-000000000001', 2)",
        (business, on),
    )


class TestGuards:
    """Guards of tests/persistence/database/test_guards.py with other messages on a cluster."""

    def test_an_entry_that_does_not_balance_is_refused_at_the_end(
        self, server: Connection, shop: Business
    ) -> None:
        post(server, shop.id, JUNE)
        with pytest.raises(psycopg.Error, match="could not commit"):
            server.commit()

    def test_none_falls_into_the_locked_period(self, server: Connection, shop: Business) -> None:
        lock = {"lock_date": "2025-06-30"}
        path = f"/v1/platform/businesses/{shop.id}/"
        assert shop.partner.api.patch(path, json=lock).status_code == 200
        with pytest.raises(errors.CheckViolation) as refused:
            post(server, shop.id, JUNE)
        assert broken_constraint(refused.value) == "journal_entry_after_lock_date"

    def test_nothing_is_shown_or_written_of_another_business(
        self, server: Connection, shop: Business, acme: Partner
    ) -> None:
        other = acme.business()
        other.customer()
        read = "SELECT count(*) FROM customer WHERE business_id = %s"
        assert server.execute(read, (other.id,)).fetchall() == [(0,)]
        with pytest.raises(errors.InsufficientPrivilege):
            server.execute(
                "INSERT INTO number_series (business_id, series, last) VALUES (%s, 'X', 1)",
                (other.id,),
            )

    def test_what_is_posted_stays(self, server: Connection, shop: Business) -> None:
        with pytest.raises(errors.InsufficientPrivilege):
            server.execute("DELETE FROM journal_entry WHERE business_id = %s", (shop.id,))
