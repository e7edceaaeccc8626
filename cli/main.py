"""The commands of `accounting`. Each command imports its code only when it runs."""

import os
import sys
from pathlib import Path
from typing import Annotated
from uuid import UUID

import typer

from cli import businesses, failures, partners, rates, sandboxes
from cli.parameters import (
    BusinessId,
    OneBusiness,
    business_id,
    host_url,
    key_file,
    listening_host,
    new_path,
    partner_id,
    report_file,
)
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
app.add_typer(rates.app, name="rates", help="Exchange rates.")


def print_version(wanted: bool) -> None:
    """Print the version and exit."""
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
    """Accept the options before the name of a command."""


@app.command(cls=CommandWithSettings)
def serve(
    host: Annotated[
        str, typer.Option(parser=listening_host, help="Address to listen on.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Worker processes.")] = 2,
    development: Annotated[
        bool, typer.Option("--development", help="Serve plain HTTP, on loopback only.")
    ] = False,
    tls_cert: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        Path | None, typer.Option(exists=True, dir_okay=False, help="Its private key (PEM).")
    ] = None,
) -> None:
    """Serve the API.

    In production it needs token secrets, and a certificate or a proxy that the settings name.

    SIGHUP replaces the workers with ones that have the renewed certificate.
    """
    from cli.server_start import become_server

    become_server(
        host=host,
        port=port,
        workers=workers,
        development=development,
        tls_cert=tls_cert,
        tls_key=tls_key,
    )


@app.command(cls=CommandWithSettings)
def deliver(
    development: Annotated[
        bool, typer.Option("--development", help="Also deliver to loopback, over plain HTTP.")
    ] = False,
) -> None:
    """Deliver webhooks until a signal, as a process beside the workers of each server does.

    Any number of processes deliver the webhooks of one database together; the servers go on
    delivering. It needs the token secrets of the servers, and serves no metrics.
    """
    from cli.deliveries import deliver_webhooks

    deliver_webhooks(development=development)


@app.command()
def migrate(
    print_roles: Annotated[
        bool,
        typer.Option(
            "--print-roles",
            help="Only print the SQL with which an administrator creates the roles and logins.",
        ),
    ] = False,
) -> None:
    """Update the database to the newest schema, and create missing roles and rights."""
    from cli import migration

    if print_roles:
        migration.print_roles()
    else:
        migration.migrate()


@app.command()
def distribute(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only print the steps left.")] = False,
) -> None:
    """Distribute the tables over the nodes of a Citus cluster; stop all servers first."""
    from cli.distribution import distribute_tables

    distribute_tables(dry_run=dry_run)


@app.command("check-books")
def check_books(
    business: OneBusiness = None,
    partner: Annotated[
        UUID | None, typer.Option(parser=partner_id, help="Only businesses of this partner.")
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(min=1, max=64, help="Processes; by default as many as cores."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Check the books of every business and seal their audit trails; exit 1 if a check fails."""
    from cli import book_checks

    raise typer.Exit(book_checks.check_books(business, partner, workers, as_json=as_json))


@app.command("rebuild-balances")
def rebuild_balances(
    business: OneBusiness = None,
) -> None:
    """Rebuild the monthly balances; requests for a business wait while its balances are rebuilt.

    It also rebuilds tax by month and the lines of each tag, and adds the lines of older servers to
    the cash basis.
    """
    from cli import balance_rebuild

    balance_rebuild.rebuild_balances(business)


@app.command("sweep-documents")
def sweep_documents(
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only list the files.")] = False,
) -> None:
    """Run now the upkeep that servers run every hour.

    It deletes files that no record names after an hour, and stored answers and webhook deliveries
    after 30 days. It seals the audit trails and writes the events of overdue documents.
    """
    from cli.document_sweep import sweep_all

    sweep_all(only_look=dry_run)


@app.command()
def backup(
    target: Annotated[Path, typer.Argument(parser=new_path, help="The new folder.")],
) -> None:
    """Save everything to a new folder while servers run; exit 1 if files are missing or changed.

    The backup holds a dump of the database, the roles that it needs, the document files, and
    digests.
    """
    from cli import archives

    raise typer.Exit(archives.make_backup(target))


@app.command()
def restore(
    source: Annotated[
        Path, typer.Argument(help="The folder of the backup.", exists=True, file_okay=False)
    ],
    verify: Annotated[
        bool,
        typer.Option(
            "--verify",
            help="Only restore it to a temporary PostgreSQL and check its books, rows and files;"
            " exit 1 if a check fails.",
        ),
    ] = False,
) -> None:
    """Restore a backup into an empty database, with the login that will own the schema."""
    from cli import archives

    if verify:
        raise typer.Exit(archives.verify_backup(source))
    archives.restore_backup(source)


@app.command("export-business")
def export_business(
    business_id: BusinessId,
    file: Annotated[Path, typer.Argument(parser=new_path, help="The new file.")],
) -> None:
    """Check one business and export it to a file: its books, audit trail, seals and documents."""
    from cli import business_files

    raise typer.Exit(business_files.export_business(business_id, file))


@app.command("import-business")
def import_business(
    file: Annotated[
        Path, typer.Argument(help="The file of the export.", exists=True, dir_okay=False)
    ],
    partner: Annotated[
        UUID | None,
        typer.Option(parser=partner_id, help="Its new partner; by default that of the file."),
    ] = None,
) -> None:
    """Import one business from a file and check it, all or nothing, as the owner of the schema.

    Its ids, audit trail and seals stay as they are.
    """
    from cli import business_files

    raise typer.Exit(business_files.import_business(file, partner))


@app.command()
def demo(
    serve: Annotated[
        bool, typer.Option("--serve", help="Serve it afterwards, in development, on loopback.")
    ] = False,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port it is served on.")] = 8000,
) -> None:
    """Create a demo business with a year of activity, once, and print how to call it."""
    from cli.demo.command import show_demo

    show_demo(port=port, serve=serve)


@app.command()
def verify(
    url: Annotated[
        str,
        typer.Argument(
            parser=host_url, help="Address of the host, as https://sandbox.example.com."
        ),
    ],
    *,
    partner_id: Annotated[
        UUID,
        typer.Option(parser=partner_id, envvar="ACCOUNTING_PARTNER_ID", help="Your partner id."),
    ],
    api_key_file: Annotated[
        Path | None,
        typer.Option(
            parser=key_file,
            metavar="<path>",
            help="File with the API key, - for standard input; by default ACCOUNTING_API_KEY."
            " There is no option for the key itself: the list of processes would show it.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Only the journeys; no generated requests.")
    ] = False,
    examples: Annotated[
        int, typer.Option(min=2, max=1000, help="Requests generated for each operation.")
    ] = 8,
    junit: Annotated[
        Path | None,
        typer.Option(
            parser=report_file,
            metavar="<path>",
            help="File for a report in JUnit XML, as CI systems read it.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Verify over HTTP that a deployment fulfils the contract that it serves.

    Each run creates two businesses, named "accounting verify" and the time.

    Books are never deleted: both businesses are archived at the end, and stay readable.

    Nothing else of the partner is changed.

    Exit 0: every check passes. 1: a check fails. 2: it cannot start, as with wrong credentials.
    """
    from cli import verification
    from tools.verify.run import Options

    asked = Options(
        url,
        str(partner_id),
        verification.key_from(api_key_file, os.environ.get("ACCOUNTING_API_KEY")),
        examples=0 if quick else examples,
    )
    raise typer.Exit(verification.verify_deployment(asked, junit, as_json=as_json))


@app.command()
def mcp(
    url: Annotated[
        str,
        typer.Option(
            envvar="ACCOUNTING_URL",
            parser=host_url,
            help="Address of the host, as https://api.example.com.",
        ),
    ],
    *,
    partner_id: Annotated[
        UUID | None,
        typer.Option(envvar="ACCOUNTING_PARTNER_ID", parser=partner_id, help="Your partner id."),
    ] = None,
    business_id: Annotated[
        UUID | None,
        typer.Option(
            envvar="ACCOUNTING_BUSINESS_ID",
            parser=business_id,
            help="The business; by default that of the token.",
        ),
    ] = None,
    read_only: Annotated[
        bool,
        typer.Option("--read-only", envvar="ACCOUNTING_READ_ONLY", help="Only tools that read."),
    ] = False,
) -> None:
    """Serve tools for an agent (Model Context Protocol) on standard input and output.

    The agent's host starts it, with credentials of one business in the environment:
    ACCOUNTING_TOKEN, a token of the business, which is valid for an hour; or ACCOUNTING_API_KEY
    with the ids of partner and business.

    A token that only reads has only the tools that read.
    """
    from cli.agents import serve_tools

    serve_tools(url, partner_id, business_id, read_only=read_only)


def main() -> None:
    """Run the command line; an error that an operator can fix is printed without a traceback."""
    try:
        code = app(standalone_mode=False)
    except Exception as error:
        failures.end_with(error)
    sys.exit(code)
