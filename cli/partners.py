"""`accounting partner ...`: who may call, and with which keys.

Every command imports this module, and so do the server's processes: it loads no database itself.
"""

import json
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any, TypeVar
from uuid import UUID

import typer

from access import api_keys

if TYPE_CHECKING:
    from persistence.engine.pool import Pool
    from persistence.partners.partners import PartnerLine

app = typer.Typer(no_args_is_help=True)

T = TypeVar("T")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Confirmed = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
PartnerId = Annotated[UUID, typer.Argument(help="The partner's id.")]


class NotConfirmed(Exception):
    """Nobody is there who could be asked; the message says what to do."""


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
def list_(as_json: AsJson = False) -> None:
    """List partners with their active keys."""
    from persistence.partners import partners

    lines = on_partners(partners.list_partners)
    if as_json:
        typer.echo(json.dumps([shape(line) for line in lines]))
        return
    # As wide as it is: an id that is cut, or broken in two, cannot be copied.
    row = "{:36}  {:10}  {:10}  {:18}  {}".format
    typer.echo(row("partner_id", "created", "disabled", "active keys", "name"))
    for line in lines:
        disabled = f"{line.disabled_at:%Y-%m-%d}" if line.disabled_at else ""
        keys = ", ".join(line.active_keys)
        typer.echo(row(str(line.id), f"{line.created_at:%Y-%m-%d}", disabled, keys, line.name))


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
    partner_id: PartnerId,
    key_id: Annotated[str, typer.Argument(help="The key's short id.")],
    yes: Confirmed = False,
    as_json: AsJson = False,
) -> None:
    """Revoke a key, and every token that was issued so far."""
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            f"Revoke the key {key_id} and all tokens issued so far",
            lambda pool: partners.revoke_key(pool, partner_id, key_id, datetime.now(UTC)),
            yes=yes,
        )
    )
    told = f"The key {key_id} and all tokens issued so far are refused from now on."
    show_changed(partner, told, as_json=as_json)


@app.command("revoke-tokens")
def revoke_tokens(partner_id: PartnerId, yes: Confirmed = False, as_json: AsJson = False) -> None:
    """Refuse every token that was issued to the partner so far."""
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            "Revoke all tokens issued so far",
            lambda pool: partners.revoke_tokens(pool, partner_id, datetime.now(UTC)),
            yes=yes,
        )
    )
    show_changed(partner, "All tokens issued so far are refused from now on.", as_json=as_json)


@app.command()
def disable(partner_id: PartnerId, yes: Confirmed = False, as_json: AsJson = False) -> None:
    """Let a partner in no longer."""
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            "Refuse its keys and tokens until it is enabled again",
            lambda pool: partners.disable_partner(pool, partner_id, datetime.now(UTC)),
            yes=yes,
        )
    )
    show_changed(partner, "The partner is disabled.", as_json=as_json)


@app.command()
def enable(partner_id: PartnerId, as_json: AsJson = False) -> None:
    """Let a disabled partner in again; tokens from before stay refused."""
    from persistence.partners import partners

    partner = on_partners(lambda pool: partners.enable_partner(pool, partner_id, datetime.now(UTC)))
    # A server remembers for a moment whom it has refused.
    told = "The partner is let in again, by its keys, within five seconds."
    show_changed(partner, told, as_json=as_json)


def confirmed(
    id_: UUID,
    question: str,
    work: Callable[["Pool"], Awaitable[T]],
    *,
    yes: bool,
    of_business: bool = False,
) -> Callable[["Pool"], Awaitable[T]]:
    """Return work that asks first, by the partner's name or the business's, unless `yes` says so.

    Raises NotConfirmed where nobody could answer; the work raises Abort where it is declined.
    """
    if yes:
        return work
    if not sys.stdin.isatty():
        raise NotConfirmed("This asks before it is done, and there is no terminal: give --yes.")

    async def asked(pool: "Pool") -> T:
        from persistence.partners.partners import find_business, find_partner

        find = find_business if of_business else find_partner
        found = await find(pool, id_)
        typer.confirm(f"{found.name} ({id_}): {question}?", abort=True, err=True)
        return await work(pool)

    return asked


def show_changed(partner: "PartnerLine", sentence: str, *, as_json: bool) -> None:
    """Say what was done, or as JSON how the partner stands now."""
    wait_for(partner.tokens_valid_from)
    typer.echo(json.dumps(shape(partner)) if as_json else sentence)


def wait_for(valid_from: datetime) -> None:
    """Return when a token issued now is newer than a revocation, whose time has whole seconds."""
    time.sleep(max(0.0, (valid_from - datetime.now(UTC)).total_seconds()))


def shape(partner: "PartnerLine") -> dict[str, Any]:
    """Show a partner to programs."""
    facts = asdict(partner)
    moments = {
        name: moment.isoformat() for name, moment in facts.items() if isinstance(moment, datetime)
    }
    return {"partner_id": str(facts.pop("id")), **facts, **moments}
