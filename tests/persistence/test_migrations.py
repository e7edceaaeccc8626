"""From an empty database to the tables of the house."""

import os
from pathlib import Path

import psycopg
import pytest
from alembic.script import ScriptDirectory

from persistence import migrate as migrations
from tests.house import Databases

FOLDER = Path(migrations.__file__).parent / "migrations"


@pytest.fixture
def empty(databases: Databases) -> str:
    name = f"empty_{os.getpid()}"
    with psycopg.connect(databases.postgres.url("postgres"), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
    databases.postgres.create_database(name)
    return databases.postgres.url(name)


class TestMigrate:
    def test_an_empty_database_comes_to_the_tables_of_the_house(self, empty: str) -> None:
        assert migrations.migrate(empty) == migrations.head()
        migrations.check(empty)

    def test_a_second_time_changes_nothing(self, empty: str) -> None:
        migrations.migrate(empty)
        assert migrations.migrate(empty) == migrations.head()

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

    def test_each_waits_only_a_moment_for_locks_and_none_goes_back(self) -> None:
        for script in ScriptDirectory(str(FOLDER)).walk_revisions():
            assert "SET LOCAL lock_timeout" in Path(script.path).read_text()
            assert not hasattr(script.module, "downgrade")
