"""Row security that also binds the owner, and the isolation of partners.

The owner of the schema of all these tests is no superuser and has no BYPASSRLS.
"""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from libraries.embedded import binaries
from persistence.database import migrate as migrations
from persistence.database import rights
from persistence.engine.topology import Entrant, SingleNode
from persistence.partners import sandboxes
from persistence.tables import metadata
from tests.api_server import OWNER, ApiServer, Databases, as_owner
from tests.builders.exchange_rates import table_set
from tests.builders.sales import paid, part, sent
from tests.command_line import CommandLine
from tests.partner import Business, Partner
from tests.persistence.server_role import as_server

Connection = psycopg.Connection[tuple[Any, ...]]

TENANTS = sorted(table.name for table in metadata.sorted_tables if table.info.get("tenant"))
UNSEALED = (
    "SELECT count(*) FROM audit_record r WHERE NOT EXISTS (SELECT FROM audit_seal s"
    " WHERE s.business_id = r.business_id AND r.id = ANY (s.record_ids))"
)
WITHOUT_BUSINESS = (
    "SELECT count(*) FROM journal_line l"
    " WHERE NOT EXISTS (SELECT FROM business b WHERE b.id = l.business_id)"
)
OF_PARTNERS = {
    "partner": "id",
    "business": "partner_id",
    "api_key": "partner_id",
    "partner_reply": "partner_id",
    "partner_audit_record": "partner_id",
    "revoked_token": "partner_id",
    "event_placement": "partner_id",
    "webhook_feed": "partner_id",
    "webhook_endpoint": "partner_id",
    "webhook_health": "partner_id",
    "webhook_secret": "partner_id",
    "webhook_delivery": "partner_id",
    "partner_exchange_rate_table": "partner_id",
}
WEBHOOKS = (
    "INSERT INTO event_placement SELECT id, 1, gen_random_uuid(), 1, 1 FROM partner",
    "INSERT INTO webhook_feed SELECT id, 1 FROM partner",
    "INSERT INTO webhook_endpoint (id, partner_id, version, created_at, updated_at, url, ordered,"
    " status) SELECT gen_random_uuid(), id, 1, now(), now(), 'https://a.example', false, 'active'"
    " FROM partner",
    "INSERT INTO webhook_health SELECT id, partner_id, 1 FROM webhook_endpoint",
    "INSERT INTO webhook_secret SELECT id, id, partner_id, now(), NULL, 'a', '' FROM"
    " webhook_endpoint",
    "INSERT INTO webhook_delivery (id, endpoint_id, partner_id, business_id, sequence, event_id,"
    " event_type, body, created_at, status, attempts, next_attempt_at) SELECT id, id, partner_id,"
    " id, 1, id, 'ping', '', now(), 'pending', 0, now() FROM webhook_endpoint",
)


@pytest.fixture(scope="module")
def rival(own_server: ApiServer) -> Partner:
    return own_server.partner("Rival")


@pytest.fixture(scope="module", autouse=True)
def lived_in(own_server: ApiServer, partner: Partner, rival: Partner) -> list[Business]:
    """Create a business of each partner, with changes of every kind that the database records."""
    own_server.prepare_sandboxes()
    own_server.query(
        "INSERT INTO revoked_token SELECT gen_random_uuid(), id, now() FROM partner RETURNING id"
    )
    for insertion in WEBHOOKS:
        own_server.query(f"{insertion} RETURNING partner_id")
    return [lived(each) for each in (partner, rival)]


def lived(partner: Partner) -> Business:
    """Open a business, trade, set exchange rates, lock a period, and reset a sandbox."""
    body = {"external_id": "made", "legal_name": "Harbour", "email": "a@harbour.example.com"}
    body |= {"entity_type": "limited", "country": "GB"}
    keyed = {"Idempotency-Key": "made"}
    answer = partner.api.post("/v1/platform/businesses/", json=body, headers=keyed)
    shop = Business(partner, answer.json())
    buyer = shop.customer()
    paid(shop, buyer, 60, part(sent(shop, buyer, 100), 60))
    for owner in (partner, shop):
        table_set(owner, "2026-07-31")
    sandbox = partner.api.post("/v1/platform/sandboxes/", json={"external_id": "s"}).json()["id"]
    assert partner.api.post(f"/v1/platform/sandboxes/{sandbox}/reset/").status_code == 200
    assert partner.api.post(f"/v1/platform/businesses/{shop.id}/archive/").status_code == 200
    return shop


@contextmanager
def owning(api_server: ApiServer, *settings: str) -> Iterator[Connection]:
    """Open a transaction of the owner; roll it back at the end."""
    with psycopg.connect(as_owner(api_server.database_url)) as connection:
        for each in settings:
            connection.execute(each)
        yield connection
        connection.rollback()


def counted(connection: Connection, table: str) -> int:
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    return int(count)


class TestOwner:
    def test_the_owner_is_bound_as_any_login(self, own_server: ApiServer) -> None:
        assert own_server.query(
            "SELECT rolsuper, rolbypassrls FROM pg_roles WHERE rolname = %s", OWNER
        ) == [(False, False)]
        with owning(own_server) as owner:
            assert {counted(owner, table) for table in TENANTS} == {0}
            assert owner.execute("UPDATE invoice SET total_amount = 1").rowcount == 0

    def test_the_owner_sees_one_business_when_it_is_set(
        self, own_server: ApiServer, lived_in: list[Business]
    ) -> None:
        with owning(own_server, f"SET LOCAL app.business_id = '{lived_in[0].id}'") as owner:
            found = owner.execute("SELECT DISTINCT business_id FROM account").fetchall()
        assert found == [(UUID(lived_in[0].id),)]

    def test_the_owner_sees_all_businesses_when_it_asks_for_them(
        self, own_server: ApiServer
    ) -> None:
        with owning(own_server, rights.SEE_EVERY_BUSINESS) as owner:
            seen = {table: counted(owner, table) for table in [*TENANTS, *OF_PARTNERS]}
        there = {table: own_server.query(f"SELECT count(*) FROM {table}") for table in seen}
        assert {table: [(count,)] for table, count in seen.items()} == there
        assert seen["journal_line"] > 0

    def test_the_owner_sees_all_businesses_for_one_transaction(self, own_server: ApiServer) -> None:
        with psycopg.connect(as_owner(own_server.database_url)) as owner:
            owner.execute(rights.SEE_EVERY_BUSINESS)
            assert counted(owner, "account") > 0
            owner.commit()
            assert counted(owner, "account") == 0

    def test_the_server_cannot_see_all_businesses(
        self, own_server: ApiServer, lived_in: list[Business]
    ) -> None:
        with as_server(own_server) as server:
            server.execute(rights.SEE_EVERY_BUSINESS)
            visible = [table for table in TENANTS if counted(server, table)]
            server.execute(f"SET LOCAL app.business_id = '{lived_in[0].id}'")
            found = server.execute("SELECT DISTINCT business_id FROM account").fetchall()
        assert (visible, found) == ([], [(UUID(lived_in[0].id),)])

    def test_the_trail_of_every_business_is_proven(self, own_server: ApiServer) -> None:
        books = own_server.prover.books()
        assert len(books) > 5
        faults = {each.name: own_server.prover.faults_of(each.id) for each in books}
        assert {name: found for name, found in faults.items() if found} == {}


class TestPartners:
    @pytest.mark.parametrize(("table", "column"), OF_PARTNERS.items())
    def test_a_partner_sees_only_its_own_rows(
        self, own_server: ApiServer, partner: Partner, table: str, column: str
    ) -> None:
        extra = " WHERE sandbox IS DISTINCT FROM 'template'" if table == "business" else ""
        text = f"SELECT DISTINCT {column} FROM {table}{extra}"
        with as_server(own_server) as server:
            assert len(server.execute(text).fetchall()) > 1  # The caller is not known yet.
            server.execute(f"SET LOCAL app.partner_id = '{partner.partner_id}'")
            assert server.execute(text).fetchall() == [(partner.partner_id,)]

    def test_a_partner_cannot_write_rows_of_another_partner(
        self, own_server: ApiServer, partner: Partner, rival: Partner
    ) -> None:
        with as_server(own_server) as server:
            server.execute(f"SET LOCAL app.partner_id = '{partner.partner_id}'")
            for table in ("partner", "business", "api_key"):
                column = OF_PARTNERS[table]
                changed = f"UPDATE {table} SET {column} = {column} WHERE {column} = %s"
                assert server.execute(changed, (rival.partner_id,)).rowcount == 0
            with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
                server.execute("UPDATE business SET partner_id = %s", (rival.partner_id,))

    def test_a_template_is_seen_by_all_and_changed_by_none(
        self, own_server: ApiServer, partner: Partner
    ) -> None:
        change = "UPDATE business SET name = 'mine' WHERE sandbox = 'template'"
        with as_server(own_server) as server:
            server.execute(f"SET LOCAL app.partner_id = '{partner.partner_id}'")
            assert counted(server, "business WHERE sandbox = 'template'") == 1
            with pytest.raises(errors.InsufficientPrivilege, match="row-level security"):
                server.execute(change)

    def test_the_first_statement_of_a_session_sets_the_partner(
        self, own_server: ApiServer, partner: Partner, lived_in: list[Business]
    ) -> None:
        business, mine = UUID(lived_in[0].id), Entrant(partner.partner_id, None, None)
        machines = SingleNode()
        openings = {
            "reading": machines.read_business(business, mine),
            "link": machines.read_linked(business),
            "writing": machines.write_business(business, mine, "{}", alone=False),
            "partner": machines.read_partner(mine),
            "partner's writing": machines.write_partner(mine, "{}"),
        }
        for name, [first, *_] in openings.items():
            with as_server(own_server) as server:
                server.execute(first.text.encode(), first.parameters)
                [(told,)] = server.execute(
                    "SELECT current_setting('app.partner_id', true)"
                ).fetchall()
            assert told == str(partner.partner_id), name


class TestMigrations:
    def test_a_migration_that_sees_no_rows_fails_with_the_reason(
        self, databases: Databases, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        url = as_owner(databases.clone(f"blind_{os.getpid()}"))
        with psycopg.connect(url) as owner:  # As if the last migration had not run yet.
            owner.execute("UPDATE alembic_version SET version_num = '0026'")
            owner.execute("DROP TABLE upkeep")
        import_module("persistence.migrations.texts")  # An import after the patch keeps it.
        monkeypatch.setattr(rights, "SEE_EVERY_BUSINESS", "SELECT 1")
        with pytest.raises(RuntimeError, match="sees no rows before it says"):
            migrations.migrate(url)

    def test_a_migration_repairs_policies_and_forced_row_security(
        self, databases: Databases
    ) -> None:
        """Restore policies that are wrong after a database restore, or on a new table."""
        url = databases.clone(f"restored_{os.getpid()}")
        with psycopg.connect(url, autocommit=True) as superuser:
            superuser.execute("ALTER POLICY every_business ON invoice TO accounting")
            superuser.execute("ALTER POLICY kept_by_owner ON audit_record TO accounting")
            superuser.execute("DROP POLICY every_business ON bill")
            superuser.execute("ALTER TABLE bill NO FORCE ROW LEVEL SECURITY")
            migrations.migrate(as_owner(url))
            found = superuser.execute(
                "SELECT count(*) FROM pg_policy p JOIN pg_class c ON c.oid = p.polrelid"
                " WHERE c.relforcerowsecurity AND p.polroles = ARRAY[c.relowner]"
            ).fetchone()
            assert found == (len(TENANTS) + len(OF_PARTNERS) + 2,)


class TestTools:
    @pytest.fixture
    def owners(self, own_server: ApiServer, tmp_path: Path) -> CommandLine:
        return CommandLine(tmp_path, as_owner(own_server.database_url))

    def test_the_commands_of_operators_work_for_the_owner(
        self, own_server: ApiServer, owners: CommandLine
    ) -> None:
        place = {"ACCOUNTING_DOCUMENTS_DIR": str(own_server.folder)}
        assert owners.did("check-books", "--json").facts["status"] == "green"
        assert own_server.query(UNSEALED) == [(0,)]
        assert "rolled up anew" in owners.did("rebuild-balances").out
        [(thrown,)] = own_server.query("SELECT count(*) FROM business WHERE sandbox = 'given_up'")
        assert thrown > 0
        told = owners.did("sandbox", "sweep", **place).out
        assert told.endswith(f"{thrown} sandboxes were deleted.\n")
        assert own_server.query(WITHOUT_BUSINESS) == [(0,)]
        assert owners.did("sweep-documents", **place).code == 0

    def test_a_sweep_that_sees_one_business_deletes_nothing(
        self, own_server: ApiServer, partner: Partner, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        body = {"external_id": f"blind {uuid4()}"}
        made = partner.api.post("/v1/platform/sandboxes/", json=body).json()["id"]
        monkeypatch.setattr(sandboxes, "SEE_EVERY_BUSINESS", "SELECT 1")
        with (
            psycopg.connect(as_owner(own_server.database_url), autocommit=True) as owner,
            pytest.raises(errors.ForeignKeyViolation),
        ):
            sandboxes.take_away(owner, UUID(made))
        assert partner.api.get(f"/v1/platform/businesses/{made}/").status_code == 200

    @pytest.mark.parametrize(
        ("words", "options", "whole"),
        [
            (["--enable-row-security"], "-c app.every_business=on", True),
            (["--enable-row-security"], "", False),
            ([], "-c app.every_business=on", None),
        ],
    )
    def test_a_dump_of_the_owner_is_complete_when_it_sees_all_businesses(
        self, own_server: ApiServer, words: list[str], options: str, whole: bool | None
    ) -> None:
        programs = binaries.find_programs()
        asked = [programs.folder / "pg_dump", "--data-only", "--table=journal_line", *words]
        url = as_owner(own_server.database_url)
        done = subprocess.run(
            [*map(str, asked), url],
            env={**os.environ, "PGOPTIONS": options},
            capture_output=True,
            text=True,
            check=False,
        )
        if whole is None:
            assert "affected by row-level security" in done.stderr
            return
        assert done.returncode == 0, done.stderr
        [_, copied] = done.stdout.split("FROM stdin;\n")
        [(there,)] = own_server.query("SELECT count(*) FROM journal_line")
        assert len(copied.partition("\\.\n")[0].splitlines()) == (there if whole else 0)
