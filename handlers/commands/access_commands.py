"""Requests for tokens."""

from uuid import UUID

from accounting.absent import or_none
from handlers.bodies import TokenRequest, TokenRevocation


def client_id(body: TokenRequest) -> UUID | None:
    """Return the partner id that the body states besides the credentials, if any."""
    return or_none(body["client_id"])


def token(body: TokenRevocation) -> str:
    """Return the token to revoke; all tokens are of the one kind that a hint may name."""
    return body["token"]
