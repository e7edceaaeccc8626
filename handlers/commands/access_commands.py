"""Requests for tokens."""

from uuid import UUID

from accounting.absent import or_none
from handlers.bodies import TokenRequest, TokenRevocation


def client_id(body: TokenRequest) -> UUID | None:
    """Read whom the caller says to be, beside its credentials."""
    return or_none(body["client_id"])


def token(body: TokenRevocation) -> str:
    """Read which token is to open nothing any more; all are of the kind that a hint may name."""
    return body["token"]
