"""`accounting distribute`: distribution of the tables over the nodes of a Citus cluster."""

import typer

from cli.databases import opened
from persistence.database.distribution import distribute
from server.config import settings


def distribute_tables(*, dry_run: bool) -> None:
    """Distribute the tables that are not distributed yet, and print each step.

    With `dry_run` only print the steps that are left.
    """
    with opened(settings.load_stores()) as database:
        count = distribute(database.admin_url, typer.echo, dry_run=dry_run)
    if count == 0:
        typer.echo("Nothing is left to do: the tables are spread.")
    elif dry_run:
        typer.echo(f"{count} steps are left to do.")
    else:
        typer.echo(f"Done in {count} steps. The servers may be started.")
