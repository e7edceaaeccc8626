"""The rules of the schema, checked in the metadata and in a migrated database."""

import pytest
from sqlalchemy import (
    CheckConstraint,
    DateTime,
    Enum,
    ForeignKeyConstraint,
    Table,
    UniqueConstraint,
)

from persistence.engine.connections import SERVER_ROLE
from persistence.tables import metadata
from tests.api_server import ApiServer

TABLES = list(metadata.sorted_tables)
TENANTS = [table for table in TABLES if table.info.get("tenant")]
PARTNER_LEVEL = {
    *("partner", "api_key", "business", "partner_reply", "partner_audit_record"),
    *("revoked_token", "request_count", "event_placement", "webhook_feed"),
    *("webhook_endpoint", "webhook_health", "webhook_secret", "webhook_delivery"),
    "partner_exchange_rate_table",
}
NOBODYS = {"audited_table", "upkeep", "proof_run"}
# They have no foreign keys: they outlive the records that they describe.
UNBOUND = {"audit_record", "audit_seal", "event", "unplaced_event"}
# Columns of a primary key other than an id.
KEYS = {
    "number_series": ["series"],
    "account_month": ["account_id", "month"],
    "tax_month": ["month", "tax_code_id", "tax_rate", "tax_part"],
    "tagged_line": ["tag", "account_id", "entry_date", "line_id"],
    "audit_seal": ["number"],
    "event": ["sequence"],
    "unplaced_event": ["last_sequence"],
}
# The tables that the server may use in each way.
RIGHTS = {
    "": {"audited_table"},
    "SELECT": {"audit_record", "audit_seal", "partner_audit_record", "event_placement"},
    "SELECT INSERT": {
        *("journal_entry", "journal_line", "cash_line", "proof_run", "stored_document", "event"),
    },
    "SELECT UPDATE": {"upkeep"},
    "SELECT INSERT DELETE": {"revoked_token", "tagged_line", "unplaced_event"},
    "SELECT INSERT UPDATE": {
        *("partner", "api_key", "business", "number_series", "customer", "vendor"),
        *("account", "account_month", "tax_code", "tax_month", "opening_balance", "revaluation"),
        *("invoice_payment", "invoice_allocation", "customer_credit", "customer_credit_allocation"),
        *("invoice_refund", "invoice_refund_allocation", "invoice_refund_payment", "write_off"),
        *("bill_payment", "bill_allocation", "vendor_credit", "vendor_credit_allocation"),
        *("vendor_refund", "vendor_refund_allocation", "vendor_refund_payment", "bill_write_off"),
        *("bank_account", "bank_link", "bank_rule", "bank_transfer"),
        *("payout", "payout_item", "webhook_feed"),
        *("exchange_rate_table", "partner_exchange_rate_table"),
    },
    "SELECT INSERT UPDATE DELETE": {
        *("partner_reply", "reply", "invoice", "bill", "journal_draft", "tax_return"),
        *("bank_reconciliation", "bank_transaction", "request_count"),
        *("webhook_endpoint", "webhook_health", "webhook_secret", "webhook_delivery"),
    },
}
GRANTS = {table: rights for rights, granted in RIGHTS.items() for table in granted}


def names(tables: list[Table]) -> list[str]:
    return [table.name for table in tables]


def columns_of(constraint: ForeignKeyConstraint) -> list[str]:
    return [column.name for column in constraint.columns]


of_each = pytest.mark.parametrize("table", TABLES, ids=names(TABLES))
of_each_tenant = pytest.mark.parametrize("table", TENANTS, ids=names(TENANTS))


class TestTables:
    def test_a_table_that_is_no_tenant_table_is_listed(self) -> None:
        assert set(names(TABLES)) - set(names(TENANTS)) == PARTNER_LEVEL | NOBODYS

    @of_each_tenant
    def test_the_primary_key_begins_with_the_business(self, table: Table) -> None:
        others = KEYS.get(table.name, ["id"])
        assert [column.name for column in table.primary_key] == ["business_id", *others]

    @of_each_tenant
    def test_each_unique_key_and_index_begins_with_the_business(self, table: Table) -> None:
        uniques = [c.columns for c in table.constraints if isinstance(c, UniqueConstraint)]
        for columns in (*uniques, *(index.columns for index in table.indexes)):
            assert next(iter(columns)).name == "business_id"

    @of_each_tenant
    def test_no_reference_leaves_the_business(self, table: Table) -> None:
        for constraint in table.foreign_key_constraints:
            if constraint.referred_table.name == "business":
                assert columns_of(constraint) == ["business_id"]
                continue
            assert columns_of(constraint)[0] == "business_id"
            assert constraint.elements[0].column.name == "business_id"
            assert constraint.referred_table in TENANTS

    @of_each_tenant
    def test_every_row_refers_once_to_its_business(self, table: Table) -> None:
        """Check that a table refers once to the business, directly or by another row of it."""
        needed = {
            constraint.referred_table.name == "business"
            for constraint in table.foreign_key_constraints
            if not any(column.nullable for column in constraint.columns)
        }
        assert needed == set() if table.name in UNBOUND else len(needed) == 1

    @of_each
    def test_nothing_follows_from_a_deletion(self, table: Table) -> None:
        for constraint in table.foreign_key_constraints:
            assert constraint.ondelete is None
            assert constraint.onupdate is None

    @of_each
    def test_no_column_has_a_default_or_an_enumeration_type(self, table: Table) -> None:
        for column in table.columns:
            assert not isinstance(column.type, Enum)
            assert column.default is None
            if column.computed is None:
                assert column.server_default is None
            if isinstance(column.type, DateTime):
                assert column.type.timezone is True

    @of_each
    def test_every_check_has_a_name(self, table: Table) -> None:
        checks = [c for c in table.constraints if isinstance(c, CheckConstraint)]
        assert all(each.name for each in checks)


class TestMigratedDatabase:
    def test_a_migrated_database_has_these_tables_and_no_other(self, api_server: ApiServer) -> None:
        found = api_server.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert {name for (name,) in found} == {*names(TABLES), "alembic_version"}

    def test_row_security_is_forced_on_each_table(self, api_server: ApiServer) -> None:
        found = api_server.query(
            "SELECT c.relname, c.relforcerowsecurity, p.polname, p.polcmd::text,"
            " pg_get_expr(p.polqual, p.polrelid), p.polroles = ARRAY[c.relowner] AS of_owner"
            " FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity"
        )
        # Counts of requests have no row security.
        walled = (set(names(TENANTS)) | PARTNER_LEVEL) - {"request_count"}
        assert {name for name, *_ in found} == walled
        assert {forced for _, forced, *_ in found} == {True}
        for table in names(TABLES):
            policies = {policy: rest for name, _, policy, *rest in found if name == table}
            if table not in walled:
                assert policies == {}
                continue
            assert policies.pop("every_business")[::2] == ["*", True]
            if table in ("audit_record", "partner_audit_record"):
                assert policies.pop("kept_by_owner") == ["a", None, True]
            wall = "one_partner" if table in PARTNER_LEVEL else "one_business"
            [(command, text, of_owner)] = [policies.pop(wall)]
            assert (command, of_owner, policies) == ("*", False, {})
            whose = "app.partner_id" if table in PARTNER_LEVEL else "app.business_id"
            assert f"= (NULLIF(current_setting('{whose}'" in text

    @pytest.mark.parametrize("table", names(TABLES))
    def test_the_server_may_do_what_it_needs_and_no_more(
        self, api_server: ApiServer, table: str
    ) -> None:
        every = ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER"]
        granted = api_server.query(
            "SELECT word FROM unnest(%s::text[]) WITH ORDINALITY AS p (word, place)"
            " WHERE has_table_privilege(%s, %s, word) ORDER BY place",
            *(every, SERVER_ROLE, table),
        )
        assert " ".join(word for (word,) in granted) == GRANTS[table]

    def test_the_servers_role_owns_nothing_and_passes_no_wall(self, api_server: ApiServer) -> None:
        assert api_server.query(
            "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolcanlogin"
            " FROM pg_roles WHERE rolname = %s",
            SERVER_ROLE,
        ) == [(False,) * 5]
        owned = "SELECT relname FROM pg_class WHERE relowner = to_regrole(%s)"
        assert api_server.query(owned, SERVER_ROLE) == []
        assert api_server.query(
            "SELECT has_schema_privilege(%s, 'public', 'CREATE')", SERVER_ROLE
        ) == [(False,)]

    def test_no_extension_is_needed(self, api_server: ApiServer) -> None:
        assert api_server.query("SELECT extname FROM pg_extension") == [("plpgsql",)]
