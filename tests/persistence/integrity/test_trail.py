"""The proof of the audit trail: its records agree with the rows, its seals with the records."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from persistence.engine.pool import make_pool
from persistence.integrity.definitions import verdict
from persistence.integrity.trail import PARTNER_CHECKS
from persistence.partners.partners import revoke_key
from persistence.tables import metadata
from tests import clock
from tests.api_server import ApiServer
from tests.builders.sales import invoice_body, paid, part, sent
from tests.builders.trade import SENT
from tests.partner import Business, Partner
from tests.persistence.integrity.book_faults import faults_in, tamper
from tests.persistence.integrity.trail_faults import put_in
from tests.persistence.server_role import as_server

Connection = psycopg.Connection[tuple[Any, ...]]

_DIGESTED = (
    "audit_record_digest(business_id, id, created_at, object_type, object_id, change, action,"
    " actor_kind, partner_id, key_id, request_id, before_digest, after_digest, changes)"
)
_MINE = "WHERE business_id = %s AND object_type = 'customer' AND change = 'insert'"


@pytest.fixture(scope="module")
def bakery(own_server: ApiServer, partner: Partner) -> Business:
    """A business with an invoice that was changed, sent and paid, and with a deleted draft."""
    shop = partner.business()
    buyer = shop.customer(external_id="baker")
    draft = shop.made("invoices/", invoice_body(buyer))
    assert shop.api.delete(f"invoices/{draft['id']}/").status_code == 200
    draft = shop.made("invoices/", invoice_body(buyer))
    path = f"invoices/{draft['id']}/"
    shop.api.put(path, json={**invoice_body(buyer), "memo": "Changed"})
    invoice = shop.api.post(f"{path}send/", json={"sent_at": SENT}).json()
    paid(shop, buyer, 50, part(invoice, 50))
    return shop


@pytest.fixture
def owner(own_server: ApiServer) -> Iterator[Connection]:
    with psycopg.connect(own_server.database_url, autocommit=True) as connection:
        yield connection


@contextmanager
def without_triggers(owner: Connection, *tables: str) -> Iterator[None]:
    """Disable the triggers of tables, which are missing on a cluster."""
    for table in tables:
        owner.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
    try:
        yield
    finally:
        for table in tables:
            owner.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")


def seal(api_server: ApiServer, shop: Business) -> int:
    """Seal as the server does; return the number of new records."""
    with as_server(api_server) as server:
        found = server.execute("SELECT seal_audit_trail(%s)", (shop.id,)).fetchone()
        server.commit()
    assert found is not None
    number: int = found[0]
    return number


def revoked(api_server: ApiServer) -> Partner:
    """Create a partner, then revoke its key."""
    partner = api_server.partner("Revoked")

    async def revoke() -> None:
        async with make_pool(api_server.database_url, size=1) as pool:
            key_id = partner.api_key.rpartition("_")[2][:8]
            await revoke_key(pool, partner.partner_id, key_id, clock.now())

    asyncio.run(revoke())
    return partner


def changes_of(api_server: ApiServer, partner: Partner) -> list[tuple[Any, ...]]:
    """Check the trail of a partner; return its records."""
    with psycopg.connect(api_server.database_url) as connection:
        for text in PARTNER_CHECKS.values():
            chosen = {"partner_id": partner.partner_id}
            [(_, offender)] = connection.execute(verdict(text), chosen).fetchall()
            assert offender is None
    return sorted(
        api_server.query(
            "SELECT object_type, change, action FROM partner_audit_record WHERE partner_id = %s",
            partner.partner_id,
        )
    )


def rewritten(api_server: ApiServer, shop: Business) -> None:
    """Rename a customer, and change its records to the new name."""
    tamper(api_server, "UPDATE customer SET company_name = 'B' WHERE business_id = %s", shop.id)
    tamper(
        api_server,
        "UPDATE audit_record r SET after_digest = s.digest FROM audit_record_rows(%s) AS s"
        " WHERE r.object_id = s.object_id AND s.object_type = 'customer'",
        shop.id,
    )
    tamper(api_server, f"UPDATE audit_record SET digest = {_DIGESTED} {_MINE}", shop.id)


class TestSeals:
    def test_a_seal_binds_each_record_once_and_the_previous_seal(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        [[records]] = own_server.query(
            "SELECT count(*) FROM audit_record WHERE business_id = %s", shop.id
        )
        assert seal(own_server, shop) == records
        assert seal(own_server, shop) == 0
        shop.customer()
        assert seal(own_server, shop) == 1
        seals = own_server.query(
            "SELECT number, cardinality(record_ids), before_digest, digest FROM audit_seal"
            " WHERE business_id = %s ORDER BY number",
            shop.id,
        )
        (_, _, _, first), (_, _, before, _) = seals
        assert [each[:2] for each in seals] == [(1, records), (2, 1)]
        assert (seals[0][2], before) == (None, first)
        assert faults_in(own_server, shop) == set()

    def test_a_record_that_was_committed_late_is_in_the_next_seal(
        self, own_server: ApiServer, shop: Business, owner: Connection
    ) -> None:
        seal(own_server, shop)
        with psycopg.connect(own_server.database_url) as late:
            late.execute("UPDATE account SET updated_at = now() WHERE business_id = %s", (shop.id,))
            shop.customer()
            assert seal(own_server, shop) == 1
            late.commit()
        assert seal(own_server, shop) > 20
        assert faults_in(own_server, shop) == set()

    @pytest.mark.parametrize(("is_sealed", "faults"), [(True, {"audit_seals"}), (False, set())])
    def test_a_consistent_forgery_is_found_once_the_trail_is_sealed(
        self, own_server: ApiServer, shop: Business, is_sealed: bool, faults: set[str]
    ) -> None:
        if is_sealed:
            seal(own_server, shop)
        rewritten(own_server, shop)
        assert faults_in(own_server, shop) == faults

    @pytest.mark.parametrize(
        "statement",
        [
            "DELETE FROM audit_seal WHERE business_id = %s AND number = 1",
            "UPDATE audit_seal SET number = number + 7 WHERE business_id = %s",
            "UPDATE audit_seal SET created_at = now() WHERE business_id = %s AND number = 1",
            "UPDATE audit_seal SET record_ids = record_ids[2:] WHERE business_id = %s",
            "UPDATE audit_seal SET before_digest = NULL WHERE business_id = %s AND number = 2",
            # A deleted record disappears from the trail.
            "DELETE FROM audit_record WHERE business_id = %s AND object_id IN"
            " (SELECT object_id FROM audit_record WHERE change = 'delete')",
        ],
    )
    def test_a_changed_seal_or_a_gap_is_found(
        self, own_server: ApiServer, shop: Business, statement: str
    ) -> None:
        seal(own_server, shop)
        shop.customer()
        seal(own_server, shop)
        tamper(own_server, statement, shop.id)
        told = {"event_trail"} if statement.startswith("DELETE FROM audit_record") else set()
        assert faults_in(own_server, shop) == {"audit_seals", *told}


class TestForging:
    @pytest.mark.parametrize(
        "statement",
        [
            "SELECT keep_audit_record('customer', %(b)s, %(b)s, 'insert', NULL, NULL, NULL)",
            "SELECT keep_partner_audit_record('partner', %(b)s, %(b)s, 'x', NULL, NULL, NULL)",
            put_in(id="gen_random_uuid()"),
            "INSERT INTO audit_seal SELECT * FROM audit_seal",
            "DELETE FROM audit_seal",
            "UPDATE partner_audit_record SET action = NULL",
            "SELECT audit_columns('customer', ARRAY['notes'], 'NULL')",
            "SELECT audit_table('audit_record', 'business')",
            "CREATE TEMP TABLE customer AS SELECT * FROM public.customer;"
            " CREATE TRIGGER forging AFTER INSERT ON customer"
            " FOR EACH ROW EXECUTE FUNCTION public.customer_audit()",
        ],
    )
    def test_the_server_cannot_forge_a_record(
        self, own_server: ApiServer, shop: Business, statement: str
    ) -> None:
        with (
            as_server(own_server, shop.id) as server,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            server.execute(statement.replace("%(b)s", f"'{shop.id}'"))

    def test_a_server_cannot_forge_a_change_of_a_business(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        """Add no record when the server calls the function that records a business's changes."""
        with as_server(own_server, shop.id) as server:
            count = "SELECT count(*) FROM audit_record WHERE business_id = %s"
            before = server.execute(count, (shop.id,)).fetchone()
            server.execute("SELECT audit_business(%s)", (shop.id,))
            assert server.execute(count, (shop.id,)).fetchone() == before


class TestBusinesses:
    def test_changes_of_a_business_are_recorded_without_a_trigger(
        self, own_server: ApiServer, partner: Partner, owner: Connection
    ) -> None:
        path = "/v1/platform/businesses/"
        with without_triggers(owner, "business"):
            shop = partner.business()
            for facts in ({"lock_date": "2025-01-31"}, {"lock_date": None, "name": "New"}):
                assert partner.api.patch(f"{path}{shop.id}/", json=facts).status_code == 200
        assert partner.api.post(f"{path}{shop.id}/archive/").status_code == 200
        told = shop.api.get("audit/", params={"object_type": "business", "sort": "created_at"})
        records = told.json()["results"]
        assert [(each["action"], each["change"]) for each in records] == [
            ("create_business", "insert"),
            ("update_business", "update"),
            ("update_business", "update"),
            ("archive_business", "update"),
        ]
        locks = [each["changes"]["lock_date"] for each in records[1:3]]
        assert locks == [{"from": None, "to": "2025-01-31"}, {"from": "2025-01-31", "to": None}]
        assert records[1]["changes"].keys() == {"lock_date"}
        assert faults_in(own_server, shop) == set()


class TestPartners:
    CHANGES = (
        ("partner", "insert", "create_partner"),
        ("api_key", "insert", "create_partner"),
        ("api_key", "update", "revoke_key"),
        ("partner", "update", "revoke_key"),
    )

    def test_a_partner_and_its_key_leave_a_trail(self, own_server: ApiServer) -> None:
        assert changes_of(own_server, revoked(own_server)) == sorted(self.CHANGES)

    def test_a_partner_leaves_a_trail_without_triggers(
        self, own_server: ApiServer, owner: Connection
    ) -> None:
        with without_triggers(owner, "partner", "api_key"):
            partner = revoked(own_server)
        assert changes_of(own_server, partner) == sorted(self.CHANGES)

    def test_a_changed_answer_to_a_partner_is_named(self, own_server: ApiServer) -> None:
        partner = own_server.partner("Answered")
        opened = {"legal_name": "L", "entity_type": "limited", "email": "a@b.example.com"}
        key = {"Idempotency-Key": "above"}
        body = {**opened, "external_id": "answered", "country": "GB"}
        path = "/v1/platform/businesses/"
        assert partner.api.post(path, json=body, headers=key).status_code == 201
        changes_of(own_server, partner)
        tamper(
            own_server,
            "UPDATE partner_reply SET body = body || ' '::bytea WHERE partner_id = %s",
            partner.partner_id,
        )
        with psycopg.connect(own_server.database_url) as connection:
            chosen = {"partner_id": partner.partner_id}
            text = verdict(PARTNER_CHECKS["partner_answers"])
            found = connection.execute(text, chosen).fetchall()
        assert found == [(1, "the answer to create_business with key above")]


class TestColumns:
    def test_every_column_is_under_audit(self, own_server: ApiServer) -> None:
        found = own_server.query(
            "SELECT name, array_agg(listed ORDER BY listed) FROM audited_table,"
            " jsonb_array_elements(column_lists) AS list,"
            " jsonb_array_elements_text(list -> 'columns') AS listed GROUP BY name"
        )
        for name, listed in found:
            columns = sorted(c.name for c in metadata.tables[name].columns if not c.computed)
            assert listed == columns, f"Call audit_columns for {name} in the migration."

    def test_a_later_column_changes_no_digest(
        self, own_server: ApiServer, shop: Business, owner: Connection
    ) -> None:
        digests = "SELECT * FROM audit_record_rows(%s) ORDER BY object_id"
        before = owner.execute(digests, (shop.id,)).fetchall()
        owner.execute("ALTER TABLE customer ADD COLUMN rating integer NOT NULL DEFAULT 3")
        owner.execute(
            "ALTER TABLE customer ADD COLUMN twice integer GENERATED ALWAYS AS (2 * rating) STORED"
        )
        try:
            assert owner.execute(digests, (shop.id,)).fetchall() == before
            owner.execute("SELECT audit_columns('customer', ARRAY['rating'], '3')")
            assert owner.execute(digests, (shop.id,)).fetchall() == before
            for rating in (4, 3, 5):
                owner.execute(
                    "UPDATE customer SET rating = %s WHERE business_id = %s", (rating, shop.id)
                )
                assert faults_in(own_server, shop) == set()
            tamper(own_server, "UPDATE customer SET rating = 6 WHERE business_id = %s", shop.id)
            assert faults_in(own_server, shop) == {"audit_rows"}
        finally:
            owner.execute("ALTER TABLE customer DROP COLUMN twice, DROP COLUMN rating")
            owner.execute(
                "UPDATE audited_table SET column_lists = column_lists - 1 WHERE name = 'customer'"
            )
            owner.execute(
                "SELECT write_audit_function(a), write_row_function(trail) FROM audited_table a"
                " WHERE name = 'customer'"
            )
        shop.customer()

    def test_digests_do_not_depend_on_the_encoding_of_the_client(
        self, own_server: ApiServer, shop: Business, owner: Connection
    ) -> None:
        owner.execute("SET client_encoding = 'LATIN1'")
        owner.execute(
            "UPDATE customer SET company_name = 'Café' WHERE business_id = %s", (shop.id,)
        )
        assert faults_in(own_server, shop) == set()


class TestDeletedRows:
    def test_a_missing_record_of_a_deletion_is_found(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        tamper(
            own_server,
            "DELETE FROM audit_record WHERE business_id = %s AND change = 'delete'",
            shop.id,
        )
        assert faults_in(own_server, shop) == {"audit_rows", "event_trail"}


class TestInvoices:
    def test_a_changed_invoice_is_named_among_many(
        self, own_server: ApiServer, shop: Business
    ) -> None:
        invoice = sent(shop, shop.customer(), 100)
        tamper(own_server, "UPDATE invoice SET memo = 'x' WHERE id = %s", invoice["id"])
        [found] = own_server.prover.faults_of(shop.id)
        assert (found.name, found.first_offender) == ("audit_rows", f"invoice {invoice['id']}")
