"""`accounting`: the operator's desk."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from cli import partners

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Run and look after the accounting platform.",
)
app.add_typer(partners.app, name="partner", help="Partners and their API keys.")


@app.command()
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
    from cli.databases import opened
    from server import settings
    from server.serving import serve as serve_api

    loaded = settings.load(
        host=host,
        port=port,
        workers=workers,
        development=development,
        tls_cert=tls_cert,
        tls_key=tls_key,
    )
    with opened(loaded) as database:
        serve_api(loaded, database.url, database.postgres_home)


@app.command()
def migrate() -> None:
    """Bring the database to the newest schema."""
    from cli.databases import opened
    from persistence.migrate import migrate as run_migrations
    from server import settings

    with opened(settings.load_stores()) as database:
        typer.echo(f"The database stands at {run_migrations(database.admin_url)}.")


@app.command("check-books")
def check_books() -> None:
    """Prove the books of every business; exit 1 where one does not hold."""
    from cli.proving import prove_all

    raise typer.Exit(prove_all())


@app.command()
def demo() -> None:
    """Fill a demo business with a year of activity, once, and print how to call it."""
    from cli.demo import show_demo

    show_demo()


def main() -> None:
    """Run the command line; what an operator can mend is told without a traceback."""
    from accounting.errors import Refusal
    from embedded.errors import EmbeddedError
    from persistence.pool import UnsafeDatabase
    from server.settings import SettingsError

    try:
        app()
    except (SettingsError, EmbeddedError, UnsafeDatabase, Refusal) as error:
        typer.echo(f"accounting: {error}", err=True)
        sys.exit(2)
