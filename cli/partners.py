"""`accounting partner ...`: partners and their API keys.

Every command and all server processes import this module, so it must not import the database code
at module level.
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
from cli.parameters import PartnerId, key_id, line_of_text

if TYPE_CHECKING:
    from cli.named_records import NamedRecords
    from persistence.engine.pool import Pool
    from persistence.partners.partners import PartnerLine

app = typer.Typer(no_args_is_help=True)

T = TypeVar("T")
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Confirmed = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


class NotConfirmed(Exception):
    """A command that needs confirmation and has no terminal; the message says what to do."""


def on_partners(work: Callable[["Pool"], Awaitable[T]], named: "NamedRecords | None" = None) -> T:
    """Run `work` on the partners' tables, once the named records exist; return its result."""
    from cli.databases import ready, run
    from cli.named_records import NONE
    from server.config import settings

    with ready(settings.load_stores(), named=named or NONE) as database:
        return run(database.url, work)


def show_key(partner_id: UUID, key: api_keys.ApiKey, *, as_json: bool, **more: Any) -> None:
    """Print a new API key; it cannot be shown again."""
    facts = {"partner_id": str(partner_id), "api_key": key.text, "key_id": key.key_id, **more}
    if as_json:
        typer.echo(json.dumps(facts))
        return
    for name, value in facts.items():
        typer.echo(f"{name}: {value}")
    typer.echo("The API key is shown this once. Keep it like a password.", err=True)


@app.command()
def create(
    name: Annotated[str, typer.Argument(parser=line_of_text, help="What the partner is called.")],
    as_json: AsJson = False,
    test: Annotated[bool, typer.Option("--test", help="Mark the key as one for testing.")] = False,
) -> None:
    """Create a partner, and print its id and its API key, which is shown only once."""
    from persistence.partners import partners

    key = api_keys.make_key("test" if test else "live")
    now = datetime.now(UTC)
    partner_id = on_partners(
        lambda pool: partners.create_partner(
            pool, name, key.key_id, api_keys.seal_key(key.text), now
        )
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
    # Not fitted to the terminal: an id that is truncated or wrapped cannot be copied.
    row = "{:36}  {:10}  {:10}  {:18}  {}".format
    typer.echo(row("partner_id", "created", "disabled", "active keys", "name"))
    for line in lines:
        disabled = f"{line.disabled_at:%Y-%m-%d}" if line.disabled_at else ""
        keys = ", ".join(line.active_keys)
        typer.echo(row(str(line.id), f"{line.created_at:%Y-%m-%d}", disabled, keys, line.name))


@app.command("rotate-key")
def rotate_key(partner_id: PartnerId, as_json: AsJson = False) -> None:
    """Add a second API key; the old key works until it is revoked."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    key = api_keys.make_key("live")
    now = datetime.now(UTC)
    active = on_partners(
        lambda pool: partners.add_key(
            pool, partner_id, key.key_id, api_keys.seal_key(key.text), now
        ),
        NamedRecords(partner=partner_id),
    )
    show_key(partner_id, key, as_json=as_json, active_keys=active)


@app.command("revoke-key")
def revoke_key(
    partner_id: PartnerId,
    key_id: Annotated[str, typer.Argument(parser=key_id, help="The key's short id.")],
    yes: Confirmed = False,
    as_json: AsJson = False,
) -> None:
    """Revoke an API key, and all tokens of the partner that were issued so far."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            f"Revoke the key {key_id} and all tokens issued so far",
            lambda pool: partners.revoke_key(pool, partner_id, key_id, datetime.now(UTC)),
            yes=yes,
        ),
        NamedRecords(partner=partner_id, key=key_id),
    )
    told = f"The key {key_id} and all tokens issued so far are refused from now on."
    show_changed(partner, told, as_json=as_json)


@app.command("revoke-tokens")
def revoke_tokens(partner_id: PartnerId, yes: Confirmed = False, as_json: AsJson = False) -> None:
    """Revoke all tokens that were issued to the partner so far."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            "Revoke all tokens issued so far",
            lambda pool: partners.revoke_tokens(pool, partner_id, datetime.now(UTC)),
            yes=yes,
        ),
        NamedRecords(partner=partner_id),
    )
    show_changed(partner, "All tokens issued so far are refused from now on.", as_json=as_json)


@app.command()
def disable(partner_id: PartnerId, yes: Confirmed = False, as_json: AsJson = False) -> None:
    """Disable a partner: refuse its API keys and tokens until it is enabled again."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    partner = on_partners(
        confirmed(
            partner_id,
            "Refuse its keys and tokens until it is enabled again",
            lambda pool: partners.disable_partner(pool, partner_id, datetime.now(UTC)),
            yes=yes,
        ),
        NamedRecords(partner=partner_id),
    )
    show_changed(partner, "The partner is disabled.", as_json=as_json)


@app.command()
def enable(partner_id: PartnerId, as_json: AsJson = False) -> None:
    """Enable a disabled partner; tokens that were issued before stay revoked."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    partner = on_partners(
        lambda pool: partners.enable_partner(pool, partner_id, datetime.now(UTC)),
        NamedRecords(partner=partner_id),
    )
    # A server caches refused partners for a few seconds.
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
    """Return `work` preceded by a confirmation prompt, or `work` itself if `yes` is set.

    The prompt shows the name of the partner or business. Raises NotConfirmed if there is no
    terminal; the returned work raises Abort if the operator declines.
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
    """Print a sentence about the change, or the partner's new state as JSON."""
    wait_for(partner.tokens_valid_from)
    typer.echo(json.dumps(shape(partner)) if as_json else sentence)


def wait_for(valid_from: datetime) -> None:
    """Wait until `valid_from`, so that new tokens are newer than the revocation.

    `valid_from` has whole seconds, so it can be up to a second in the future.
    """
    time.sleep(max(0.0, (valid_from - datetime.now(UTC)).total_seconds()))


def shape(partner: "PartnerLine") -> dict[str, Any]:
    """Serialize a partner for JSON."""
    facts = asdict(partner)
    moments = {
        name: moment.isoformat() for name, moment in facts.items() if isinstance(moment, datetime)
    }
    return {"partner_id": str(facts.pop("id")), **facts, **moments}
