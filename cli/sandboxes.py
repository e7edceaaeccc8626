"""`accounting sandbox ...`: businesses to practise on, and the template for their books."""

import json
from typing import Annotated

import typer

from cli.parameters import PartnerId, line_of_text

app = typer.Typer(no_args_is_help=True)


@app.command()
def prepare() -> None:
    """Fill the template of sandboxes; servers on this database then offer sandboxes."""
    from cli.sandbox_jobs import prepare_template

    prepare_template()


@app.command()
def create(
    partner_id: PartnerId,
    external_id: Annotated[
        str | None,
        typer.Option(
            parser=line_of_text, help="The partner's own id of it; by default a random one."
        ),
    ] = None,
    name: Annotated[
        str | None, typer.Option(parser=line_of_text, help="Name shown to people.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Create a sandbox for a partner, with a year of trade in its books, and print its id."""
    from cli.sandbox_jobs import create_sandbox

    made = create_sandbox(partner_id, external_id, name)
    facts = {each: made[each] for each in ("id", "external_id", "name")}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for label, value in facts.items():
        typer.echo(f"{label}: {value}")


@app.command()
def sweep(
    older_than: Annotated[
        int | None,
        typer.Option(min=1, max=36_500, help="Also those that are older than so many days."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list them.")] = False,
) -> None:
    """Delete sandboxes that were reset, with their books and files, as the owner of the schema."""
    from cli.sandbox_jobs import sweep_sandboxes

    sweep_sandboxes(older_than, only_look=dry_run)
