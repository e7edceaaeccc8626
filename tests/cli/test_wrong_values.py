"""Wrong values of all parameters of all commands: one sentence, before any work."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import psycopg
import pytest
import typer

from cli import parameters
from cli.failures import MOST_SHOWN
from cli.main import app
from libraries.embedded.postgres import EmbeddedPostgres
from persistence.database.revisions import HEAD
from tests.api_server import ApiServer
from tests.command_line import CommandLine
from tests.partner import Partner
from tests.persistence.database.earlier_schema import migrate_to

SOME_ID = str(uuid4())
WRONG_ID = ("not-an-id", SOME_ID[:-1], "")
# By the parser of a parameter; {} is an empty folder.
WRONG: dict[Any, tuple[str, ...]] = {
    parameters.partner_id: WRONG_ID,
    parameters.business_id: WRONG_ID,
    parameters.key_id: ("short", "a/b/c/d/", "apk_live_secret"),
    parameters.line_of_text: ("", " ", "two\nlines", "x" * 256),
    parameters.new_path: ("{}", "{}/nowhere/new"),
    parameters.report_file: ("{}", "{}/nowhere/report.xml"),
    parameters.key_file: ("{}", "{}/nowhere"),
    parameters.host_url: ("sandbox", "http://sandbox.example.com", "https://me:secret@there.com"),
    parameters.listening_host: ("", "a b", "http://127.0.0.1"),
}
RIGHT: dict[Any, str] = {
    parameters.partner_id: SOME_ID,
    parameters.business_id: SOME_ID,
    parameters.key_id: "abcd1234",
    parameters.line_of_text: "Acme",
    parameters.new_path: "{}/new",
    parameters.host_url: "https://sandbox.example.com",
}
IDS = (parameters.partner_id, parameters.business_id, parameters.key_id)


class Place(NamedTuple):
    """A parameter of a command."""

    words: tuple[str, ...]
    command: Any
    parameter: Any

    @property
    def info(self) -> Any:
        return self.parameter.type_descriptor.parameter_info

    @property
    def kind(self) -> Any:
        return self.info.parser or self.parameter.type_descriptor.annotation

    @property
    def name(self) -> str:
        option: str = self.parameter.opts[0]
        return option if option.startswith("-") else self.parameter.name.upper()

    def wrong(self, folder: Path) -> Iterator[str]:
        """Yield wrong values; a parameter of an unknown kind has none, and fails the test."""
        if self.kind is int:
            yield from ("x", "1.5", str(self.info.min - 1))
            yield from [str(self.info.max + 1)]  # Each number has both limits.
        elif self.kind is Path:
            assert self.info.exists
            file = folder / "file"
            file.touch()
            yield from (str(folder / "nowhere"), str(folder if self.info.file_okay else file))
        else:
            yield from (each.format(folder) for each in WRONG[self.kind])

    def called(self, value: str, folder: Path) -> list[str]:
        """Return the words of a call with one value, and right values of what else is needed."""
        given = [*self.words]
        for each in self.command.params:
            here = Place(self.words, self.command, each)
            if each.name == self.parameter.name:
                right = value
            elif not each.required:
                continue
            elif here.kind is Path:
                right = str(folder if here.info.dir_okay else folder / "file")
            else:
                right = RIGHT[here.kind].format(folder)
            given += [f"{here.name}={right}"] if here.name.startswith("-") else [right]
        return given


def commands(command: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield words, command
    for word, each in getattr(command, "commands", {}).items():
        yield from commands(each, *words, word)


COMMANDS = dict(commands(typer.main.get_command(app)))
PLACES = [
    Place(words, command, each)
    for words, command in COMMANDS.items()
    for each in command.params
    if not getattr(each, "is_flag", False)
]
# Commands that call a host: its database is not here.
REMOTE = {("verify",), ("mcp",)}
NAMING = [each for each in PLACES if each.kind in IDS and each.words not in REMOTE]


def named(place: Place) -> str:
    return " ".join([*place.words, place.name])


def sentence(command_line: CommandLine, *words: str) -> str:
    """Run a command that must be refused in one line; return that line."""
    told = command_line.run(*words, ACCOUNTING_API_KEY="key")
    assert (told.code, told.out, told.err.count("\n")) == (2, "", 1), told
    assert told.err.startswith("accounting: ")
    return told.err.removeprefix("accounting: ").removesuffix("\n")


@pytest.fixture(scope="module")
def exported(
    command_line: CommandLine,
    own_server: ApiServer,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    shop = own_server.partner("Owner").business()
    file = tmp_path_factory.mktemp("exports") / "file"
    place = {"ACCOUNTING_DOCUMENTS_DIR": str(own_server.folder)}
    command_line.did("export-business", shop.id, str(file), **place)
    return file


class TestMalformed:
    @pytest.mark.parametrize("place", PLACES, ids=named)
    def test_a_value_is_refused_before_any_work(self, place: Place, tmp_path: Path) -> None:
        command_line = CommandLine(tmp_path / "data")
        for value in place.wrong(tmp_path):
            told = sentence(command_line, *place.called(value, tmp_path))
            if place.kind is parameters.new_path:
                assert str(tmp_path) in told
                continue
            hidden = place.kind is parameters.host_url or "secret" in value
            shown = "" if hidden else repr(value)[:MOST_SHOWN]
            assert told.startswith(f"{place.name}: " if hidden else place.name)
            assert shown in told
            assert "secret" not in told
            assert told.endswith(f" (see accounting {' '.join(place.words)} --help).")
        assert not command_line.folder.exists()

    @pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
    def test_an_option_that_does_not_exist_is_named(
        self, words: tuple[str, ...], bare_command_line: CommandLine
    ) -> None:
        told = sentence(bare_command_line, *words, "--nothing-of-the-kind")
        assert told.startswith("No such option: --nothing-of-the-kind ")
        assert not bare_command_line.folder.exists()

    @pytest.mark.parametrize("words", ["fly", "partner fly", "sandbox fly"])
    def test_a_command_that_does_not_exist_is_named(
        self, words: str, bare_command_line: CommandLine
    ) -> None:
        assert sentence(bare_command_line, *words.split()).startswith("No such command 'fly'")

    @pytest.mark.parametrize(
        "words", [words for words, each in COMMANDS.items() if any(p.required for p in each.params)]
    )
    def test_a_value_that_is_needed_is_named(
        self, words: tuple[str, ...], bare_command_line: CommandLine
    ) -> None:
        assert " is missing (see accounting " in sentence(bare_command_line, *words)

    @pytest.mark.parametrize("command", ["restore", "restore --verify", "import-business"])
    def test_what_is_no_archive_is_refused_before_any_work(
        self, command: str, tmp_path: Path
    ) -> None:
        command_line = CommandLine(tmp_path / "data")
        (tmp_path / "file").write_text("no archive")
        source = tmp_path if command.startswith("restore") else tmp_path / "file"
        told = sentence(command_line, *command.split(), str(source))
        assert "is no whole backup" in told or "no export" in told
        assert not command_line.folder.exists()

    def test_a_database_is_not_waited_for(self, tmp_path: Path) -> None:
        command_line = CommandLine(tmp_path / "data", "postgresql://nobody@127.0.0.1:1/x")
        told = sentence(command_line, "check-books", "--business", "x")
        assert told.startswith("--business 'x' is refused: an id is like ")


class TestUnknown:
    @pytest.mark.parametrize("place", NAMING, ids=named)
    def test_an_id_is_named_and_nothing_begins(
        self,
        place: Place,
        command_line: CommandLine,
        exported: Path,
        partner: Partner,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        if place.kind is parameters.key_id:
            monkeypatch.setitem(RIGHT, parameters.partner_id, str(partner.partner_id))
        value = "nokey123" if place.kind is parameters.key_id else str(uuid4())
        words = place.called(value, exported.parent)
        asks = any("--yes" in each.opts for each in place.command.params)
        told = sentence(command_line, *words, *(["--yes"] if asks else []))
        assert value in told
        assert "`accounting partner list` shows " in told or "businesses/` shows " in told

    @pytest.mark.parametrize("place", NAMING, ids=named)
    def test_a_data_folder_without_books_has_none(
        self, place: Place, exported: Path, bare_command_line: CommandLine
    ) -> None:
        words = place.called(RIGHT[place.kind], exported.parent)
        asks = any("--yes" in each.opts for each in place.command.params)
        told = sentence(bare_command_line, *words, *(["--yes"] if asks else []))
        assert told.startswith(f"There are no books in {bare_command_line.folder}: ")
        assert not bare_command_line.folder.exists()

    def test_the_bundled_database_is_not_migrated_for_it(self, tmp_path: Path) -> None:
        command_line = CommandLine(tmp_path / "data")
        before = str(int(HEAD) - 1).zfill(4)
        with EmbeddedPostgres(command_line.folder / "postgres") as postgres:
            postgres.create_database()
            migrate_to(postgres.url(), before)
            told = sentence(command_line, "partner", "rotate-key", SOME_ID)
            assert told.startswith(f"There is no partner {SOME_ID}: ")
            with psycopg.connect(postgres.url()) as connection:
                [found] = connection.execute("SELECT version_num FROM alembic_version").fetchall()
        assert found == (before,)

    def test_a_business_of_another_partner_is_named(
        self, command_line: CommandLine, partner: Partner, own_server: ApiServer
    ) -> None:
        other = own_server.partner("Other")
        shop = partner.business()
        words = ("check-books", "--partner", str(other.partner_id), "--business", shop.id)
        told = sentence(command_line, *words)
        assert told.startswith(f"The partner {other.partner_id} has no business {shop.id}, ")
        told = sentence(command_line, *words[:3])
        assert told.startswith(f"The partner {other.partner_id} has no business, ")
