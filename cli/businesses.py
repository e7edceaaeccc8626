"""`accounting business ...`: operator commands for one business.

Every command and all server processes import this module, so it must not import the database code
at module level.
"""

import json
from datetime import UTC, datetime

import typer

from cli.parameters import BusinessId
from cli.partners import AsJson, Confirmed, confirmed, on_partners, wait_for

app = typer.Typer(no_args_is_help=True)


@app.callback()
def businesses() -> None:
    """Keep `revoke-tokens` a subcommand; Typer would merge it into its parent otherwise."""


@app.command("revoke-tokens")
def revoke_tokens(
    business_id: BusinessId,
    yes: Confirmed = False,
    as_json: AsJson = False,
) -> None:
    """Revoke all tokens and document links that were issued for the business so far."""
    from cli.named_records import NamedRecords
    from persistence.partners import partners

    business = on_partners(
        confirmed(
            business_id,
            "Revoke all tokens and links issued so far",
            lambda pool: partners.revoke_business_tokens(pool, business_id, datetime.now(UTC)),
            yes=yes,
            of_business=True,
        ),
        NamedRecords(business=business_id),
    )
    wait_for(business.tokens_valid_from)
    facts = {
        "business_id": str(business.id),
        "name": business.name,
        "tokens_valid_from": business.tokens_valid_from.isoformat(),
    }
    told = "All tokens and links of the business issued so far are refused from now on."
    typer.echo(json.dumps(facts) if as_json else told)
