"""`accounting sandbox ...`: businesses to practise on, and the books that they are copied from."""

import json
from typing import Annotated
from uuid import UUID

import typer

app = typer.Typer(no_args_is_help=True)


@app.command()
def prepare() -> None:
    """Fill the books that sandboxes are copied from: then a server on this database has them."""
    from cli.sandbox_work import prepare_template

    prepare_template()


@app.command()
def create(
    partner_id: Annotated[UUID, typer.Argument(help="The partner's id.")],
    external_id: Annotated[
        str | None, typer.Option(help="The partner's own id of it; one is made up if left out.")
    ] = None,
    name: Annotated[str | None, typer.Option(help="Name shown to people.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Create a sandbox for a partner, with a year of trade in its books, and print its id."""
    from cli.sandbox_work import create_sandbox

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
        typer.Option(min=1, help="Also those that were made more than so many days ago."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what is there.")] = False,
) -> None:
    """Delete sandboxes that were reset, with their books and files, as the owner of the schema."""
    from cli.sandbox_work import sweep_sandboxes

    sweep_sandboxes(older_than, only_look=dry_run)
