"""docs/settings.md and docs/commands.md are the output of `make reference`."""

from pathlib import Path

import pytest

from cli.reference import PAGES, commands_page, settings_page
from server.config import settings_table

DOCS = Path(__file__).parents[2] / "docs"


class TestPages:
    @pytest.mark.parametrize("name", PAGES)
    def test_each_is_up_to_date(self, name: str) -> None:
        written = (DOCS / f"{name}.md").read_text(encoding="utf-8")
        assert written == PAGES[name](), "run: make reference"

    def test_every_setting_has_a_row(self) -> None:
        for setting in settings_table.TABLE:
            row = f"| `{setting.name}` | {setting.meaning} | {setting.default} |\n"
            assert row in settings_page()

    @pytest.mark.parametrize(
        "heading", ["## `accounting backup TARGET`", "### `accounting partner create NAME`"]
    )
    def test_commands_and_their_subcommands_have_a_section(self, heading: str) -> None:
        assert f"\n{heading}\n" in commands_page()
