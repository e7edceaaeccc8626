"""Schemas that a server accepts: its own, and later ones compatible with it."""

import asyncio
import os
from types import SimpleNamespace

import psycopg
import pytest
from alembic.script import ScriptDirectory

from persistence.database import migrate as migrations
from persistence.database import revisions
from persistence.database.checks import refuse_unusable, why_schema_not_served
from persistence.database.revisions import HEAD, why_not_served
from persistence.engine.database_errors import UnusableDatabase
from persistence.engine.pool import make_pool
from tests.api_server import Databases

MIGRATIONS = revisions.__file__.replace("database/revisions.py", "migrations")


@pytest.fixture
def server_of_0026(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(revisions, "HEAD", "0026")


@pytest.mark.usefixtures("server_of_0026")
class TestWhyNotServed:
    @pytest.mark.parametrize(
        ("revision", "serves_from"),
        [("0026", None), ("0026", "0026"), ("0027", "0026"), ("0030", "0024")],
    )
    def test_a_server_serves_its_own_revision_and_additive_ones(
        self, revision: str, serves_from: str | None
    ) -> None:
        assert why_not_served(revision, serves_from) is None

    @pytest.mark.parametrize("serves_from", [None, "0025", "0026"])
    def test_an_older_revision_must_be_migrated(self, serves_from: str | None) -> None:
        why = why_not_served("0025", serves_from) or ""
        assert why.startswith("The database stands at 0025 and this server needs 0026: run `acc")

    @pytest.mark.parametrize(("serves_from", "named"), [(None, "0028"), ("0027", "0027")])
    def test_a_revision_that_removed_objects_needs_a_newer_server(
        self, serves_from: str | None, named: str
    ) -> None:
        assert why_not_served("0028", serves_from) == (
            f"The database stands at 0028, which serves servers of {named} and newer, and this one"
            " is of 0026: run a newer version of the server."
        )


class TestHead:
    def test_head_is_the_last_revision_and_numbers_ascend(self) -> None:
        scripts = list(ScriptDirectory(MIGRATIONS).walk_revisions())
        numbers = [script.revision for script in scripts]
        assert numbers[0] == HEAD
        assert numbers == sorted(numbers, reverse=True)

    def test_a_schema_serves_from_the_latest_of_all_migrations(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        words = {"0029": "0026", "0028": "0027", "0027": "0026", "0026": "0026"}
        scripts = [
            SimpleNamespace(revision=revision, module=SimpleNamespace(serves_from=serves_from))
            for revision, serves_from in words.items()
        ]
        monkeypatch.setattr(ScriptDirectory, "walk_revisions", lambda _: iter(scripts))
        assert migrations.serves_from() == "0027"


class TestDatabase:
    @pytest.fixture
    def url(self, databases: Databases) -> str:
        return databases.clone(f"revisions_{os.getpid()}")

    def stand_at(self, url: str, revision: str, serves_from: str | None) -> None:
        with psycopg.connect(url) as connection:
            connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))
            words = f"'Serves servers of revision {serves_from} and newer.'"
            told = words if serves_from else "NULL"
            connection.execute(f"COMMENT ON TABLE alembic_version IS {told}")

    def why(self, url: str) -> str | None:
        async def ask() -> str | None:
            async with make_pool(url, size=1) as pool:
                return await why_schema_not_served(pool)

        return asyncio.run(ask())

    def test_a_migration_stores_which_servers_it_serves(self, url: str) -> None:
        with psycopg.connect(url) as connection:
            found = connection.execute(revisions.SCHEMA).fetchone()
        assert found == (HEAD, migrations.serves_from())

    def test_a_database_of_a_later_additive_release_is_served(self, url: str) -> None:
        self.stand_at(url, "9999", HEAD)
        refuse_unusable(url, durable=False)
        assert self.why(url) is None
        assert migrations.migrate(url) == "9999"

    @pytest.mark.parametrize("serves_from", ["9998", None])
    def test_a_database_without_objects_that_this_server_needs_is_refused(
        self, url: str, serves_from: str | None
    ) -> None:
        self.stand_at(url, "9999", serves_from)
        why = f"stands at 9999, which serves servers of {serves_from or '9999'} and newer"
        for use in (refuse_unusable, migrations.migrate):
            with pytest.raises(UnusableDatabase, match=why):
                use(url)
        assert why in (self.why(url) or "")
