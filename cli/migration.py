"""`accounting migrate`: the database schema, and the roles and rights of its logins."""

import typer

from cli.databases import opened
from persistence.database import migrate as migrations
from persistence.database import rights
from persistence.engine.connections import login_of
from persistence.engine.database_errors import UnusableDatabase
from server.config import settings


def migrate() -> None:
    """Migrate the database to the newest schema, and print the rights that its logins received."""
    with opened(settings.load_stores()) as database:
        head = migrations.migrate(database.admin_url, typer.echo)
    typer.echo(f"The database stands at {head}.")


def print_roles() -> None:
    """Print the SQL that creates roles and logins, for an administrator, without a connection.

    Raises UnusableDatabase if the settings name no database.
    """
    stores = settings.load_stores()
    if stores.database_url is None:
        raise UnusableDatabase(
            "The PostgreSQL that comes along needs no roles from an administrator: DATABASE_URL and"
            " ACCOUNTING_ADMIN_DATABASE_URL name the logins for which they are printed."
        )
    owner = login_of(stores.admin_database_url or stores.database_url)
    typer.echo(rights.script(login_of(stores.database_url), owner), nl=False)
