"""Requests for tokens."""

from uuid import UUID

from accounting.absent import or_none
from handlers.bodies import TokenRequest


def client_id(body: TokenRequest) -> UUID | None:
    """Read whom the caller says to be, beside its credentials."""
    return or_none(body["client_id"])
