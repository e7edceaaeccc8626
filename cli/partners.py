"""`accounting partner ...`: who may call, and with which keys.

Every command imports this module, and so do the server's processes: it loads no database itself.
"""

import json
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer

from access import api_keys

if TYPE_CHECKING:
    from persistence.engine.pool import Pool

app = typer.Typer(no_args_is_help=True, add_completion=False)

T = TypeVar("T")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
PartnerId = Annotated[UUID, typer.Argument(help="The partner's id.")]


def on_partners(work: Callable[["Pool"], Awaitable[T]]) -> T:
    """Do work on the partners' tables."""
    from cli.databases import ready, run
    from server import settings

    with ready(settings.load_stores()) as database:
        return run(database.url, work)


def show_key(partner_id: UUID, key: api_keys.ApiKey, *, as_json: bool, **more: Any) -> None:
    """Print a new key; nobody can show it again."""
    facts = {"partner_id": str(partner_id), "api_key": key.text, "key_id": key.key_id, **more}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{name}: {value}")
    typer.echo("The API key is shown this once. Keep it like a password.", err=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="What the partner is called.")],
    as_json: AsJson = False,
    test: Annotated[bool, typer.Option("--test", help="Mark the key as one for testing.")] = False,
) -> None:
    """Create a partner and print its id and API key once."""
    from persistence.partners import partners

    key = api_keys.make("test" if test else "live")
    now = datetime.now(UTC)
    partner_id = on_partners(
        lambda pool: partners.create_partner(pool, name, key.key_id, api_keys.seal(key.text), now)
    )
    show_key(partner_id, key, as_json=as_json)


@app.command("list")
def list_() -> None:
    """List partners with their active keys."""
    from rich.console import Console
    from rich.table import Table

    from persistence.partners import partners

    table = Table("partner_id", "name", "created", "active keys", "disabled")
    for line in on_partners(partners.list_partners):
        table.add_row(
            str(line.id),
            line.name,
            f"{line.created_at:%Y-%m-%d}",
            ", ".join(line.active_keys),
            "yes" if line.disabled_at else "",
        )
    Console(width=None if Console().is_terminal else 160).print(table)


@app.command("rotate-key")
def rotate_key(partner_id: PartnerId, as_json: AsJson = False) -> None:
    """Add a second key; the old one works until it is revoked."""
    from persistence.partners import partners

    key = api_keys.make("live")
    now = datetime.now(UTC)
    active = on_partners(
        lambda pool: partners.add_key(pool, partner_id, key.key_id, api_keys.seal(key.text), now)
    )
    show_key(partner_id, key, as_json=as_json, active_keys=active)


@app.command("revoke-key")
def revoke_key(
    partner_id: PartnerId, key_id: Annotated[str, typer.Argument(help="The key's short id.")]
) -> None:
    """Revoke a key, and every token that was issued so far."""
    from persistence.partners import partners

    on_partners(lambda pool: partners.revoke_key(pool, partner_id, key_id, datetime.now(UTC)))
    wait_for_next_second()
    typer.echo(f"The key {key_id} and all tokens issued so far are refused from now on.")


@app.command("revoke-tokens")
def revoke_tokens(partner_id: PartnerId) -> None:
    """Refuse every token that was issued to the partner so far."""
    from persistence.partners import partners

    on_partners(lambda pool: partners.revoke_tokens(pool, partner_id, datetime.now(UTC)))
    wait_for_next_second()
    typer.echo("All tokens issued so far are refused from now on.")


@app.command()
def disable(partner_id: PartnerId) -> None:
    """Let a partner in no longer."""
    from persistence.partners import partners

    on_partners(lambda pool: partners.disable_partner(pool, partner_id, datetime.now(UTC)))
    typer.echo("The partner is disabled.")


def wait_for_next_second() -> None:
    """Return when a token issued now is newer than the revocation, whose time has whole seconds."""
    time.sleep(1 - datetime.now(UTC).microsecond / 1_000_000)
