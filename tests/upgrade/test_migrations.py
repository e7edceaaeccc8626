"""Migrations of an empty database to the tables of the product."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from alembic.script import ScriptDirectory

import persistence
from persistence.database import migrate as migrations
from persistence.database.revisions import HEAD
from persistence.engine.database_errors import UnusableDatabase
from persistence.integrity import ledger_checks, trail
from persistence.integrity.definitions import verdict
from tests.api_server import Databases
from tests.in_turn import in_turn

CHECKS_OF_THE_TRAIL = {**trail.CHECKS, **ledger_checks.PERIODS_CHECKS, **trail.PARTNER_CHECKS}
FOLDER = Path(persistence.__file__).parent / "migrations"
BUSINESS_COLUMNS = """business (id, partner_id, version, created_at, updated_at, external_id,
  legal_name, name, entity_type, email, base_currency, accounting_method, fiscal_year_end,
  coa_language, activation_at, tokens_valid_from)"""
ACCOUNT_COLUMNS = """account (business_id, id, version, created_at, updated_at, code, name,
  account_type, account_subtype)"""


@pytest.fixture
def empty(databases: Databases) -> str:
    name = f"empty_{os.getpid()}"
    with psycopg.connect(databases.postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    databases.postgres.create_database(name)
    return databases.postgres.url(name)


@pytest.fixture
def migrate_to(empty: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Return a function that migrates the database to an earlier revision."""
    upgrade = migrations.command.upgrade

    def go(revision: str) -> None:
        with monkeypatch.context() as earlier:
            earlier.setattr(
                migrations.command, "upgrade", lambda config, _: upgrade(config, revision)
            )
            migrations.migrate(empty)

    return go


def migrate_books(url: str, books: str) -> None:
    """Insert books into a database of an earlier revision, and migrate it to the newest."""
    with psycopg.connect(url) as connection:
        connection.execute(books.encode())
    migrations.migrate(url)


class TestMigrate:
    def test_an_empty_database_comes_to_the_tables_of_the_house(self, empty: str) -> None:
        assert migrations.migrate(empty) == HEAD
        migrations.check(empty)

    def test_a_second_time_changes_nothing(self, empty: str) -> None:
        migrations.migrate(empty)
        assert migrations.migrate(empty) == HEAD

    def test_a_login_without_the_right_is_refused(self, empty: str) -> None:
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS no_owner")
            connection.execute("CREATE ROLE no_owner LOGIN")
        # It may not grant itself the server's role; PostgreSQL 15 and 16 have different messages.
        words = "cannot be migrated: (permission denied|must have admin option).* --print-roles"
        with pytest.raises(UnusableDatabase, match=words):
            migrations.migrate(empty.replace("//accounting@", "//no_owner@"))

    def test_a_login_that_owns_the_database_needs_to_be_no_superuser(self, empty: str) -> None:
        migrations.migrate(empty)  # This creates the server's role, as an operator does.
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public AUTHORIZATION pg_database_owner")
            connection.execute("DROP ROLE IF EXISTS another_owner")
            connection.execute("CREATE ROLE another_owner LOGIN IN ROLE accounting_server")
            connection.execute(f"ALTER DATABASE {connection.info.dbname} OWNER TO another_owner")
        owned = empty.replace("//accounting@", "//another_owner@")
        assert migrations.migrate(owned) == HEAD
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute(f"ALTER DATABASE {connection.info.dbname} OWNER TO accounting")
            connection.execute("DROP OWNED BY another_owner")
            connection.execute("DROP ROLE another_owner")

    def test_a_table_that_differs_is_seen(self, empty: str) -> None:
        migrations.migrate(empty)
        with psycopg.connect(empty) as connection:
            connection.execute("ALTER TABLE customer ADD COLUMN shoe_size integer")
        with pytest.raises(Exception, match="shoe_size"):
            migrations.check(empty)


class TestMigrations:
    def test_there_is_one_head_and_one_way_to_it(self) -> None:
        scripts = ScriptDirectory(str(FOLDER))
        assert len(scripts.get_heads()) == 1
        assert len(scripts.get_bases()) == 1

    def test_each_runs_its_texts_and_none_goes_back(self) -> None:
        for script in ScriptDirectory(str(FOLDER)).walk_revisions():
            assert "    run_texts(__file__, " in Path(script.path).read_text()
            assert not hasattr(script.module, "downgrade")

    def test_an_index_that_was_left_half_built_is_built_anew(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> None:
        migrate_to("0028")
        with psycopg.connect(empty, autocommit=True) as connection:
            half = "journal_line_business_id_tax_code_id_entry_date_idx"
            connection.execute(f"CREATE INDEX {half} ON journal_line (business_id)")
        migrations.migrate(empty)
        migrations.check(empty)
        with psycopg.connect(empty, autocommit=True) as connection:
            built = (
                f"SELECT indnatts, indisvalid FROM pg_index WHERE indexrelid = '{half}'::regclass"
            )
            assert connection.execute(built).fetchall() == [(3, True)]

    def test_what_comes_after_an_index_still_sees_every_business(
        self, empty: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Check the setting after a concurrent index build, which ends the transaction with it."""
        monkeypatch.setattr("persistence.migrations.texts.SEE_EVERY_BUSINESS", "SELECT 1")
        with pytest.raises(RuntimeError, match="sees no rows before it says"):
            migrations.migrate(empty)

    def test_texts_wait_only_a_moment_for_a_lock_and_then_leave_all_as_it_was(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> None:
        migrate_to("0008")
        # A longer wait ends with another error.
        ended = f"{empty}&options=-c%20statement_timeout%3D30s"
        with psycopg.connect(empty) as connection:
            connection.execute("LOCK TABLE invoice_payment IN ACCESS SHARE MODE")
            with pytest.raises(UnusableDatabase, match="lock timeout"):
                migrations.migrate(ended)
            assert connection.execute("SELECT to_regclass('payout')").fetchone() == (None,)
        assert migrations.migrate(empty) == HEAD


class TestBalances:
    """Entries from before the monthly balances."""

    BEFORE = "0006"
    BOOKS = f"""
    SET session_replication_role = replica;
    INSERT INTO {BUSINESS_COLUMNS}
    VALUES ('b0000000-0000-0000-0000-000000000001', gen_random_uuid(), 1, now(), now(), 'x', 'x',
      'x', 'limited', 'x@example.com', 'GBP', 'accrual', '2000-12-31', 'en', now(), now());
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, 'a0000000-0000-0000-0000-000000000001', 1, now(), now(), '1', 'x', 'asset',
      'current_assets' FROM business;
    INSERT INTO number_series (business_id, series, last)
    SELECT id, unnest(ARRAY['JE-2025', 'JE-2026', 'INV']), unnest(ARRAY[1, 2, 7]) FROM business;
    INSERT INTO journal_entry (business_id, id, version, created_at, sequence_number, entry_date,
      posted_at, description, currency, total, stream, created_by, source_type, source_id)
    SELECT b.id, gen_random_uuid(), 1, now(), number, on_::date, now(), 'x', 'GBP', 5, 'x',
      'system', 'invoice', gen_random_uuid()
    FROM business b, (VALUES ('JE-2025-000001', '2025-12-31'), ('JE-2026-000001', '2026-01-01'),
      ('JE-2026-000002', '2026-01-31')) AS entries (number, on_);
    INSERT INTO journal_line (business_id, id, entry_id, line_number, account_id, entry_date,
      debit, credit, split)
    SELECT e.business_id, gen_random_uuid(), e.id, 1, 'a0000000-0000-0000-0000-000000000001',
      entry_date, 5, 0, '[]' FROM journal_entry e;
    """

    def test_is_rolled_up_by_the_migration(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> None:
        migrate_to(self.BEFORE)
        migrate_books(empty, self.BOOKS)
        with psycopg.connect(empty) as connection:
            months = connection.execute(
                "SELECT month::text, debits, credits, debit_count, credit_count"
                " FROM account_month ORDER BY month"
            ).fetchall()
            series = connection.execute(
                "SELECT series, rolled_up FROM number_series ORDER BY series"
            ).fetchall()
        assert months == [("2025-12-01", 5, 0, 1, 0), ("2026-01-01", 10, 0, 2, 0)]
        # Accounts that later migrations add have events.
        assert series == [("EVENT", None), ("INV", None), ("JE-2025", 1), ("JE-2026", 2)]


class TestAccounts:
    """Books from before businesses began with more accounts."""

    BEFORE = "0019"
    BOOKS = f"""
    INSERT INTO partner (id, name, created_at, tokens_valid_from)
    VALUES (gen_random_uuid(), 'x', now(), now());
    INSERT INTO {BUSINESS_COLUMNS}
    SELECT gen_random_uuid(), id, 1, '2025-01-01', now(), word, 'x', 'x', 'limited',
      'x@example.com', 'GBP', 'accrual', '2000-12-31', language, now(), now()
    FROM partner, (VALUES ('plain', 'en'), ('renamed', 'de'), ('bare', 'xx')) AS b (word, language);
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, gen_random_uuid(), 1, made::timestamptz, now(), a.code, a.name, 'revenue',
      'other_operating_income'
    FROM business, (VALUES ('plain', '2025-01-01', '4500', 'Other'),
      ('plain', '2025-02-01', '4510', 'Own'), ('renamed', '2025-01-01', '4599', 'Sonstiges'),
      ('renamed', '2025-02-01', '7060', 'Own'),
      ('renamed', '2025-02-01', '4500', 'Own')) AS a (whose, made, code, name)
    WHERE external_id = whose;
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, gen_random_uuid(), 1, made::timestamptz, now(), a.code, a.name, 'asset',
      'non_current_assets'
    FROM business, (VALUES ('plain', '2025-01-01', '1600', 'Fixed assets'),
      ('plain', '2025-01-01', '1650', 'Worn out'),
      ('renamed', '2025-01-01', '1600', 'Fixed assets'),
      ('renamed', '2025-01-01', '1655', 'Kumulierte Abschreibungen'),
      ('renamed', '2025-02-01', '1650', 'Own')) AS a (whose, made, code, name)
    WHERE external_id = whose;
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, gen_random_uuid(), 1, now(), now(), unnest(ARRAY['1160', '1161', '6150']), 'Own',
      'expense', 'operating_expenses' FROM business WHERE external_id = 'renamed';
    """

    def test_come_to_books_that_are_there(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> None:
        migrate_to(self.BEFORE)
        migrate_books(empty, self.BOOKS)
        with psycopg.connect(empty) as connection:
            found = connection.execute(
                "SELECT b.external_id, a.role, a.code, a.name FROM account a"
                " JOIN business b ON b.id = a.business_id WHERE a.role IS NOT NULL"
                " ORDER BY b.external_id, a.role"
            ).fetchall()
        income, reserve = "other_operating_income", "processor_reserve"
        worn = "accumulated_depreciation"
        gains, losses = "unrealised_exchange_gains", "unrealised_exchange_losses"
        assert found == [
            ("bare", "chargebacks", "6150", "Chargebacks"),
            ("bare", income, "4500", "Other operating income"),
            ("bare", reserve, "1160", "Processor reserve"),
            ("bare", gains, "4660", "Unrealised exchange gains"),
            ("bare", losses, "7060", "Unrealised exchange losses"),
            ("plain", worn, "1650", "Worn out"),
            ("plain", "chargebacks", "6150", "Chargebacks"),
            ("plain", income, "4500", "Other"),
            ("plain", reserve, "1160", "Processor reserve"),
            ("plain", gains, "4660", "Unrealised exchange gains"),
            ("plain", losses, "7060", "Unrealised exchange losses"),
            ("renamed", worn, "1655", "Kumulierte Abschreibungen"),
            ("renamed", "chargebacks", "6151", "Rückbuchungen"),
            ("renamed", income, "4599", "Sonstiges"),
            ("renamed", reserve, "1162", "Einbehalt Zahlungsdienstleister"),
            ("renamed", gains, "4660", "Unrealisierte Kursgewinne"),
            ("renamed", losses, "7061", "Unrealisierte Kursverluste"),
        ]


class TestTrail:
    """Records from before the audit trail had proofs, and from before it existed."""

    BEFORE = "0013"
    BUSINESS = "b0000000-0000-0000-0000-000000000001"
    BOOKS = f"""
    INSERT INTO partner (id, name, created_at, tokens_valid_from)
    VALUES (gen_random_uuid(), 'x', now(), now());
    INSERT INTO {BUSINESS_COLUMNS}
    SELECT '{BUSINESS}', id, 1, now(), now(), 'x', 'x', 'x', 'limited', 'x@example.com', 'GBP',
      'accrual', '2000-12-31', 'en', now(), now() FROM partner;
    UPDATE business SET lock_date = '2025-01-31';
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, gen_random_uuid(), 1, now(), now(), n, 'x', 'asset', 'current_assets'
    FROM business, generate_series(1, 3) AS n;
    UPDATE account SET name = 'y' WHERE code = '1';
    DELETE FROM account WHERE code = '2';
    SET session_replication_role = replica;
    INSERT INTO {ACCOUNT_COLUMNS}
    SELECT id, gen_random_uuid(), 1, now(), now(), '4', 'older', 'asset', 'current_assets'
    FROM business;
    """

    @pytest.fixture
    def migrated(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> Iterator[psycopg.Connection[Any]]:
        migrate_to(self.BEFORE)
        migrate_books(empty, self.BOOKS)
        with psycopg.connect(empty) as connection:
            yield connection
            connection.rollback()

    def faults(self, connection: psycopg.Connection[Any]) -> set[str]:
        told = {"business_id": self.BUSINESS, "partner_id": None}
        return {
            name
            for name, text in CHECKS_OF_THE_TRAIL.items()
            for _, offender in connection.execute(verdict(text), told)
            if offender is not None
        }

    def test_is_proven_from_then_on(self, migrated: psycopg.Connection[Any]) -> None:
        changes = migrated.execute(
            "SELECT change, count(*) FROM audit_record GROUP BY 1 ORDER BY 1"
        )
        # Later migrations added seven accounts.
        assert changes.fetchall() == [("delete", 1), ("insert", 11), ("start", 4), ("update", 2)]
        assert self.faults(migrated) == set()
        migrated.execute("UPDATE account SET name = 'z'")
        migrated.execute("UPDATE business SET lock_date = '2025-02-28'")
        migrated.execute("UPDATE partner SET name = 'z'")
        migrated.execute("SELECT seal_audit_trail(id) FROM business")
        assert self.faults(migrated) == set()

    @in_turn(
        ("statement", "named"),
        [
            ("UPDATE account SET name = 'z' WHERE code = '4'", {"audit_rows"}),
            ("UPDATE partner SET name = 'z'", {"partner_rows"}),
            ("UPDATE partner_audit_record SET action = 'x'", {"partner_records"}),
            (
                "UPDATE audit_record SET actor_kind = 'partner_key' WHERE change = 'delete'",
                {"audit_seals"},
            ),
            ("DELETE FROM audit_record WHERE change = 'delete'", {"audit_seals"}),
            ("DELETE FROM audit_seal", {"audit_records"}),
        ],
    )
    def test_is_guarded_from_then_on(
        self, migrated: psycopg.Connection[Any], statement: str, named: set[str]
    ) -> None:
        with migrated.transaction(force_rollback=True):
            migrated.execute("SET session_replication_role = replica")
            assert migrated.execute(statement).rowcount > 0
            assert self.faults(migrated) == named
