"""Reference pages for operators: `python -m cli.reference settings` prints one, or `commands`.

`make reference` writes docs/settings.md and docs/commands.md with it.
"""

import sys
from collections.abc import Iterator, Sequence
from typing import Any

import typer

from cli.main import app
from server.config.settings_table import TABLE

SETTINGS = """\
# Settings

Settings are environment variables. A server reads them once, when it starts. If some are wrong, it
reports all of them and does not start. `accounting serve --help` prints this list, too.

`make reference` writes this page from the program.
"""
COMMANDS = """\
# Commands

`accounting COMMAND --help` prints what this page has. Commands read the [settings](settings.md). If
an operator can fix an error, the command prints one sentence after `accounting: ` and exits with 2.
A wrong value, or the id of a record that does not exist, is refused before any work.

`make reference` writes this page from the program.
"""


def settings_page() -> str:
    """Return docs/settings.md."""
    rows = [(f"`{each.name}`", each.meaning, each.default) for each in TABLE]
    return f"{SETTINGS}\n{table(('Setting', 'Meaning', 'Default'), rows)}"


def commands_page() -> str:
    """Return docs/commands.md."""
    return "\n".join([COMMANDS, *sections(typer.main.get_command(app), "accounting", level=1)])


def sections(command: Any, name: str, level: int) -> Iterator[str]:
    """Yield the section of a command, then those of its subcommands; level 1 has no heading."""
    context = command.context_class(command, info_name=name)
    rows, heading = [], name
    for each in command.params:
        usage, meaning = each.get_help_record(context)
        if each.param_type_name == "argument":
            usage = each.name.upper()
            heading += f" {usage}"
        # Typer puts two spaces before the default and the range of a value.
        rows.append((f"`{usage.replace(' range>', '>')}`", meaning.replace("  [", " [")))
    if level > 1:
        yield f"{'#' * level} `{heading}`\n\n{command.help}\n"
    if rows:
        yield table(("Argument or option", "Meaning"), rows)
    for word, each in getattr(command, "commands", {}).items():
        yield from sections(each, f"{name} {word}", level + 1)


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a table in Markdown."""
    lines = (header, ["---"] * len(header), *rows)
    cells = ([cell.replace("|", r"\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


PAGES = {"settings": settings_page, "commands": commands_page}

if __name__ == "__main__":
    sys.stdout.write(PAGES[sys.argv[1]]())
