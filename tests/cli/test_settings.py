import os
from pathlib import Path
from uuid import uuid4

import pytest

from cli.demo.access import Access
from tests.api_server import ApiServer, Databases
from tests.command_line import CommandLine
from tests.persistence.engine.cut_wire import Wire

NOBODY_LISTENS = "postgresql://someone:secret@127.0.0.1:1/accounting"


def one_line(place: CommandLine, *arguments: str, **environment: str) -> str:
    """Run a command that must be refused in one line; return that line."""
    told = place.run(*arguments, **environment)
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1)
    return told.err


SENTENCES = (
    "accounting: The database does not answer any more: ",
    "accounting: The books of ",
)


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
        self,
        bare_command_line: CommandLine,
        arguments: list[str],
        environment: dict[str, str],
        told: str,
    ) -> None:
        answer = bare_command_line.run(*arguments, **environment)
        assert answer.code == 2
        assert answer.err.startswith("accounting: The settings cannot be used:")
        assert told in answer.err
        assert "Traceback" not in answer.err
        assert not bare_command_line.folder.exists()


class TestUnusableDatabase:
    @pytest.mark.parametrize("command", ["check-books", "migrate", "demo"])
    def test_that_is_away_is_told_without_its_password(
        self, bare_command_line: CommandLine, command: str
    ) -> None:
        told = bare_command_line.run(command, DATABASE_URL=NOBODY_LISTENS)
        assert told.code == 2
        assert told.err.startswith("accounting: The database cannot be")
        assert "secret" not in told.err
        assert "Traceback" not in told.err

    def test_an_address_that_cannot_be_read_is_told_without_its_password(
        self, bare_command_line: CommandLine
    ) -> None:
        url = "postgresql://a:sec%zzret@127.0.0.1/x"
        told = one_line(bare_command_line, "check-books", DATABASE_URL=url)
        assert told.startswith("accounting: The address of the database cannot be read: ")
        assert "sec" not in told

    @pytest.mark.parametrize(
        "words",
        [
            ["partner", "list"],
            ["check-books", "--workers", "1"],
            ["check-books", "--workers", "2"],
            ["rebuild-balances"],
            ["demo"],
        ],
    )
    def test_that_goes_away_meanwhile_is_told_in_one_line(
        self, bare_command_line: CommandLine, own_server: ApiServer, words: list[str]
    ) -> None:
        Access(str(uuid4()), "key", str(uuid4()), "2026-01-31", True).keep_in(
            bare_command_line.folder
        )
        with Wire(own_server.database_url, most=6) as wire:  # They check the database.
            told = bare_command_line.run(*words, DATABASE_URL=wire.url)
        assert (told.code, told.out) == (2, "")
        *steps, last = told.err.splitlines()
        assert last.startswith(SENTENCES)
        assert [line for line in steps if not line.endswith(" ...")] == []

    def test_that_goes_away_during_a_commit_is_told_in_one_line(
        self, command_line: CommandLine, own_server: ApiServer
    ) -> None:
        with Wire(own_server.database_url) as wire:
            wire.cut = "after"
            told = one_line(command_line, "partner", "create", "Lost", DATABASE_URL=wire.url)
            assert wire.cuts == 1
        assert told.startswith("accounting: The database does not answer any more: ")


class TestFolders:
    def test_one_of_somebody_else_is_told(self, bare_command_line: CommandLine) -> None:
        home = bare_command_line.folder / "postgres"
        bare_command_line.folder.mkdir()
        if os.geteuid() == 0:
            home.mkdir()
            os.chown(home, 12_345, 12_345)
        else:
            home.symlink_to("/usr")
        told = one_line(bare_command_line, "check-books")
        assert told.startswith(f"accounting: {home.resolve()} belongs to user id ")

    @pytest.mark.parametrize("command", ["migrate", "check-books", "demo"])
    def test_one_that_is_a_file_is_told(self, bare_command_line: CommandLine, command: str) -> None:
        bare_command_line.folder.touch()
        told = bare_command_line.run(command)
        assert (told.code, told.out) == (2, "")
        assert f"{bare_command_line.folder} is not a folder" in told.err
        assert told.err.startswith("accounting: ")

    @pytest.mark.parametrize(
        "folder",
        ["/proc/nobody/data", "/dev/null/data", "/" + 300 * "x"],
        ids=["proc", "file", "long"],
    )
    @pytest.mark.parametrize("command", ["migrate", "demo"])
    def test_one_that_cannot_be_made_is_told(self, command: str, folder: str) -> None:
        told = CommandLine(Path(folder)).run(command)
        assert (told.code, told.out) == (2, "")
        assert told.err.startswith("accounting: ")
        assert folder in told.err
        assert "Traceback" not in told.err

    @pytest.mark.parametrize(
        "words", [["check-books"], ["partner", "enable", str(uuid4())], ["backup", "new"]]
    )
    def test_a_file_in_the_place_of_the_data_is_told(
        self, bare_command_line: CommandLine, words: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        bare_command_line.folder.mkdir()
        monkeypatch.chdir(bare_command_line.folder)
        (bare_command_line.folder / "postgres").touch()
        told = bare_command_line.run(*words).err.splitlines()[-1]
        assert told.startswith("accounting: PostgreSQL cannot keep its data in ")


class TestMigrate:
    def test_fills_an_empty_database_once(
        self, bare_command_line: CommandLine, databases: Databases
    ) -> None:
        name = f"cli_empty_{os.getpid()}"
        databases.postgres.create_database(name)
        command_line = CommandLine(bare_command_line.folder, databases.postgres.url(name))
        before = command_line.run("check-books")
        assert before.code == 2
        assert "Run `accounting migrate` first" in before.err
        first = command_line.did("migrate")
        *_, stands = first.out.splitlines()  # Earlier lines list privileges.
        assert stands.startswith("The database stands at ")
        assert command_line.did("migrate").out == f"{stands}\n"
        assert (
            command_line.did("check-books").out
            == "The books of 0 businesses hold (0 things checked).\n"
        )
