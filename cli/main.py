"""The commands of `accounting`, each of which loads what it needs only when it is run."""

import os
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from cli import businesses, failures, partners, sandboxes
from cli.settings_help import CommandWithSettings

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Run and look after the accounting platform.",
    epilog="The settings of the environment are listed by: accounting serve --help",
)
app.add_typer(partners.app, name="partner", help="Partners and their API keys.")
app.add_typer(businesses.app, name="business", help="Businesses of partners.")
app.add_typer(sandboxes.app, name="sandbox", help="Businesses to practise on.")


def print_version(wanted: bool) -> None:
    """Print the version and leave."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"accounting {version('accounting-platform')}")
        raise typer.Exit


@app.callback()
def before_each_command(
    _version: Annotated[
        bool,
        typer.Option(
            "--version", is_eager=True, callback=print_version, help="Show the version and exit."
        ),
    ] = False,
) -> None:
    """Take what stands before a command."""


@app.command(cls=CommandWithSettings)
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 2,
    development: Annotated[
        bool, typer.Option("--development", help="Serve plain HTTP, on loopback only.")
    ] = False,
    tls_cert: Annotated[Path | None, typer.Option(help="Certificate chain (PEM).")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="Its private key (PEM).")] = None,
) -> None:
    """Serve the API."""
    from cli.serving import become_server

    become_server(
        host=host,
        port=port,
        workers=workers,
        development=development,
        tls_cert=tls_cert,
        tls_key=tls_key,
    )


@app.command()
def migrate(
    print_roles: Annotated[
        bool,
        typer.Option(
            "--print-roles",
            help="Only print the SQL by which an administrator makes the roles and logins.",
        ),
    ] = False,
) -> None:
    """Bring the database to the newest schema, and make what is missing of roles and rights."""
    from cli import migrating

    if print_roles:
        migrating.print_roles()
    else:
        migrating.migrate()


@app.command()
def distribute(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what is left.")] = False,
) -> None:
    """Spread the tables over the machines of a Citus cluster, while no server is at work."""
    from cli.distributing import distribute_tables

    distribute_tables(dry_run=dry_run)


@app.command("check-books")
def check_books(
    business: Annotated[UUID | None, typer.Option(help="Only the business with this id.")] = None,
    partner: Annotated[UUID | None, typer.Option(help="Only businesses of this partner.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Processes; by default as many as cores."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Prove the books of every business and seal them; exit 1 where one does not hold."""
    from cli import proving

    raise typer.Exit(proving.check_books(business, partner, workers, as_json=as_json))


@app.command("rebuild-balances")
def rebuild_balances(
    business: Annotated[UUID | None, typer.Option(help="Only the business with this id.")] = None,
) -> None:
    """Roll up the balances by month anew; a business waits while it is its turn."""
    from cli import rebuilding

    rebuilding.rebuild_balances(business)


@app.command("sweep-documents")
def sweep_documents(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only tell what is there.")] = False,
) -> None:
    """Remove old files that no record names, and seal the audit trails."""
    from cli.sweeping import sweep_all

    sweep_all(only_look=dry_run)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(help="The new folder.")],
) -> None:
    """Back up everything to a new folder, while servers are at work; exit 1 where files are lost.

    It has the database as a dump, the roles that it needs, the files of documents, and digests.
    """
    from cli import archives

    raise typer.Exit(archives.make_backup(target))


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(help="What backup wrote.", exists=True)],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Only prove it: in a PostgreSQL that is thrown away afterwards; exit 1 where its"
            " books or files do not hold.",
        ),
    ] = False,
) -> None:
    """Restore a backup into an empty database, as the login that is to own the schema."""
    from cli import archives

    if verify:
        raise typer.Exit(archives.verify_backup(source))
    archives.restore_backup(source)


@app.command("export-business")
def export_business(
    business_id: Annotated[UUID, typer.Argument(help="The business's id.")],
    file: Annotated[Path, typer.Argument(help="The new file.")],
) -> None:
    """Prove one business and write it to a file: its books, audit trail, seals and documents."""
    from cli import moving

    raise typer.Exit(moving.export_business(business_id, file))


@app.command("import-business")
def import_business(
    file: Annotated[Path, typer.Argument(help="What export-business wrote.", exists=True)],
    partner: Annotated[
        UUID | None, typer.Option(help="Whose it becomes; else that of the file.")
    ] = None,
) -> None:
    """Take in one business from a file and prove it, as the owner of the schema; all or nothing."""
    from cli import moving

    raise typer.Exit(moving.import_business(file, partner))


@app.command()
def demo(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it afterwards, in development, on loopback.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port it is served on.")] = 8000,
) -> None:
    """Fill a demo business with a year of activity, once, and print how to call it."""
    from cli.demo.command import show_demo

    show_demo(port=port, serve=serve)


@app.command()
def verify(
    url: Annotated[
        str, typer.Argument(help="Address of the host, as https://sandbox.example.com.")
    ],
    *,
    partner_id: Annotated[
        UUID, typer.Option(envvar="ACCOUNTING_PARTNER_ID", help="Your partner id.")
    ],
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the API key, - for standard input; else ACCOUNTING_API_KEY has it."
            " There is no option for the key itself: the list of processes would show it."
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the journeys; make up no requests.")
    ] = False,
    examples: Annotated[
        int, typer.Option(min=2, max=1000, help="Requests that are made up for each operation.")
    ] = 8,
    junit: Annotated[
        Path | None, typer.Option(help="File for a report in JUnit XML, as CI systems read it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Verify that a deployment does what its contract says, over HTTP alone.

    It makes two businesses for each run, named "accounting verify" and the time.

    Books are never deleted: both are archived at the end, and can be read as before.

    Nothing else of the partner is touched. The deployment's own contract judges.

    Exit 0: every check holds. 1: one failed. 2: it could not be begun, as with wrong credentials.
    """
    from cli import verifying
    from verify.run import Asked

    asked = Asked(
        verifying.host_of(url),
        str(partner_id),
        verifying.key_from(api_key_file, os.environ.get("ACCOUNTING_API_KEY")),
        examples=0 if quick else examples,
    )
    raise typer.Exit(verifying.verify_deployment(asked, junit, as_json=as_json))


def main() -> None:
    """Run the command line; what an operator can mend is told without a traceback."""
    try:
        app()
    except Exception as error:
        failures.end_with(error)
