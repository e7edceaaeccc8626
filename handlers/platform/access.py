"""Access tokens: issue and revoke tokens of a partner and of a business."""

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

from access.principal import Caller
from access.tokens import (
    CLOCK_LEEWAY_SECONDS,
    FULL_SCOPE,
    READ_SCOPE,
    TOKEN_LIFETIME_SECONDS,
    Keyring,
    issued_from,
    token_id,
    valid_from_after,
)
from accounting.errors import Unavailable, ValidationError
from handlers.bodies import BusinessTokenRequest, TokenRequest, TokenRevocation
from handlers.platform import business_commands
from handlers.results import Reply
from persistence.partners.registry import Registry

LEEWAY = timedelta(seconds=CLOCK_LEEWAY_SECONDS - 1)  # A second less than any server allows.


async def issue_partner_token(
    keyring: Keyring, registry: Registry, caller: Caller, body: TokenRequest, now: datetime
) -> Reply:
    """Issue an access token for all businesses of the partner."""
    if (business_commands.client_id(body) or caller.partner_id) != caller.partner_id:
        raise ValidationError.fields(
            client_id=["must be the partner id of the Authorization header"]
        )
    return {
        "access_token": await unrevoked(
            registry,
            lambda at: keyring.issue_partner_token(caller.partner_id, at),
            now,
            await registry.tokens_valid_from(),
        ),
        "token_type": "Bearer",
        "expires_in": TOKEN_LIFETIME_SECONDS,
    }


async def issue_business_token(
    keyring: Keyring,
    registry: Registry,
    business_id: UUID,
    body: BusinessTokenRequest | None,
    now: datetime,
) -> Reply:
    """Issue an access token for one business of the partner, which may be archived."""
    business = await registry.get(business_id)
    scope = READ_SCOPE if business_commands.only_reads(body) else FULL_SCOPE
    return {
        "access_token": await unrevoked(
            registry,
            lambda at: keyring.issue_business_token(registry.partner_id, business.id, at, scope),
            now,
            max(business.tokens_valid_from, await registry.tokens_valid_from()),
        ),
        "token_type": "Bearer",
        "expires_in": TOKEN_LIFETIME_SECONDS,
        "scope": scope,
        "business_id": business.id,
    }


async def revoke_token(
    keyring: Keyring, registry: Registry, body: TokenRevocation, now: datetime
) -> Reply:
    """Revoke one token of this partner.

    Tokens that are unknown or belong to another partner get the same answer (RFC 7009).
    """
    found = keyring.find(business_commands.token(body), now)
    if found is not None and found.partner_id == registry.partner_id:
        assert found.token_id is not None, "it came from a token"
        assert found.issued_at is not None, "and so has its moment"
        lives = timedelta(seconds=TOKEN_LIFETIME_SECONDS)
        await registry.revoke(found.token_id, found.issued_at + lives)
    return {"revoked": True}


async def revoke_business_tokens(registry: Registry, business_id: UUID, now: datetime) -> Reply:
    """Revoke all tokens of one business that were issued until now."""
    found = await registry.lock(business_id)
    registry.save(replace(found, tokens_valid_from=valid_from_after(now, found.tokens_valid_from)))
    return {"revoked": True}


async def unrevoked(
    registry: Registry, made: Callable[[datetime], str], now: datetime, valid_from: datetime
) -> str:
    """Create a token that is valid even if others were revoked in the same second.

    Raises Unavailable where all tokens that could be issued now are revoked.
    """
    for issued_at in issued_from(now, valid_from):
        token = made(issued_at)
        if issued_at <= now + LEEWAY and not await registry.is_revoked(token_id(token)):
            return token
    raise Unavailable(
        "service_unavailable",
        "All tokens issued at this moment are revoked. Request a new token in a moment.",
        retry_after_seconds=CLOCK_LEEWAY_SECONDS,
    )
