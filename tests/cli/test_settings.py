import os

import pytest

from tests.cli.desk import Desk
from tests.house import Databases

NOBODY_LISTENS = "postgresql://someone:secret@127.0.0.1:1/accounting"


class TestRefusedSettings:
    @pytest.mark.parametrize(
        ("arguments", "environment", "told"),
        [
            (["check-books"], {"DATABASE_URL": "mysql://localhost/x"}, "DATABASE_URL"),
            (["partner", "list"], {"ACCOUNTING_DATADIR": "x"}, "ACCOUNTING_DATA_DIR is"),
            (["demo"], {"ACCOUNTING_SECRET_KEYS": "short:c2hvcnQ"}, "ACCOUNTING_SECRET_KEYS"),
            (["serve"], {}, "ACCOUNTING_SECRET_KEYS"),
        ],
    )
    def test_are_told_and_nothing_is_made(
        self, bare_desk: Desk, arguments: list[str], environment: dict[str, str], told: str
    ) -> None:
        answer = bare_desk.run(*arguments, **environment)
        assert answer.code == 2
        assert answer.err.startswith("accounting: The settings cannot be used:")
        assert told in answer.err
        assert "Traceback" not in answer.err
        assert not bare_desk.folder.exists()


class TestUnusableDatabase:
    @pytest.mark.parametrize("command", ["check-books", "migrate", "demo"])
    def test_that_is_away_is_told_without_its_password(self, bare_desk: Desk, command: str) -> None:
        told = bare_desk.run(command, DATABASE_URL=NOBODY_LISTENS)
        assert told.code == 2
        assert told.err.startswith("accounting: The database cannot be")
        assert "secret" not in told.err
        assert "Traceback" not in told.err


class TestMigrate:
    def test_fills_an_empty_database_once(self, bare_desk: Desk, databases: Databases) -> None:
        name = f"cli_empty_{os.getpid()}"
        databases.postgres.create_database(name)
        desk = Desk(bare_desk.folder, databases.postgres.url(name))
        before = desk.run("check-books")
        assert before.code == 2
        assert "Run `accounting migrate` first" in before.err
        first = desk.did("migrate")
        assert first.out.startswith("The database stands at ")
        assert desk.did("migrate").out == first.out
        assert desk.did("check-books").out == "The books of 0 businesses hold (0 things checked).\n"
