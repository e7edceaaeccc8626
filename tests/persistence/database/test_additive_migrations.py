"""Migrations add first and remove a release later, so that earlier servers continue to work."""

import os
from collections.abc import Iterator

import psycopg
import pytest
from alembic.script import ScriptDirectory

from persistence.database import revisions
from tests.api_server import Databases
from tests.persistence.database.additive_migrations import catalog, harm
from tests.persistence.database.earlier_schema import Connection, migrate_to

FOLDER = revisions.__file__.replace("database/revisions.py", "migrations")
# Servers were stopped for the earlier migrations.
FIRST_HELD = "0026"
# The harm of a migration, by its revision. CHANGELOG.md tells operators each of these, and no
# server since the revision's `serves_from` uses the removed objects.
TOLD: dict[str, set[str]] = {
    # Both are built beside writers, and the indexes they replace are dropped afterwards.
    "0030": {
        "audit_record.audit_record_business_id_request_id_idx is built while nobody writes",
        "journal_line.journal_line_business_id_tax_code_id_entry_date_idx is built while nobody"
        " writes",
    },
    # Accounts are few.
    "0036": {"account.account_archived_idx is built while nobody writes"},
    # They are built beside writers.
    "0038": {
        f"{each}.{each}_returned_idx is built while nobody writes"
        for each in (
            "bill_payment",
            "invoice_payment",
            "invoice_refund_payment",
            "vendor_refund_payment",
        )
    },
    # They are built beside writers.
    "0050": {
        "journal_line.journal_line_foreign_idx is built while nobody writes",
        *(
            f"{each}.{each}_open_foreign_idx is built while nobody writes"
            for each in ("bill", "invoice")
        ),
    },
}


@pytest.fixture
def empty(databases: Databases) -> str:
    name = f"adding_{os.getpid()}"
    with psycopg.connect(databases.postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    databases.postgres.create_database(name)
    return databases.postgres.url(name)


class TestMigrations:
    def test_each_does_no_harm_to_earlier_servers(self, empty: str) -> None:
        found: dict[str, set[str]] = {}
        scripts = reversed(list(ScriptDirectory(FOLDER).walk_revisions()))
        held = [each for each in scripts if each.revision >= FIRST_HELD]
        before = None
        for script in held:
            migrate_to(empty, script.revision)
            with psycopg.connect(empty) as connection:
                after = catalog(connection)
            if before is not None:
                found[script.revision] = harm(before, after)
            before = after
        assert {revision: each for revision, each in found.items() if each} == TOLD

    def test_each_says_which_servers_it_serves(self) -> None:
        for script in ScriptDirectory(FOLDER).walk_revisions():
            if script.revision > FIRST_HELD:
                assert FIRST_HELD <= script.module.serves_from <= script.revision


@pytest.fixture(scope="module")
def connection(databases: Databases) -> Iterator[Connection]:
    with psycopg.connect(databases.clone(f"adding_to_{os.getpid()}")) as connection:
        yield connection


# The harm of a statement, and the statement.
REMOVALS = {
    "account.cash_flow is gone": (
        "DO $$ BEGIN EXECUTE 'ALTER TABLE account DROP COLUMN cash_flow'; END $$"
    ),
    "tagged_line is gone": "DROP TABLE tagged_line",
    "tag_documents(business uuid, documents uuid[]) is gone": (
        "ALTER FUNCTION tag_documents(uuid, uuid[]) RENAME TO write_tags"
    ),
    "journal_line: INSERT is gone": "REVOKE INSERT ON journal_line FROM accounting_server",
    "account_month.debits is numeric now": (
        "ALTER TABLE account_month ALTER COLUMN debits TYPE numeric"
    ),
    "account_month is written anew": "ALTER TABLE account_month ALTER COLUMN debits TYPE numeric",
    "customer is written anew": (
        "ALTER TABLE customer ADD COLUMN shoe_size uuid DEFAULT gen_random_uuid()"
    ),
    "customer.shoe_size must be given": (
        "ALTER TABLE customer ADD COLUMN shoe_size integer NOT NULL"
    ),
    "customer.company_name must be given": (
        "ALTER TABLE customer ALTER COLUMN company_name SET NOT NULL"
    ),
    "account_month.cash_debits must be given": (
        "ALTER TABLE account_month ALTER COLUMN cash_debits DROP DEFAULT"
    ),
    "customer.named refuses what was allowed": (
        "ALTER TABLE customer ADD CONSTRAINT named CHECK (company_name <> 'x')"
    ),
    "account_month.account_month_pkey is gone, by which an insert may know its row": (
        "ALTER TABLE account_month DROP CONSTRAINT account_month_pkey"
    ),
    "customer.shoes is built while nobody writes": "CREATE INDEX shoes ON customer (company_name)",
    "customer.shoes is built while nobody writes, and refuses what repeats": (
        "CREATE UNIQUE INDEX shoes ON customer (company_name)"
    ),
}


class TestHarm:
    """The harm that the catalog shows of a change."""

    def done_by(self, connection: Connection, statement: str) -> set[str]:
        try:
            before = catalog(connection)
            connection.execute(statement)
            return harm(before, catalog(connection))
        finally:
            connection.rollback()

    @pytest.mark.parametrize(
        "statement",
        [
            "ALTER TABLE customer ADD COLUMN shoe_size integer",
            "ALTER TABLE customer ADD COLUMN shoe_size integer NOT NULL DEFAULT 42",
            "ALTER TABLE customer ADD COLUMN shoe_size integer,"
            " ADD CHECK (shoe_size > 0 OR company_name IS NULL)",
            "CREATE TABLE shoe (id uuid PRIMARY KEY, size int NOT NULL UNIQUE CHECK (size > 0))",
            "CREATE FUNCTION shoe() RETURNS integer LANGUAGE sql AS 'SELECT 42'",
            "GRANT DELETE ON journal_line TO accounting_server",
            "DROP INDEX invoice_open_idx",
            "ALTER TABLE customer ALTER COLUMN email DROP NOT NULL",
        ],
    )
    def test_an_addition_does_no_harm(self, connection: Connection, statement: str) -> None:
        assert self.done_by(connection, statement) == set()

    @pytest.mark.parametrize("done", REMOVALS)
    def test_a_removal_is_named(self, connection: Connection, done: str) -> None:
        assert done in self.done_by(connection, REMOVALS[done])
