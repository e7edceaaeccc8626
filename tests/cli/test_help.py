"""The help of the command line."""

from importlib.metadata import version

from server.config import settings_table
from tests.command_line import CommandLine


class TestVersion:
    def test_is_told(self, bare_command_line: CommandLine) -> None:
        assert (
            bare_command_line.did("--version").out
            == f"accounting {version('accounting-platform')}\n"
        )


class TestHelp:
    def test_of_serve_lists_every_setting(self, bare_command_line: CommandLine) -> None:
        told = bare_command_line.did("serve", "--help", COLUMNS="600").out
        for setting in settings_table.TABLE:
            [line] = [line for line in told.splitlines() if f" {setting.name} " in line]
            assert f"{setting.meaning} [default: {setting.default}]" in line

    def test_shows_names_whole_on_a_narrow_terminal(self, bare_command_line: CommandLine) -> None:
        told = bare_command_line.did("serve", "--help", COLUMNS="60").out
        assert [each.name for each in settings_table.TABLE if each.name not in told] == []

    def test_of_all_commands_says_where_the_settings_are(
        self, bare_command_line: CommandLine
    ) -> None:
        assert "accounting serve --help" in bare_command_line.did("--help").out


class TestCompletion:
    def test_a_shell_is_told_the_commands(self, bare_command_line: CommandLine) -> None:
        asked = {
            "_ACCOUNTING_COMPLETE": "complete_bash",
            "COMP_WORDS": "accounting re",
            "COMP_CWORD": "1",
        }
        assert bare_command_line.did(**asked).out.split() == ["rebuild-balances", "restore"]
