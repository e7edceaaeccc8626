"""From an empty database to the tables of the product."""

import os
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory

import persistence
from persistence.engine import migrate as migrations
from persistence.engine.faults import UnusableDatabase
from tests.api_server import Databases

FOLDER = Path(persistence.__file__).parent / "migrations"


@pytest.fixture
def empty(databases: Databases) -> str:
    name = f"empty_{os.getpid()}"
    with psycopg.connect(databases.postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    databases.postgres.create_database(name)
    return databases.postgres.url(name)


@pytest.fixture
def migrate_to(empty: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Bring the database only as far as an earlier revision."""
    upgrade = migrations.command.upgrade

    def go(revision: str) -> None:
        with monkeypatch.context() as earlier:
            earlier.setattr(
                migrations.command, "upgrade", lambda config, _: upgrade(config, revision)
            )
            migrations.migrate(empty)

    return go


class TestMigrate:
    def test_an_empty_database_comes_to_the_tables_of_the_house(self, empty: str) -> None:
        assert migrations.migrate(empty) == migrations.head()
        migrations.check(empty)

    def test_a_second_time_changes_nothing(self, empty: str) -> None:
        migrations.migrate(empty)
        assert migrations.migrate(empty) == migrations.head()

    def test_a_login_that_may_not_is_told_so(self, empty: str) -> None:
        with psycopg.connect(empty, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS no_owner")
            connection.execute("CREATE ROLE no_owner LOGIN")
        with pytest.raises(UnusableDatabase, match="cannot be migrated: permission denied"):
            migrations.migrate(empty.replace("//accounting@", "//no_owner@"))

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

    def test_texts_wait_only_a_moment_for_a_lock_and_then_leave_all_as_it_was(
        self, empty: str, migrate_to: Callable[[str], None]
    ) -> None:
        migrate_to("0008")
        # Whoever waits for longer is stopped for another reason.
        ended = f"{empty}&options=-c%20statement_timeout%3D30s"
        with psycopg.connect(empty) as connection:
            connection.execute("LOCK TABLE invoice_payment IN ACCESS SHARE MODE")
            with pytest.raises(UnusableDatabase, match="lock timeout"):
                migrations.migrate(ended)
            assert connection.execute("SELECT to_regclass('payout')").fetchone() == (None,)
        assert migrations.migrate(empty) == migrations.head()


class TestBalances:
    """What was posted before balances were rolled up by month."""

    BEFORE = "0006"
    BOOKS = """
    SET session_replication_role = replica;
    INSERT INTO business (id, partner_id, version, created_at, updated_at, external_id, legal_name,
      name, entity_type, email, base_currency, accounting_method, fiscal_year_end, coa_language,
      activation_at, tokens_valid_from)
    VALUES ('b0000000-0000-0000-0000-000000000001', gen_random_uuid(), 1, now(), now(), 'x', 'x',
      'x', 'limited', 'x@example.com', 'GBP', 'accrual', '2000-12-31', 'en', now(), now());
    INSERT INTO account (business_id, id, version, created_at, updated_at, code, name,
      account_type, account_subtype)
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
        with psycopg.connect(empty) as connection:
            connection.execute(self.BOOKS)
        migrations.migrate(empty)
        with psycopg.connect(empty) as connection:
            months = connection.execute(
                "SELECT month::text, debits, credits, debit_count, credit_count"
                " FROM account_month ORDER BY month"
            ).fetchall()
            series = connection.execute(
                "SELECT series, rolled_up FROM number_series ORDER BY series"
            ).fetchall()
        assert months == [("2025-12-01", 5, 0, 1, 0), ("2026-01-01", 10, 0, 2, 0)]
        assert series == [("INV", None), ("JE-2025", 1), ("JE-2026", 2)]
