"""The help of a command, followed by the table of settings from the environment."""

from typing import Any

from typer.core import TyperCommand


class CommandWithSettings(TyperCommand):
    """A command whose `--help` also shows the table of settings."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help, then the settings as `server/config/settings.py` defines them."""
        super().format_help(ctx, formatter)
        print_settings()


def print_settings() -> None:
    """Print the settings in the style of Typer's panels."""
    from rich.box import ROUNDED
    from rich.console import Console
    from rich.panel import Panel
    from rich.table import Table
    from rich.text import Text

    from server.config.settings_table import TABLE

    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True, style="bold cyan")
    table.add_column(overflow="fold")
    for setting in TABLE:
        meaning = Text(setting.meaning)
        meaning.append(f" [default: {setting.default}]", "dim")
        table.add_row(setting.name, meaning)
    title = "Settings, from the environment"
    Console().print(Panel(table, title=title, title_align="left", border_style="dim", box=ROUNDED))
