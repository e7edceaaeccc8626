"""The rules of the schema, over the metadata and in a migrated database."""

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
    *("revoked_token", "request_count"),
}
NOBODYS = {"audited_table", "upkeep", "proof_run"}
# What refers to nothing: it outlives what it tells of.
UNBOUND = {"audit_record", "audit_seal"}
# What is never named by an id of its own.
KEYS = {
    "number_series": ["series"],
    "account_month": ["account_id", "month"],
    "tax_month": ["month", "tax_code_id", "tax_rate", "tax_part"],
    "tagged_line": ["tag", "account_id", "entry_date", "line_id"],
    "audit_seal": ["number"],
}
GRANTS = {
    **dict.fromkeys(("partner", "api_key", "business", "number_series"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("customer", "vendor", "account", "account_month"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("tax_code", "tax_month"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("invoice_payment", "invoice_allocation"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("customer_credit", "customer_credit_allocation"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("write_off", "bill_write_off"), "SELECT INSERT UPDATE"),
    "invoice_refund": "SELECT INSERT UPDATE",
    **dict.fromkeys(
        ("invoice_refund_allocation", "invoice_refund_payment"), "SELECT INSERT UPDATE"
    ),
    **dict.fromkeys(("bill_payment", "bill_allocation"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("vendor_credit", "vendor_credit_allocation"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(
        ("vendor_refund", "vendor_refund_allocation", "vendor_refund_payment"),
        "SELECT INSERT UPDATE",
    ),
    **dict.fromkeys(("bank_account", "bank_transaction", "bank_link"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("payout", "payout_item"), "SELECT INSERT UPDATE"),
    **dict.fromkeys(("bank_rule", "bank_transfer"), "SELECT INSERT UPDATE"),
    "bank_reconciliation": "SELECT INSERT UPDATE DELETE",
    "opening_balance": "SELECT INSERT UPDATE",
    **dict.fromkeys(("partner_reply", "reply", "invoice", "bill"), "SELECT INSERT UPDATE DELETE"),
    **dict.fromkeys(("journal_draft", "tax_return"), "SELECT INSERT UPDATE DELETE"),
    **dict.fromkeys(("audit_record", "audit_seal", "partner_audit_record"), "SELECT"),
    "audited_table": "",
    "upkeep": "SELECT UPDATE",
    "revoked_token": "SELECT INSERT DELETE",
    "request_count": "SELECT INSERT UPDATE DELETE",
    **dict.fromkeys(("journal_entry", "journal_line", "cash_line"), "SELECT INSERT"),
    "proof_run": "SELECT INSERT",
    "stored_document": "SELECT INSERT",
    "tagged_line": "SELECT INSERT DELETE",
}


def names(tables: list[Table]) -> list[str]:
    return [table.name for table in tables]


def columns_of(constraint: UniqueConstraint | ForeignKeyConstraint) -> list[str]:
    return [column.name for column in constraint.columns]


class TestTables:
    def test_a_table_that_is_no_tenant_table_is_listed(self) -> None:
        assert set(names(TABLES)) - set(names(TENANTS)) == PARTNER_LEVEL | NOBODYS

    @pytest.mark.parametrize("table", TENANTS, ids=names(TENANTS))
    def test_the_primary_key_begins_with_the_business(self, table: Table) -> None:
        others = KEYS.get(table.name, ["id"])
        assert [column.name for column in table.primary_key] == ["business_id", *others]

    @pytest.mark.parametrize("table", TENANTS, ids=names(TENANTS))
    def test_each_unique_key_begins_with_the_business(self, table: Table) -> None:
        uniques = [c for c in table.constraints if isinstance(c, UniqueConstraint)]
        indexes = [index for index in table.indexes if index.unique]
        for columns in [columns_of(each) for each in uniques] + [
            [column.name for column in each.columns] for each in indexes
        ]:
            assert columns[0] == "business_id"

    @pytest.mark.parametrize("table", TENANTS, ids=names(TENANTS))
    def test_no_reference_leaves_the_business(self, table: Table) -> None:
        for constraint in table.foreign_key_constraints:
            if constraint.referred_table.name == "business":
                assert columns_of(constraint) == ["business_id"]
                continue
            assert columns_of(constraint)[0] == "business_id"
            assert constraint.elements[0].column.name == "business_id"
            assert constraint.referred_table in TENANTS

    @pytest.mark.parametrize("table", TENANTS, ids=names(TENANTS))
    def test_every_row_is_of_a_business_that_is_there_and_says_so_once(self, table: Table) -> None:
        """By itself, or by another row of the business that it has to name."""
        needed = {
            constraint.referred_table.name == "business"
            for constraint in table.foreign_key_constraints
            if not any(column.nullable for column in constraint.columns)
        }
        assert needed == set() if table.name in UNBOUND else len(needed) == 1

    @pytest.mark.parametrize("table", TABLES, ids=names(TABLES))
    def test_nothing_follows_from_a_deletion(self, table: Table) -> None:
        for constraint in table.foreign_key_constraints:
            assert constraint.ondelete is None
            assert constraint.onupdate is None

    @pytest.mark.parametrize("table", TABLES, ids=names(TABLES))
    def test_every_index_of_a_tenant_begins_with_the_business(self, table: Table) -> None:
        if table in TENANTS:
            assert all(index.columns[0].name == "business_id" for index in table.indexes)

    @pytest.mark.parametrize("table", TABLES, ids=names(TABLES))
    def test_no_column_makes_up_its_value_or_is_an_enumeration_type(self, table: Table) -> None:
        for column in table.columns:
            assert not isinstance(column.type, Enum)
            assert column.default is None
            if column.computed is None:
                assert column.server_default is None
            if isinstance(column.type, DateTime):
                assert column.type.timezone is True

    @pytest.mark.parametrize("table", TABLES, ids=names(TABLES))
    def test_every_check_has_a_name_to_be_told_by(self, table: Table) -> None:
        checks = [c for c in table.constraints if isinstance(c, CheckConstraint)]
        assert all(each.name for each in checks)


class TestMigratedDatabase:
    def test_a_migrated_database_has_these_tables_and_no_other(self, api_server: ApiServer) -> None:
        found = api_server.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        assert {name for (name,) in found} == {*names(TABLES), "alembic_version"}

    def test_row_security_stands_before_each_table_and_binds_its_owner(
        self, api_server: ApiServer
    ) -> None:
        found = api_server.query(
            "SELECT c.relname, c.relforcerowsecurity, p.polname, p.polcmd::text,"
            " pg_get_expr(p.polqual, p.polrelid), p.polroles = ARRAY[c.relowner] AS of_owner"
            " FROM pg_class c LEFT JOIN pg_policy p ON p.polrelid = c.oid"
            " WHERE c.relnamespace = 'public'::regnamespace AND c.relrowsecurity"
        )
        walled = (set(names(TENANTS)) | PARTNER_LEVEL) - {"request_count"}  # Written by nobody.
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
        every = ("SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE", "REFERENCES", "TRIGGER")
        granted = [
            privilege
            for privilege in every
            for [(may,)] in [
                api_server.query(
                    "SELECT has_table_privilege(%s, %s, %s)", SERVER_ROLE, table, privilege
                )
            ]
            if may
        ]
        assert " ".join(granted) == GRANTS[table]

    def test_the_servers_role_owns_nothing_and_passes_no_wall(self, api_server: ApiServer) -> None:
        assert api_server.query(
            "SELECT rolsuper, rolbypassrls, rolcreatedb, rolcreaterole, rolcanlogin"
            " FROM pg_roles WHERE rolname = %s",
            SERVER_ROLE,
        ) == [(False,) * 5]
        assert (
            api_server.query(
                "SELECT relname FROM pg_class WHERE relowner = to_regrole(%s)", SERVER_ROLE
            )
            == []
        )
        assert api_server.query(
            "SELECT has_schema_privilege(%s, 'public', 'CREATE')", SERVER_ROLE
        ) == [(False,)]

    def test_no_extension_is_needed(self, api_server: ApiServer) -> None:
        assert api_server.query("SELECT extname FROM pg_extension") == [("plpgsql",)]
