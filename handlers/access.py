"""Access: trading a partner's key for a token, and that token for one of a single business."""

from datetime import datetime
from uuid import UUID

from access.principal import Caller
from access.tokens import TOKEN_LIFETIME_SECONDS, Keyring
from accounting.errors import Malformed
from handlers.bodies import TokenRequest
from handlers.commands import access_commands
from handlers.results import Reply
from persistence.partners.registry import Registry


async def issue_partner_token(
    keyring: Keyring, caller: Caller, body: TokenRequest, now: datetime
) -> Reply:
    """Issue a token that opens all businesses of the partner."""
    if (access_commands.client_id(body) or caller.partner_id) != caller.partner_id:
        raise Malformed.fields(client_id=["must be the partner id of the Authorization header"])
    return {
        "access_token": keyring.issue_partner_token(caller.partner_id, now),
        "token_type": "Bearer",
        "expires_in": TOKEN_LIFETIME_SECONDS,
    }


async def issue_business_token(
    keyring: Keyring, registry: Registry, business_id: UUID, now: datetime
) -> Reply:
    """Issue a token that opens one business of the partner; an archived one may still be read."""
    business = await registry.get(business_id)
    return {
        "access_token": keyring.issue_business_token(registry.partner_id, business.id, now),
        "token_type": "Bearer",
        "expires_in": TOKEN_LIFETIME_SECONDS,
        "scope": "business_access",
        "business_id": business.id,
    }
