"""The audit trail in the database: its writers, their rights, and its order."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import psycopg
import pytest

from persistence.integrity.audit_trail import first_id
from persistence.tables import metadata
from tests.api_server import ApiServer
from tests.partner import Business, Partner
from tests.persistence.server_role import as_server

Connection = psycopg.Connection[tuple[Any, ...]]

# Parts of audited records, which change together with them.
PARTS = {
    *("invoice_allocation", "bill_allocation"),
    *("customer_credit_allocation", "vendor_credit_allocation"),
    *("invoice_refund_allocation", "vendor_refund_allocation"),
    *("journal_line", "cash_line", "payout_item"),
}
# Internal tables: their rows are derived from others, or expire. `audit_revocation` records the
# revocation of a token.
OWN = {
    *("reply", "partner_reply", "number_series", "account_month", "tax_month"),
    "tagged_line",
    *("revoked_token", "request_count", "upkeep", "proof_run"),
    *("event_placement", "webhook_feed", "webhook_health", "webhook_secret", "webhook_delivery"),
}
THE_TRAIL = {"audit_record", "partner_audit_record", "audit_seal", "audited_table"}
THE_FEED = {
    "event",
    "unplaced_event",
    "event_placement",
}  # `check-books` compares it with the trail.


@pytest.fixture(scope="module")
def shop(acme: Partner) -> Business:
    shop = acme.business()
    shop.customer()
    return shop


@pytest.fixture
def owner(api_server: ApiServer) -> Iterator[Connection]:
    """A transaction as the owner of the tables; it is rolled back."""
    with psycopg.connect(api_server.database_url) as connection:
        yield connection
        connection.rollback()


def trail(connection: Connection, shop: Business) -> list[tuple[Any, ...]]:
    return connection.execute(
        "SELECT object_type, change, action, actor_kind, request_id FROM audit_record"
        " WHERE business_id = %s ORDER BY id DESC",
        (shop.id,),
    ).fetchall()


class TestAuditedTables:
    def test_every_table_is_under_audit_or_listed(self, api_server: ApiServer) -> None:
        audited = api_server.query(
            "SELECT c.relname, array_agg(t.tgtype::int ORDER BY t.tgtype)"
            " FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
            " JOIN pg_proc p ON p.oid = t.tgfoid"
            " WHERE p.proname = c.relname || '_audit' AND t.tgenabled = 'O' GROUP BY 1"
        )
        # Row triggers, after insert (4) or delete (8), and after update (16).
        assert {tuple(kinds) for _, kinds in audited} == {(1 + 4 + 8, 1 + 16)}
        assert {name for name, _ in audited} == set(
            metadata.tables
        ) - PARTS - OWN - THE_TRAIL - THE_FEED

    @pytest.mark.parametrize(
        "statement",
        [
            "INSERT INTO audit_record (business_id, id, created_at, object_type, object_id, change,"
            " actor_kind) SELECT business_id, gen_random_uuid(), created_at, object_type,"
            " object_id, change, actor_kind FROM audit_record",
            "UPDATE audit_record SET actor_kind = 'operator'",
            "DELETE FROM audit_record",
            "TRUNCATE audit_record",
            "ALTER TABLE customer DISABLE TRIGGER ALL",
            "SET session_replication_role = replica",
        ],
    )
    def test_the_server_cannot_change_the_trail(
        self, api_server: ApiServer, shop: Business, statement: str
    ) -> None:
        with (
            as_server(api_server, shop.id) as server,
            pytest.raises(psycopg.errors.InsufficientPrivilege),
        ):
            server.execute(statement)


class TestChangesOfRows:
    def test_an_update_that_changes_nothing_leaves_no_record(
        self, owner: Connection, shop: Business
    ) -> None:
        before = trail(owner, shop)
        mine = "WHERE business_id = %s"
        assert owner.execute(f"UPDATE customer SET notes = notes {mine}", (shop.id,)).rowcount == 1
        assert trail(owner, shop) == before

    def test_a_change_without_a_caller_is_recorded_as_the_operators(
        self, owner: Connection, shop: Business
    ) -> None:
        owner.execute("UPDATE customer SET notes = 'x' WHERE business_id = %s", (shop.id,))
        owner.execute("UPDATE business SET lock_date = '2020-01-01' WHERE id = %s", (shop.id,))
        first, second, *_ = trail(owner, shop)
        assert first == ("business", "update", None, "operator", None)
        assert second == ("customer", "update", None, "operator", None)

    def test_a_record_goes_with_the_transaction(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with psycopg.connect(api_server.database_url) as connection:
            before = trail(connection, shop)
            connection.execute("UPDATE customer SET notes = 'x' WHERE business_id = %s", (shop.id,))
            assert len(trail(connection, shop)) == len(before) + 1
            connection.rollback()
            assert trail(connection, shop) == before

    def test_a_caller_is_forgotten_at_the_end_of_its_transaction(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with psycopg.connect(api_server.database_url) as connection:
            connection.execute("""
                SELECT set_config('app.caller', '{"kind": "partner_key", "action": "x"}', true)
            """)
            connection.commit()
            connection.execute("UPDATE customer SET notes = 'x' WHERE business_id = %s", (shop.id,))
            assert trail(connection, shop)[0][2:4] == (None, "operator")
            connection.rollback()

    def test_a_caller_as_the_previous_release_sets_it_is_recorded(
        self, api_server: ApiServer, shop: Business
    ) -> None:
        with psycopg.connect(api_server.database_url) as connection:
            connection.execute(
                "SELECT set_config('app.actor_kind', 'partner_key', true),"
                " set_config('app.action', 'create_customer', true)"
            )
            connection.execute("UPDATE customer SET notes = 'x' WHERE business_id = %s", (shop.id,))
            assert trail(connection, shop)[0][2:4] == ("create_customer", "partner_key")
            connection.rollback()


class TestIds:
    def test_ids_are_of_version_7_and_begin_with_the_time(self, api_server: ApiServer) -> None:
        at = datetime(2026, 11, 20, 9, 30, 0, 123_457, UTC)
        ids = [api_server.query("SELECT audit_id(%s)", at)[0][0] for _ in range(50)]
        assert {(each.version, each.variant) for each in ids} == {(7, "specified in RFC 4122")}
        assert {int(each) >> 80 for each in ids} == {int(at.timestamp() * 1000)}
        assert len(set(ids)) == 50

    @pytest.mark.parametrize("micros", [0, 1, 499, 999, 1000, 999_999])
    def test_the_first_id_of_a_moment_is_the_lowest_it_can_have(
        self, api_server: ApiServer, micros: int
    ) -> None:
        at = datetime(2026, 11, 20, 9, 30, tzinfo=UTC) + timedelta(microseconds=micros)
        ids = [api_server.query("SELECT audit_id(%s)", at)[0][0] for _ in range(20)]
        assert first_id(at) <= min(ids)
        assert max(ids) < first_id(at, 1) == first_id(at + timedelta(microseconds=1))
        assert int(first_id(at)) >> 64 == int(ids[0]) >> 64

    def test_the_first_id_before_1970_is_the_lowest(self) -> None:
        assert first_id(datetime(1900, 1, 1, tzinfo=UTC)) == UUID(int=7 << 76)

    def test_ids_are_in_the_order_of_time(self, api_server: ApiServer, shop: Business) -> None:
        rows = api_server.query(
            "SELECT id, created_at FROM audit_record WHERE business_id = %s ORDER BY id", shop.id
        )
        moments = [at for _, at in rows]
        assert len(moments) > 40
        assert moments == sorted(moments)
        assert all(first_id(at) <= id_ < first_id(at, 1) for id_, at in rows)
